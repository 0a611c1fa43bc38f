//! Installs what was made into clean homes, and runs it there.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::archive::{CHECKSUMS, sha256_of};
use super::installer::SCRIPT;
use super::npm::{npm_program, platform_name, tarball_name};
use super::product::{Product, TARGETS};
use crate::test::can_run;
use crate::write_line;

type Check = fn(&Product) -> Result<String, Box<dyn Error>>;

/// Everything that is made, with what was tried on it.
const CHECKS: &[(&str, Check)] =
    &[("archive", check_archive), ("installer", check_installer), ("npm", check_npm), ("formula", check_formula)];

/// The exit code for a wrong command line, which must get through whatever starts the program.
const EXIT_USAGE: i32 = 64;

pub(super) fn check_all(product: &Product) -> Result<(), Box<dyn Error>> {
    for (name, check) in CHECKS {
        let tried = check(product).map_err(|error| format!("{name}: {error}"))?;
        write_line(&format!("{name}: {tried}"));
    }
    Ok(())
}

/// A home in which nothing is yet.
struct CleanHome(TempDir);

impl CleanHome {
    fn new() -> Result<Self, Box<dyn Error>> {
        Ok(Self(tempfile::tempdir()?))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// A command that knows of this home alone. The path is ours, for node and the tools of a shell.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.path()).env("USERPROFILE", self.path()).current_dir(self.path());
        for name in ["PATH", "SYSTEMROOT", "TEMP", "TMP", "PATHEXT", "COMSPEC"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
    }

    /// Runs a program that must succeed, and returns what it printed.
    fn run(&self, program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> Result<String, Box<dyn Error>> {
        let output = self.command(program).args(args).output()?;
        if output.status.success() {
            return Ok(String::from_utf8(output.stdout)?);
        }
        Err(format!("{} failed: {}", args.join(" "), text_of(&output)).into())
    }

    fn check_version(&self, program: &Path, product: &Product) -> Result<(), Box<dyn Error>> {
        let shown = self.run(program, &["--version"])?;
        let expected = format!("{} {}", product.name, product.version);
        if shown.starts_with(&expected) { Ok(()) } else { Err(format!("--version tells {shown:?}").into()) }
    }
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn check_archive(product: &Product) -> Result<String, Box<dyn Error>> {
    let home = CleanHome::new()?;
    let archive = product.folder.join(product.archive_name(product.target));
    home.run("tar", &["-xzf", &archive.display().to_string()])?;
    let folder = home.path().join(product.archive_stem(product.target));
    let program = folder.join("bin").join(product.program_name());
    home.check_version(&program, product)?;
    home.run(&program, &["demo"])?;
    check_installed_texts(&folder.join("share"), product)?;
    for name in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", super::licences::FILE_NAME] {
        check_file(&folder.join(name))?;
    }
    Ok("unpacked, it tells its version and runs the demo; manual, completions and licences are there".to_owned())
}

/// The manual and the completions, where shells and `man` look for them.
fn check_installed_texts(share: &Path, product: &Product) -> Result<(), Box<dyn Error>> {
    let name = &product.name;
    let page = share.join("man/man1").join(format!("{name}.1"));
    check_file(&page)?;
    if !fs_err::read_to_string(&page)?.lines().any(|line| line.starts_with(".TH ")) {
        return Err(format!("{} is no manual page", page.display()).into());
    }
    for path in [
        format!("man/man1/{name}-resume.1"),
        format!("bash-completion/completions/{name}"),
        format!("zsh/site-functions/_{name}"),
        format!("fish/vendor_completions.d/{name}.fish"),
    ] {
        check_file(&share.join(path))?;
    }
    Ok(())
}

fn check_file(path: &Path) -> Result<(), Box<dyn Error>> {
    let is_there = path.is_file() && fs_err::metadata(path)?.len() > 0;
    if is_there { Ok(()) } else { Err(format!("{} is missing", path.display()).into()) }
}

fn check_installer(product: &Product) -> Result<String, Box<dyn Error>> {
    if product.target.uname.is_none() {
        return Ok("not tried: it is for shells".to_owned());
    }
    let script = product.folder.join(SCRIPT).display().to_string();
    let from = product.folder.display().to_string();
    let home = CleanHome::new()?;
    home.run("sh", &[&script, "--from", &from])?;
    let prefix = home.path().join(".local");
    home.check_version(&prefix.join("bin").join(&product.name), product)?;
    check_installed_texts(&prefix.join("share"), product)?;
    check_file(&prefix.join("share/doc").join(&product.name).join("LICENSE-MIT"))?;
    // A second time is an update.
    home.run("sh", &[&script, "--from", &from])?;
    check_refusals(product, &script)?;
    Ok("it installs into a clean home, again over itself, and refuses a wrong checksum and to guess an address"
        .to_owned())
}

/// An archive that is not what the checksums say is not installed, nor is anything when it is not known from where.
fn check_refusals(product: &Product, script: &str) -> Result<(), Box<dyn Error>> {
    let home = CleanHome::new()?;
    let tampered = home.path().join("tampered");
    fs_err::create_dir_all(&tampered)?;
    let name = product.archive_name(product.target);
    let mut bytes = fs_err::read(product.folder.join(&name))?;
    bytes.push(0);
    fs_err::write(tampered.join(&name), bytes)?;
    fs_err::copy(product.folder.join(CHECKSUMS), tampered.join(CHECKSUMS))?;
    check_refusal(&home, &[script, "--from", &tampered.display().to_string()], "checksum")?;
    let alone = home.path().join(SCRIPT);
    fs_err::copy(script, &alone)?;
    check_refusal(&home, &[&alone.display().to_string()], "--from")
}

fn check_refusal(home: &CleanHome, args: &[&str], said: &str) -> Result<(), Box<dyn Error>> {
    let output = home.command("sh").args(args).output()?;
    if output.status.success() || !text_of(&output).contains(said) {
        return Err(format!("it was not refused with a word about {said}: {}", text_of(&output)).into());
    }
    if home.path().join(".local").exists() { Err("it was refused, and yet installed".into()) } else { Ok(()) }
}

fn check_npm(product: &Product) -> Result<String, Box<dyn Error>> {
    if !can_run(npm_program(), &["--version"]) {
        return Ok("not tried: npm is not installed".to_owned());
    }
    let home = CleanHome::new()?;
    let tarball = |package: &str| product.folder.join(tarball_name(product, package)).display().to_string();
    let prefix = home.path().join("prefix").display().to_string();
    let install =
        ["install", "--global", "--offline", "--no-audit", "--no-fund", "--no-update-notifier", "--prefix", &prefix];
    let launcher = tarball(&product.name);
    home.run(npm_program(), &[&install[..], &[&launcher]].concat())?;
    let program = npm_link(Path::new(&prefix), &product.name);
    let without = home.command(&program).arg("--version").output()?;
    if without.status.success() || !text_of(&without).contains("is not installed") {
        return Err(format!("without a program it says {}", text_of(&without)).into());
    }
    let platform = tarball(&platform_name(product, product.target));
    home.run(npm_program(), &[&install[..], &[&platform, &launcher]].concat())?;
    home.check_version(&program, product)?;
    let code = home.command(&program).arg("--no-such-flag").output()?.status.code();
    if code != Some(EXIT_USAGE) {
        return Err(format!("a wrong command line ends with {code:?}").into());
    }
    Ok("installed without a network from both packages, it tells its version and passes exit codes on".to_owned())
}

/// Where npm puts a command.
fn npm_link(prefix: &Path, name: &str) -> PathBuf {
    if cfg!(windows) { prefix.join(format!("{name}.cmd")) } else { prefix.join("bin").join(name) }
}

/// Classes of Homebrew's that print what a formula says instead of acting on it.
const FORMULA_READER: &str = r##"
class Formula
  def self.test
  end
  def self.method_missing(name, *values, **_options, &block)
    puts "#{name} #{values.join(" ")}"
    block.call if block && name.to_s.start_with?("on_")
  end
end
load ARGV[0]
"##;

/// Homebrew itself is not run: the formula is read, and its addresses and checksums are held against the archives.
fn check_formula(product: &Product) -> Result<String, Box<dyn Error>> {
    let path = product.folder.join(format!("{}.rb", product.name));
    let Some(base_url) = product.base_url.as_ref().filter(|_| path.is_file()) else {
        return Ok("not made".to_owned());
    };
    let has_ruby = can_run("ruby", &["--version"]);
    let said = if has_ruby {
        let home = CleanHome::new()?;
        home.run("ruby", &["-e", FORMULA_READER, &path.display().to_string()])?
    } else {
        fs_err::read_to_string(&path)?.replace('"', "")
    };
    let told = |word: &str| -> Vec<String> {
        said.lines().filter_map(|line| line.trim().strip_prefix(word)?.strip_prefix(' ')).map(str::to_owned).collect()
    };
    let mut expected = Vec::new();
    for target in TARGETS.iter().filter(|target| target.brew.is_some()) {
        let archive = product.folder.join(product.archive_name(target));
        if archive.is_file() {
            expected.push((format!("{base_url}/{}", product.archive_name(target)), sha256_of(&archive)?));
        }
    }
    let mut found: Vec<(String, String)> = told("url").into_iter().zip(told("sha256")).collect();
    expected.sort();
    found.sort();
    if found != expected || told("version") != [product.version.clone()] {
        return Err(format!("it says {found:?}, and {expected:?} is expected").into());
    }
    let reader = if has_ruby { "ruby reads it" } else { "ruby is not installed, so we read it ourselves" };
    Ok(format!("{reader}; its addresses and checksums are those of the archives; Homebrew was not run"))
}
