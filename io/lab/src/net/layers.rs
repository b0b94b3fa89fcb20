//! [`make_private`]: gives a host its own version of a folder of the machine.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, move_mount, open_tree};

/// The folder of all layers: on the host's own `/run`, which is in memory and in no other
/// namespace.
const LAYERS: &str = "/run/wavetank-layers";
/// Sources of mounts that belong to the host alone: its layers, its `/run`, and folders in memory.
const OWN_SOURCES: [&str; 3] = ["wavetank", "run", "lab"];

/// Makes `folder` an existing folder of the calling host alone: what is written to it from then on
/// is not written to the machine. What the machine has there stays visible. Must be called in a
/// mount namespace of which nothing is shared with the machine.
///
/// # Errors
/// A folder that would have to be created in the machine's root; a kernel without overlayfs.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let there = folder.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("/"));
    let there = fs::canonicalize(there)?;
    if !is_private(&there)? {
        if there == Path::new("/") {
            let first = folder.components().take(2).collect::<PathBuf>();
            let why = format!("this machine has no folder `{}`", first.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        cover(&there)?;
    }
    DirBuilder::new().recursive(true).mode(0o755).create(folder)
}

/// Whether an existing folder belongs to the calling host alone.
pub(crate) fn is_private(folder: &Path) -> io::Result<bool> {
    let folder = fs::canonicalize(folder)?;
    // Of several mounts on one place, the last one is visible.
    let mounts = mounts()?;
    let holding = mounts.iter().filter(|(place, _)| folder.starts_with(place));
    let deepest = holding.rev().max_by_key(|(place, _)| place.components().count());
    Ok(deepest.is_some_and(|(_, source)| OWN_SOURCES.contains(&source.as_str())))
}

/// Mounts a layer over `folder`. Mounts below it stay where they are.
fn cover(folder: &Path) -> io::Result<()> {
    let layers = Path::new(LAYERS);
    if !layers.is_dir() {
        DirBuilder::new().mode(0o700).create(layers)?;
        mount("lab", layers, "tmpfs", MountFlags::NOSUID, c"mode=700,size=256m")?;
    }
    let layer = layers.join(fs::read_dir(layers)?.count().to_string());
    DirBuilder::new().mode(0o700).create(&layer)?;
    let [upper, work] = ["upper", "work"].map(|part| layer.join(part));
    for part in [&upper, &work] {
        DirBuilder::new().mode(0o755).create(part)?;
    }
    // The layer's root becomes the folder itself, with its permissions and owner.
    let about = fs::metadata(folder)?;
    fs::set_permissions(&upper, fs::Permissions::from_mode(about.permissions().mode()))?;
    std::os::unix::fs::chown(&upper, Some(owner(&about).0), Some(owner(&about).1))?;
    let below = below(folder)?;
    let options =
        format!("lowerdir={},upperdir={},workdir={}", escaped(folder), upper.display(), work.display());
    let options = std::ffi::CString::new(options).map_err(io::Error::other)?;
    mount("wavetank", folder, "overlay", MountFlags::empty(), options.as_c_str())?;
    for (place, tree) in below {
        move_mount(&tree, "", CWD, &place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    Ok(())
}

fn owner(about: &fs::Metadata) -> (u32, u32) {
    use std::os::unix::fs::MetadataExt as _;
    (about.uid(), about.gid())
}

/// Returns the mounts directly or further below `folder`, detached from it.
fn below(folder: &Path) -> io::Result<Vec<(PathBuf, std::os::fd::OwnedFd)>> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let mut all: Vec<(PathBuf, std::os::fd::OwnedFd)> = Vec::new();
    for (place, _) in mounts()? {
        let inside = place != folder && place.starts_with(folder);
        // A clone contains the mounts below it.
        if inside && !all.iter().any(|(known, _)| place.starts_with(known)) {
            let tree = open_tree(CWD, &place, flags)?;
            all.push((place, tree));
        }
    }
    Ok(all)
}

/// Returns the place and the source of each mount that this thread sees, in their order.
fn mounts() -> io::Result<Vec<(PathBuf, String)>> {
    Ok(parse_mounts(&fs::read_to_string("/proc/thread-self/mountinfo")?))
}

/// Parses `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`, see proc(5).
fn parse_mounts(text: &str) -> Vec<(PathBuf, String)> {
    let mount = |line: &str| {
        let (own, filesystem) = line.split_once(" - ")?;
        let source = filesystem.split(' ').nth(1)?;
        Some((PathBuf::from(unescaped(own.split(' ').nth(4)?)), source.to_owned()))
    };
    text.lines().filter_map(mount).collect()
}

/// Replaces `\040` and the like, with which the kernel writes blanks.
fn unescaped(path: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(path.to_owned(), |path, (code, one)| path.replace(code, one))
}

/// Escapes what separates options of an overlay.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "\\\\").replace(':', "\\:").replace(',', "\\,")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_blanks_in_their_places() {
        let text = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
                    23 22 0:5 / /a\\040b rw - tmpfs lab rw,size=64m\nnonsense\n";
        let expected = [("/", "/dev/vda"), ("/a b", "lab")];
        let found = parse_mounts(text);
        let found: Vec<_> = found.iter().map(|(place, source)| (place.to_str(), source.as_str())).collect();
        assert_eq!(found, expected.map(|(place, source)| (Some(place), source)));
    }

    #[test]
    fn what_separates_options_is_escaped() {
        assert_eq!(escaped(Path::new("/a:b,c")), "/a\\:b\\,c");
    }
}
