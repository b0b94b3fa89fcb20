//! [`Lock`]: the right to change a lab's folder.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// The file in a lab's folder that is locked.
pub(crate) const LOCK_FILE: &str = "lock";

/// How often a folder may disappear between creating and locking it before that is an error.
const TRIES_MAX: u32 = 100;

/// The right to change a lab's folder. The keeper holds it for its whole life, so the lock
/// distinguishes a live lab from the remains of a killed one. The kernel releases it with the
/// process.
#[derive(Debug)]
pub(crate) struct Lock {
    folder: PathBuf,
    /// Locked by flock(2) until it is closed.
    _file: File,
}

impl Lock {
    /// Locks `folder`, which is created if it is missing and `make` is set. Returns `None` if
    /// another process holds the lock, or if there is no folder.
    pub(crate) fn take(folder: &Path, make: bool) -> Result<Option<Self>> {
        for _ in 0..TRIES_MAX {
            if make {
                match std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder) {
                    // The process that removed the last lab just removed the parent folder as well.
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    made => made?,
                }
            }
            let path = folder.join(LOCK_FILE);
            let opened = OpenOptions::new().create(make || folder.is_dir()).append(true).open(&path);
            let file = match opened {
                Ok(file) => file,
                // The previous holder removed the folder between the two calls.
                Err(error) if error.kind() == ErrorKind::NotFound && make => continue,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            }
            // A lock on a file that was removed meanwhile has no effect.
            let there = std::fs::metadata(&path).ok().map(|there| (there.dev(), there.ino()));
            let held = file.metadata()?;
            if there == Some((held.dev(), held.ino())) {
                return Ok(Some(Self { folder: folder.to_owned(), _file: file }));
            }
        }
        Err(std::io::Error::other("the folder was removed repeatedly"))
    }

    /// Removes everything in the folder except the lock.
    pub(crate) fn empty(&self) -> Result<()> {
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_name() == LOCK_FILE {
                continue;
            }
            if entry.file_type()?.is_dir() {
                std::fs::remove_dir_all(entry.path())?;
            } else {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Removes the folder with everything in it, and our parent folders if they are empty then.
    pub(crate) fn remove(self) -> Result<()> {
        self.empty()?;
        std::fs::remove_file(self.folder.join(LOCK_FILE))?;
        match std::fs::remove_dir(&self.folder) {
            // Another lab of this name is already starting: it created its own lock in the folder.
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => return Ok(()),
            other => other?,
        }
        remove_above(&self.folder);
        Ok(())
    }
}

/// Removes our folders above a lab's folder, `labs` and `/run/wavetank`, unless other labs are in
/// them.
pub(crate) fn remove_above(folder: &Path) {
    for above in folder.ancestors().skip(1).take(2) {
        let ours = above.file_name().is_some_and(|name| name == "labs" || name == "wavetank");
        if !ours || std::fs::remove_dir(above).is_err() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wavetank_testkit::poll_until;

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().expect("temporary folders can be made");
        let folder = root.path().join("wavetank/labs/shop");
        (root, folder)
    }

    #[test]
    fn one_holds_it_at_a_time() {
        let (_root, folder) = place();
        let held = Lock::take(&folder, true).expect("can be made").expect("no process holds it");
        assert!(Lock::take(&folder, true).expect("can be asked").is_none());
        assert!(Lock::take(&folder, false).expect("can be asked").is_none());
        drop(held);
        // A process that another test is starting has a copy of the file until it executes its
        // program.
        let again = poll_until(Duration::from_mins(1), || Lock::take(&folder, false).expect("can be asked"));
        assert!(again.is_some());
    }

    #[test]
    fn what_is_not_there_is_not_made_to_look_at_it() {
        let (root, folder) = place();
        assert!(Lock::take(&folder, false).expect("can be asked").is_none());
        assert_eq!(std::fs::read_dir(root.path()).expect("readable").count(), 0);
    }

    #[test]
    fn removing_takes_our_folders_and_no_others() {
        let (root, folder) = place();
        let lock = Lock::take(&folder, true).expect("can be made").expect("no process holds it");
        std::fs::create_dir_all(folder.join("hosts/lb1")).expect("can be made");
        std::fs::write(folder.join("lab.json"), "{}").expect("can be written");
        lock.remove().expect("can be removed");
        assert_eq!(std::fs::read_dir(root.path()).expect("readable").count(), 0);
    }

    #[test]
    fn another_lab_is_not_touched() {
        let (_root, folder) = place();
        let alongside = folder.with_file_name("other");
        let lock = Lock::take(&folder, true).expect("can be made").expect("no process holds it");
        let other = Lock::take(&alongside, true).expect("can be made").expect("no process holds it");
        lock.remove().expect("can be removed");
        assert!(!folder.exists() && alongside.join(LOCK_FILE).is_file());
        drop(other);
    }
}
