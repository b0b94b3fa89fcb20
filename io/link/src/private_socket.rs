//! A Unix socket in a folder that only its user can enter.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;
use rustix::event::PollFlags;
use rustix::process::geteuid;
use std::os::fd::AsFd as _;
use std::time::Duration;

use crate::stop::Stop;

/// Name of the socket for controllers in the agent's folder.
pub(crate) const AGENT_SOCKET: &str = "agent.sock";
/// After a failure to accept, such as too many open files, the next attempt waits this long.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);
/// Longest path of a Unix socket, in bytes (unix(7): 108 with the zero at its end).
const PATH_BYTES_MAX: usize = 107;

/// Why a process cannot listen in a folder.
#[derive(Debug)]
pub enum BindError {
    /// Another process listens there.
    InUse(PathBuf),
    /// The folder belongs to another user, who could replace the socket.
    Foreign(PathBuf),
    /// The path has more bytes than a Unix socket can have.
    TooLong(PathBuf),
    /// The system refused.
    System(PathBuf, Error),
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(path) => write!(f, "another process listens on {}", path.display()),
            Self::Foreign(path) => write!(f, "{} belongs to another user", path.display()),
            Self::TooLong(path) => {
                write!(f, "{} is longer than the {PATH_BYTES_MAX} bytes of a socket's path", path.display())
            }
            Self::System(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for BindError {}

/// Creates the folder if it is missing, and makes it private to its user.
///
/// # Errors
/// `PermissionDenied` if it belongs to another user, who could replace what is in it; otherwise
/// what the system reports.
pub fn create_private(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let metadata = std::fs::metadata(folder)?;
    if metadata.uid() != geteuid().as_raw() {
        return Err(Error::new(ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    if metadata.mode() & 0o077 != 0 {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Creates the folder if it is missing, makes it private, and listens on `name` in it. The socket
/// of a process that has ended is replaced. The listener does not block.
///
/// # Errors
/// If another process listens there, the folder belongs to another user, the path is too long, or
/// the system refuses.
pub fn bind_private(folder: &Path, name: &str) -> Result<UnixListener, BindError> {
    let path = folder.join(name);
    let failed = |error| BindError::System(path.clone(), error);
    if path.as_os_str().len() > PATH_BYTES_MAX {
        return Err(BindError::TooLong(path));
    }
    create_private(folder).map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => BindError::Foreign(folder.to_owned()),
        _ => failed(error),
    })?;
    match UnixStream::connect(&path) {
        Ok(_) => return Err(BindError::InUse(path)),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            std::fs::remove_file(&path).map_err(failed)?;
        }
        Err(_) => {}
    }
    // It gets its name once it listens. A client that is refused takes a socket for one that was
    // left behind, and removes it.
    let mut unnamed = name.to_owned();
    unnamed.pop();
    let unnamed = folder.join(unnamed + "~");
    let _ = std::fs::remove_file(&unnamed);
    let listener = UnixListener::bind(&unnamed).map_err(failed)?;
    let named = std::fs::set_permissions(&unnamed, std::fs::Permissions::from_mode(0o600))
        .and_then(|()| std::fs::hard_link(&unnamed, &path));
    let _ = std::fs::remove_file(&unnamed);
    match named {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(BindError::InUse(path)),
        named => named.map_err(failed)?,
    }
    rustix::io::ioctl_fionbio(&listener, true).map_err(|errno| failed(errno.into()))?;
    Ok(listener)
}

/// Returns the next connection of the same user or of root; `None` when the end is requested.
pub fn accept(listener: &UnixListener, stop: &Stop) -> Option<UnixStream> {
    loop {
        match listener.accept() {
            Ok((stream, _)) if is_trusted(&stream) => return Some(stream),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if !stop.wait_for(listener.as_fd(), PollFlags::IN).unwrap_or(false) {
                    return None;
                }
            }
            Err(_) => {
                if stop.wait(ACCEPT_AGAIN) {
                    return None;
                }
            }
        }
    }
}

/// Whether the process at the other end belongs to this user or to root. It may be in another PID
/// namespace: its number is 0 then, which only nix's type can hold.
fn is_trusted(stream: &UnixStream) -> bool {
    let peer = getsockopt(stream, PeerCredentials);
    peer.is_ok_and(|peer| peer.uid() == geteuid().as_raw() || peer.uid() == 0)
}
