//! `SHA256SUMS`, as `sha256sum --check` reads it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::sha256;

/// Writes the sums of `files`, which lie in `out`; the path of the list.
pub(super) fn write(out: &Path, files: &[PathBuf]) -> Result<PathBuf> {
    let mut lines = Vec::new();
    for file in files {
        let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
        let name = file.file_name().context("a file without a name")?.to_string_lossy();
        lines.push(line(&bytes, &name));
    }
    let list = out.join("SHA256SUMS");
    std::fs::write(&list, lines.concat()).with_context(|| list.display().to_string())?;
    Ok(list)
}

/// Writes the sums of all files below `folder` into its `SHA256SUMS`, by their paths from there.
pub(super) fn write_tree(folder: &Path) -> Result<()> {
    let mut names = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(one) = folders.pop() {
        for entry in std::fs::read_dir(&one).with_context(|| one.display().to_string())? {
            let path = entry.with_context(|| one.display().to_string())?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                names.push(path);
            }
        }
    }
    names.sort_unstable();
    let mut text = String::new();
    for path in names {
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let name = path.strip_prefix(folder).context("a file outside the folder")?;
        text.push_str(&line(&bytes, &name.to_string_lossy()));
    }
    let list = folder.join("SHA256SUMS");
    std::fs::write(&list, text).with_context(|| list.display().to_string())
}

fn line(bytes: &[u8], name: &str) -> String {
    format!("{}  {name}\n", sha256::hex(bytes))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_program_sha256sum_agrees() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a b");
        std::fs::write(&file, "abc").expect("a file");
        let list = write(folder.path(), &[file]).expect("can be written");
        let text = std::fs::read_to_string(list).expect("was written");
        // The example of FIPS 180-2.
        assert_eq!(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a b\n");
        let mut check = Command::new("sha256sum");
        check.args(["--check", "SHA256SUMS"]).current_dir(folder.path());
        assert!(check.output().expect("is everywhere").status.success());
    }
}
