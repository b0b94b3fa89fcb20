//! A host's own `/etc`: the machine's, under a layer in memory.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::mount::{MountFlags, mount};
use wavetank_units::{Code, UserError};

use super::layers::make_private;

/// The path of the layer: on the host's own `/run`, which is in memory and in no other namespace.
const LAYER: &str = "/run/wavetank-etc";

/// Mounts a layer over `/etc` in the calling process's mount namespace, which must share nothing
/// with the machine. Files written below `/etc` from then on belong to this host only.
pub(crate) fn mount_overlay() -> Result<(), UserError> {
    let covered = || -> io::Result<()> {
        DirBuilder::new().mode(0o755).create(LAYER)?;
        let [upper, work] = ["upper", "work"].map(|part| format!("{LAYER}/{part}"));
        for folder in [&upper, &work] {
            DirBuilder::new().mode(0o755).create(folder)?;
            // The umask of the user of `lab up` must not make `/etc` unreadable to servers that
            // drop root.
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
        }
        let layers = format!("lowerdir=/etc,upperdir={upper},workdir={work}");
        let layers = std::ffi::CString::new(layers).expect("the text above holds no zero byte");
        mount("wavetank", "/etc", "overlay", MountFlags::empty(), layers.as_c_str())?;
        Ok(())
    };
    covered().map_err(|error| {
        let message = format!("cannot mount a host's own /etc: {error}");
        UserError::refused(Code::LabKernel, message, "the kernel needs overlayfs: modprobe overlay")
    })
}

/// Writes `text` to `path`; its folder becomes the host's own. An existing file is replaced, even
/// if it is a link to another place.
pub(crate) fn write_file(path: &str, text: &str, mode: u32) -> Result<(), UserError> {
    replace(Path::new(path), text, mode).map_err(|error| {
        let message = format!("cannot write `{path}` of a host: {error}");
        UserError::refused(
            Code::LabFile,
            message,
            "use a path below a folder that this machine has, such as /etc, /opt or /srv",
        )
    })
}

fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    if path.components().any(|part| part.as_os_str() == "..") {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // Without a layer of its own, this would write to the machine's own file.
    make_private(path.parent().unwrap_or(path))?;
    let mut name = path.as_os_str().to_owned();
    name.push(".wavetank-new");
    let new = Path::new(&name);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(new)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    fs::rename(new, path)
}
