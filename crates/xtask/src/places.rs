//! `cargo xtask places`: a service's own emulator keeps what every place must.
//!
//! S3 and git are in the tests, where their servers run in process; this is for those that come as packages.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use carryover_agents::{Env, Os};
use carryover_core::time::Timestamp;
use carryover_engine::context::Context;
use carryover_engine::own::config::Config;
use carryover_engine::share::bucket::{Bucket, BucketError, PutOutcome};
use carryover_testkit::client::find_or_install_packages;

use crate::test::{StepOutcome, can_run, in_ci};

#[path = "../../carryover/src/bucket/checks.rs"]
#[expect(clippy::unwrap_used, reason = "they are checks: a panic is how they fail")]
mod checks;

const FOLDER: &str = "azurite-3.37.0";
const PACKAGES: &[&str] = &["azurite@3.37.0", "@azure/storage-blob@12.32.0"];
const SERVER: &str = "node_modules/azurite/dist/src/blob/main.js";
const ACCOUNT: &str = "team";
/// Of nothing but this emulator.
const KEY: &str = "dGhlIGtleSBvZiBhbiBlbXVsYXRvciBhbmQgbm90aGluZyBlbHNl";
const START_LIMIT: Duration = Duration::from_secs(30);
/// It goes in parts.
const LARGE_BYTES: u64 = 40 << 20;
const MAKE_CONTAINER: &str = "\
const { BlobServiceClient, StorageSharedKeyCredential } = require('@azure/storage-blob');
const [address, account, key] = process.argv.slice(1);
const service = new BlobServiceClient(address, new StorageSharedKeyCredential(account, key));
service.getContainerClient('shares').create().then(() => process.exit(0), () => process.exit(1));";

pub(crate) fn check_places(_: &Path) -> Result<StepOutcome, Box<dyn Error>> {
    let installed = if can_run("npm", &["--version"]) {
        find_or_install_packages(FOLDER, PACKAGES)
    } else {
        Err("npm is not installed".to_owned())
    };
    match installed {
        Ok(folder) => check_azure(&folder).map(|()| StepOutcome::Passed),
        Err(reason) if in_ci() => Err(reason.into()),
        Err(reason) => Ok(StepOutcome::Skipped(format!("the emulator could not be had: {reason}"))),
    }
}

/// An emulator that ends with whoever started it.
struct Emulator {
    child: Child,
    address: String,
    port: u16,
}

impl Emulator {
    fn start(packages: &Path, home: &Path) -> Result<Self, Box<dyn Error>> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut command = node(packages, home);
        command.arg(packages.join(SERVER)).args(["--silent", "--skipApiVersionCheck", "--blobHost", "127.0.0.1"]);
        command.arg("--blobPort").arg(port.to_string()).arg("--location").arg(home);
        command.env("AZURITE_ACCOUNTS", format!("{ACCOUNT}:{KEY}"));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let emulator = Self { child, address: format!("http://127.0.0.1:{port}/{ACCOUNT}"), port };
        let end = Instant::now() + START_LIMIT;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if Instant::now() > end {
                return Err("the emulator does not start".into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let mut container = node(packages, home);
        container.args(["-e", MAKE_CONTAINER, &emulator.address, ACCOUNT, KEY]);
        if container.status()?.success() { Ok(emulator) } else { Err("the emulator makes no container".into()) }
    }

    fn open(&self, home: &Path, key: &str) -> Result<Box<dyn Bucket>, Box<dyn Error>> {
        let vars = [
            ("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT),
            ("AZURE_STORAGE_ACCOUNT_KEY", key),
            ("AZURE_STORAGE_ENDPOINT", &self.address),
        ];
        let env = Env {
            home: home.to_owned(),
            vars: vars.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            os: Os::Linux,
            now: Timestamp::from_millis(1_800_000_000_000),
            zone: jiff::tz::TimeZone::UTC,
            stores: BTreeMap::new(),
            projects: Vec::new(),
        };
        let context = Context::with_config(env, Config::default(), home.join(".carryover"), home.to_owned(), 1);
        carryover::open_place(&context, "az://shares/a/prefix")
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn node(packages: &Path, home: &Path) -> Command {
    let mut command = Command::new("node");
    command.current_dir(packages).env_clear().env("HOME", home);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

fn check_azure(packages: &Path) -> Result<(), Box<dyn Error>> {
    let home = tempfile::tempdir()?;
    let emulator = Emulator::start(packages, home.path())?;
    let bucket = emulator.open(home.path(), KEY)?;
    checks::check_bucket(bucket.as_ref());
    checks::check_race(bucket.as_ref(), 10);
    check_large(bucket.as_ref())?;
    check_signed(bucket.as_ref(), emulator.port)?;
    let stranger = emulator.open(home.path(), "YW5vdGhlciBrZXk=")?;
    match stranger.put_new("b", b"b") {
        Err(BucketError::Refused { .. }) => Ok(()),
        other => Err(format!("a wrong key was not refused: {other:?}").into()),
    }
}

/// Two at once, of which one has the name; nothing of the other is left.
fn check_large(bucket: &dyn Bucket) -> Result<(), Box<dyn Error>> {
    let file = tempfile::NamedTempFile::new()?;
    file.as_file().set_len(LARGE_BYTES)?;
    let before = bucket.list("")?.len();
    let outcomes = std::thread::scope(|scope| {
        let uploads = [(); 2].map(|()| scope.spawn(|| bucket.upload_new("large", file.path())));
        uploads.map(|upload| upload.join().map_err(|_| "an upload panicked"))
    });
    let mut created = 0;
    for outcome in outcomes {
        created += usize::from(outcome?? == PutOutcome::Created);
    }
    let read = bucket.fetch("large", &mut std::io::sink(), LARGE_BYTES)?;
    let listed = bucket.list("")?.len() - before;
    if (created, read, listed) == (1, LARGE_BYTES, 1) {
        return Ok(());
    }
    Err(format!("{created} of two large uploads had the name, {read} bytes were read, {listed} are listed").into())
}

/// What is signed opens for whoever has it.
fn check_signed(bucket: &dyn Bucket, port: u16) -> Result<(), Box<dyn Error>> {
    bucket.put_new("signed", b"signed words")?;
    let link = bucket.presign("signed", Duration::from_mins(5))?.ok_or("nothing was signed")?;
    let path = link.split_once(&format!(":{port}")).ok_or("the link leads elsewhere")?.1;
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer.starts_with("HTTP/1.1 200") && answer.contains("signed words") {
        return Ok(());
    }
    Err(format!("a signed link answers {}", answer.lines().next().unwrap_or_default()).into())
}
