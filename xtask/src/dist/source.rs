//! Makes the source bundle: the last commit with the sources of all dependencies, so that it builds
//! without a network.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::release::Release;
use super::{program, tarball};

/// Makes the archive in `out`; its path.
pub(super) fn make(root: &Path, release: &Release, out: &Path) -> Result<PathBuf> {
    let place = tempfile::tempdir().context("a folder")?;
    let folder = place.path().join(release.folder());
    std::fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
    export(root, &folder)?;
    let arguments = ["vendor", "--locked", "--versioned-dirs", "vendor"];
    let snippet = program::output(program::cargo(&folder).args(arguments))?;
    let configuration = folder.join(".cargo").join("config.toml");
    let mut file = OpenOptions::new().append(true).open(&configuration).context(".cargo/config.toml")?;
    write!(file, "\n# Dependencies come from vendor/, never from a network.\n{snippet}")
        .context(".cargo/config.toml")?;
    let archive = out.join(format!("{}-source.tar.gz", release.folder()));
    tarball::pack(place.path(), &release.folder(), release.epoch_s, &archive)?;
    Ok(archive)
}

/// The last commit's files.
fn export(root: &Path, folder: &Path) -> Result<()> {
    let changed = program::output(Command::new("git").args(["status", "--porcelain"]).current_dir(root))
        .context("the source bundle is made from a git checkout; --no-source leaves it out")?;
    if !changed.is_empty() {
        println!("note: the source bundle holds the last commit; what is not committed is not in it");
    }
    let mut git = Command::new("git")
        .args(["archive", "--format=tar", "HEAD"])
        .current_dir(root)
        .stdout(Stdio::piped())
        .spawn()
        .context("git archive")?;
    let packed = git.stdout.take().expect("stdout is piped");
    let tar = Command::new("tar").arg("-x").arg("-C").arg(folder).stdin(packed).status().context("tar")?;
    let git = git.wait().context("git archive")?;
    ensure!(git.success() && tar.success(), "git archive {git}, tar {tar}");
    Ok(())
}

/// Checks that the unpacked archive satisfies cargo without a network and without earlier
/// downloads. With `build`, the program is built from it as well.
pub(super) fn prove(archive: &Path, release: &Release, build: bool) -> Result<()> {
    let place = tempfile::tempdir().context("a folder")?;
    tarball::unpack(archive, place.path())?;
    let folder = place.path().join(release.folder());
    let home = place.path().join("cargo-home");
    std::fs::create_dir(&home).with_context(|| home.display().to_string())?;
    let cargo = |arguments: &[&str]| {
        let mut command = program::cargo(&folder);
        command.args(arguments).env("CARGO_HOME", &home).env("CARGO_TARGET_DIR", folder.join("target"));
        program::output(&mut command)
    };
    cargo(&["metadata", "--offline", "--frozen", "--format-version", "1"]).context("the source bundle")?;
    if build {
        println!("building the source bundle without a network");
        cargo(&["build", "--offline", "--frozen", "--release", "--package", "wavetank"])?;
        let said = program::output(Command::new(folder.join("target/release/wavetank")).arg("--version"))?;
        ensure!(said.contains(&release.version), "what the source bundle builds says `{}`", said.trim());
    }
    Ok(())
}
