//! [`TestDir`]: a folder of one test, gone with it; copies of folders, and free ports.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

/// A folder of one test, removed when it is dropped.
#[derive(Debug)]
pub struct TestDir {
    folder: TempDir,
}

impl TestDir {
    /// A fresh empty folder.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("wavetank-test-").tempdir();
        Self { folder: folder.expect("the system's folder for temporary files is writable") }
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A path inside it, as text for a command line.
    pub fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    /// Writes a file inside it and gives its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.folder.path().join(name), content).expect("the test's own folder is writable");
        self.file(name)
    }

    /// The folders of runs inside the runs directory `name`, sorted; none if it does not exist.
    pub fn runs(&self, name: &str) -> Vec<PathBuf> {
        let mut runs: Vec<PathBuf> = std::fs::read_dir(self.folder.path().join(name))
            .map(|entries| entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect())
            .unwrap_or_default();
        runs.retain(|path| path.is_dir());
        runs.sort();
        runs
    }

    /// Every regular file below this place, links not followed.
    pub fn all_files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let kind = entry.file_type();
                match kind {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() => found.push(entry.path()),
                    _ => {}
                }
            }
        }
        found
    }
}

impl Default for TestDir {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns a UDP socket at an address that refuses datagrams.
///
/// The socket is connected to another address, so the kernel answers every datagram from elsewhere
/// with "port unreachable". While it is held, no other test can get its port.
pub fn refusing_udp_socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.connect("127.0.0.1:9").expect("connecting UDP sends nothing");
    socket
}

/// Returns a port of 127.0.0.1 on which no process listened a moment ago. It is below the range of
/// ephemeral ports, so no process gets it by chance. No process of tests gets it a second time
/// while this one runs: tests that run in parallel start programs that take a while to listen.
pub fn free_port() -> u16 {
    const LOWEST: u16 = 10_000;
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    /// Abstract socket names, each of which one process can have.
    static RESERVED: Mutex<Vec<UnixListener>> = Mutex::new(Vec::new());
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let end = range.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(32_768);
    let ports = u32::from(u16::saturating_sub(end, LOWEST).max(1));
    let first = std::process::id().wrapping_mul(61);
    let reserve = |port: u16| {
        let name = SocketAddr::from_abstract_name(format!("wavetank-test-port-{port}")).ok()?;
        let name = UnixListener::bind_addr(&name).ok()?;
        TcpListener::bind(("127.0.0.1", port)).ok()?;
        RESERVED.lock().expect("no thread panics with it").push(name);
        Some(port)
    };
    (0..ports)
        .map(|_| LOWEST + (first.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed)) % ports) as u16)
        .find_map(reserve)
        .expect("loopback has a free port")
}

/// Copies the folder `from` and all below it to `to`.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the test's own folder is writable");
    for entry in std::fs::read_dir(from).expect("it is there").flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).expect("the test's own folder is writable");
        }
    }
}
