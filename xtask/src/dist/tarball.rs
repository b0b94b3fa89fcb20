//! Packs archives that are equal byte for byte whenever and wherever they are made from the same
//! files.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Packs `parent/folder` into `file` (tar, gzip). Names are sorted, owners are numeric 0, and every
/// file has the time `epoch_s`.
pub(super) fn pack(parent: &Path, folder: &str, epoch_s: u64, file: &Path) -> Result<()> {
    let mut tar = Command::new("tar")
        .arg("--create")
        .arg("--directory")
        .arg(parent)
        .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"])
        .args(["--mode=u=rwX,go=rX", &format!("--mtime=@{epoch_s}"), folder])
        .stdout(Stdio::piped())
        .spawn()
        .context("tar (GNU) cannot be started")?;
    let packed = tar.stdout.take().expect("stdout is piped");
    let target = File::create(file).with_context(|| file.display().to_string())?;
    // -n: the header has no name and no time.
    let gzip = Command::new("gzip").args(["-9", "-n", "-c"]).stdin(packed).stdout(target).status();
    let gzip = gzip.context("gzip cannot be started")?;
    let tar = tar.wait().context("tar")?;
    ensure!(tar.success() && gzip.success(), "packing {folder}: tar {tar}, gzip {gzip}");
    Ok(())
}

/// Unpacks `file` into `folder`.
pub(super) fn unpack(file: &Path, folder: &Path) -> Result<()> {
    let status = Command::new("tar").arg("-xzf").arg(file).arg("-C").arg(folder).status().context("tar")?;
    ensure!(status.success(), "unpacking {}: {status}", file.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_make_the_same_archive() {
        let place = tempfile::tempdir().expect("a folder");
        let mut archives = Vec::new();
        for (parent, names) in [("one", ["a", "b"]), ("two", ["b", "a"])] {
            let folder = place.path().join(parent).join("x");
            std::fs::create_dir_all(&folder).expect("a folder");
            for name in names {
                std::fs::write(folder.join(name), name).expect("a file");
            }
            let archive = place.path().join(format!("{parent}.tar.gz"));
            pack(&place.path().join(parent), "x", 1_000_000_000, &archive).expect("can be packed");
            archives.push(std::fs::read(&archive).expect("was made"));
        }
        assert_eq!(archives[0], archives[1]);
        let back = place.path().join("back");
        std::fs::create_dir(&back).expect("a folder");
        unpack(&place.path().join("one.tar.gz"), &back).expect("can be unpacked");
        assert_eq!(std::fs::read_to_string(back.join("x/a")).expect("is in there"), "a");
    }
}
