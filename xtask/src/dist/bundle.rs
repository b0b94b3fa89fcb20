//! Makes the bundle: the binary of every architecture, with the files an installation needs. Its
//! folders are named as container engines name platforms, so the unpacked bundle is the build
//! context of the Containerfile.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::arch::Arch;
use super::release::Release;
use super::{checksums, container, licences, program, smoke, tarball};

/// Texts of the repository that go along.
const TEXTS: [&str; 5] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", container::FILE];
/// Installs from the unpacked bundle, without a network.
const INSTALLER: &str = "packaging/install.sh";
/// Licences of the crates inside.
pub(super) const TERMS: &str = "THIRD-PARTY.txt";
/// Shells, and the names their completions go by.
const COMPLETIONS: [(&str, &str); 3] =
    [("bash", "wavetank.bash"), ("zsh", "_wavetank"), ("fish", "wavetank.fish")];

/// Makes the bundle's folder and its archive in `out`; the archive's path.
pub(super) fn make(root: &Path, release: &Release, built: &[(Arch, PathBuf)], out: &Path) -> Result<PathBuf> {
    let folder = out.join(release.folder());
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    lay(root, built, &folder)?;
    write_handbook(built, &folder)?;
    write(&folder.join(TERMS), &licences::third_party(root, built)?)?;
    checksums::write_tree(&folder)?;
    let recipe = std::fs::read_to_string(folder.join(container::FILE)).context(container::FILE)?;
    for (arch, _) in built {
        container::check(&recipe, &folder, arch.in_images())?;
    }
    let architectures = match built {
        [(arch, _)] => format!("-{}", arch.name()),
        _ => String::new(),
    };
    let archive = out.join(format!("{}{architectures}-linux-musl.tar.gz", release.folder()));
    tarball::pack(out, &release.folder(), release.epoch_s, &archive)?;
    Ok(archive)
}

/// Binaries and texts.
pub(super) fn lay(root: &Path, built: &[(Arch, PathBuf)], folder: &Path) -> Result<()> {
    for (arch, binary) in built {
        let place = folder.join("linux").join(arch.in_images());
        create(&place)?;
        let file = place.join("wavetank");
        std::fs::copy(binary, &file).with_context(|| binary.display().to_string())?;
    }
    for text in TEXTS {
        std::fs::copy(root.join(text), folder.join(text)).with_context(|| text.to_owned())?;
    }
    std::fs::copy(root.join(INSTALLER), folder.join("install.sh")).context(INSTALLER)?;
    // Empty: the folder of a container in which runs are kept.
    create(&folder.join("data"))
}

/// Writes the completions and manual pages that the program prints.
fn write_handbook(built: &[(Arch, PathBuf)], folder: &Path) -> Result<()> {
    let runnable = built.iter().find_map(|(arch, binary)| smoke::plainly(*arch, binary));
    let words = runnable.context(
        "none of the binaries runs on this machine, so there are no completions: add this machine's \
         architecture, or install qemu-user",
    )?;
    let wavetank = |arguments: &[&str]| {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(arguments);
        command
    };
    let completions = folder.join("share/completions");
    create(&completions)?;
    for (shell, name) in COMPLETIONS {
        let script = program::output(&mut wavetank(&["completions", shell]))?;
        write(&completions.join(name), &script)?;
    }
    let pages = folder.join("share/man/man1");
    create(&pages)?;
    program::output(wavetank(&["man"]).arg(&pages)).map(drop)
}

fn create(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| file.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An unpacked bundle with a script in place of the program.
    fn bundle() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let place = |name: &str, text: &str| {
            let file = path.join(name);
            create(file.parent().expect("is below the folder")).expect("can be made");
            write(&file, text).expect("can be written");
        };
        for arch in ["amd64", "arm64"] {
            place(&format!("linux/{arch}/wavetank"), "#!/bin/sh\necho wavetank 9.9.9\n");
        }
        place("share/man/man1/wavetank.1", ".TH wavetank 1\n");
        for (_, name) in COMPLETIONS {
            place(&format!("share/completions/{name}"), "# completions\n");
        }
        std::fs::copy(crate::root().join(INSTALLER), path.join("install.sh"))
            .expect("it is in the repository");
        checksums::write_tree(path).expect("can be written");
        folder
    }

    fn install(bundle: &Path, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::new("sh");
        command.arg(bundle.join("install.sh")).args(arguments).env("HOME", bundle.join("home"));
        let output = command.output().expect("a shell is everywhere");
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    #[test]
    fn install_script_places_everything_and_removes_it_again() {
        let bundle = bundle();
        let prefix = bundle.path().join("a prefix");
        let named = prefix.to_str().expect("is UTF-8");
        let (done, text) = install(bundle.path(), &["--prefix", named]);
        assert!(done && text.contains("installed wavetank 9.9.9"), "{text}");
        for file in ["bin/wavetank", "share/man/man1/wavetank.1", "share/zsh/site-functions/_wavetank"] {
            assert!(prefix.join(file).is_file(), "{file}: {text}");
        }
        let (done, text) = install(bundle.path(), &["--uninstall", "--prefix", named]);
        assert!(done && !prefix.join("bin/wavetank").exists(), "{text}");
    }

    #[test]
    fn install_script_refuses_a_damaged_archive_and_wrong_arguments() {
        let bundle = bundle();
        for arch in ["amd64", "arm64"] {
            write(&bundle.path().join(format!("linux/{arch}/wavetank")), "damaged").expect("can be written");
        }
        let prefix = bundle.path().join("prefix");
        let (done, text) = install(bundle.path(), &["--prefix", prefix.to_str().expect("is UTF-8")]);
        assert!(!done && text.contains("differs from SHA256SUMS") && !prefix.exists(), "{text}");
        let (done, text) = install(bundle.path(), &["--perfix", "x"]);
        assert!(!done && text.contains("unexpected argument `--perfix`"), "{text}");
    }
}
