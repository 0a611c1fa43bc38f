//! `cargo xtask dist`: what is handed to users, all from the same facts: an archive with its checksum, an installer, npm
//! packages and a Homebrew formula. Nothing is published.

pub(crate) mod archive;
mod check;
mod contents;
mod formula;
mod installer;
mod licences;
mod npm;
mod product;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::test::{StepOutcome, run_cargo};
use crate::write_line;
use product::Product;

/// How a distribution is made.
struct DistOptions {
    /// The profile of cargo's that the program is built with.
    profile: String,
    /// Where the archives will be found; it goes into the formula.
    base_url: Option<String>,
    homepage: Option<String>,
    /// The folder to write to, `target/dist` if none is named.
    folder: Option<PathBuf>,
}

impl Default for DistOptions {
    fn default() -> Self {
        Self { profile: "dist".to_owned(), base_url: None, homepage: None, folder: None }
    }
}

/// Makes everything, then installs and runs it.
pub(crate) fn run_with_args(root: &Path, args: &[&str]) -> Result<(), Box<dyn Error>> {
    let options = parse_args(args)?;
    let product = gather_product(root, &options)?;
    let made = make_all(root, &product)?;
    for path in &made {
        write_line(&format!("made {}", path.strip_prefix(root).unwrap_or(path).display()));
    }
    check::check_all(&product)
}

/// The step of `cargo xtask test`: the same with the program that was tested, which needs no build of its own.
pub(crate) fn check_quickly(root: &Path) -> Result<StepOutcome, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    // The formula's address is a folder, so that it can be followed.
    let options = DistOptions {
        profile: "dev".to_owned(),
        base_url: Some(format!("file://{}", folder.path().display())),
        homepage: None,
        folder: Some(folder.path().to_path_buf()),
    };
    let mut product = gather_product(root, &options)?;
    product.program = strip_symbols(&product.program, folder.path());
    make_all(root, &product)?;
    check_same_bytes(root, &product)?;
    check::check_all(&product)?;
    Ok(StepOutcome::Passed)
}

/// A copy without what is there for debuggers, which is most of it.
fn strip_symbols(program: &Path, folder: &Path) -> PathBuf {
    let stripped = folder.join("stripped").with_extension(std::env::consts::EXE_EXTENSION);
    let status = Command::new("strip").arg("-o").arg(&stripped).arg(program).status();
    if status.is_ok_and(|status| status.success()) { stripped } else { program.to_path_buf() }
}

/// The same program packed once more is the same archive.
fn check_same_bytes(root: &Path, product: &Product) -> Result<(), Box<dyn Error>> {
    let again = archive::pack(product, &contents::gather_files(root, product)?)?;
    let archive = product.folder.join(product.archive_name(product.target));
    if fs_err::read(archive)? == again { Ok(()) } else { Err("packed once more, the archive is another".into()) }
}

fn parse_args(args: &[&str]) -> Result<DistOptions, Box<dyn Error>> {
    let mut options = DistOptions::default();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().map(|value| (*value).to_owned()).ok_or(format!("{word} needs a value"));
        match *word {
            "--profile" => options.profile = value()?,
            "--base-url" => options.base_url = Some(value()?),
            "--homepage" => options.homepage = Some(value()?),
            "--out" => options.folder = Some(std::path::absolute(value()?)?),
            _ => return Err(format!("`{word}` is not known: --profile, --base-url, --homepage, --out").into()),
        }
    }
    Ok(options)
}

fn gather_product(root: &Path, options: &DistOptions) -> Result<Product, Box<dyn Error>> {
    run_cargo(root, &["build", "--quiet", "--package", "carryover", "--profile", &options.profile])?;
    Product::gather(root, options)
}

/// Writes everything into the folder, and returns what is meant to be taken from there.
fn make_all(root: &Path, product: &Product) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    fs_err::create_dir_all(&product.folder)?;
    let files = contents::gather_files(root, product)?;
    let mut made = vec![archive::write_archive(product, &files)?];
    made.push(archive::write_checksums(product)?);
    made.push(installer::write_script(product)?);
    match npm::pack(root, product)? {
        Some(packages) => made.extend(packages),
        None => write_line("not made: the npm packages, because npm is not installed"),
    }
    match formula::write_formula(product)? {
        Some(path) => made.push(path),
        None => write_line("not made: the Homebrew formula, because no address is known: `--base-url URL` tells it"),
    }
    Ok(made)
}
