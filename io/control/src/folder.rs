//! [`RunFolder`]: where the sockets of a user's running runs are.

use std::path::{Path, PathBuf};

use wavetank_link::create_private;

/// Ending of the sockets' names.
pub(crate) const EXTENSION: &str = "sock";

/// The folder with the sockets of a user's running runs: `$XDG_RUNTIME_DIR/wavetank`, or
/// `/tmp/wavetank-UID` where the session has no such directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder(PathBuf);

impl RunFolder {
    /// Returns the folder of this process's user. `runtime_dir` is the value of `XDG_RUNTIME_DIR`.
    pub fn of_user(runtime_dir: Option<&Path>) -> Self {
        match runtime_dir.filter(|dir| dir.is_absolute() && dir.is_dir()) {
            Some(dir) => Self(dir.join("wavetank")),
            None => Self(PathBuf::from(format!("/tmp/wavetank-{}", rustix::process::geteuid().as_raw()))),
        }
    }

    /// The folder's path; the folder may not exist.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Creates the folder if it is missing, private to its user.
    ///
    /// # Errors
    /// If it belongs to another user, or the system refuses.
    pub fn create(&self) -> std::io::Result<()> {
        create_private(&self.0)
    }

    /// Path of the socket of the run with this id.
    pub(crate) fn socket(&self, id: &str) -> PathBuf {
        self.0.join(format!("{id}.{EXTENSION}"))
    }
}
