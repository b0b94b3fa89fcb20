//! [`Syslog`]: receives what services of a host log by the syslog protocol, and adds it to their
//! own logs.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, PipeWriter, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use wavetank_topology::own::SyslogTarget;

use crate::net::make_private;

/// The variable by which a process shows which service it belongs to.
pub(super) const SERVICE_VARIABLE: &str = "WAVETANK_SERVICE";
/// Maximum length of a message; a longer one is cut.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;

/// A service that logs by syslog.
#[derive(Debug)]
pub(super) struct Sender {
    /// Its name.
    pub(super) name: String,
    /// Its program's name.
    pub(super) program: &'static str,
    /// Where its messages are written to.
    pub(super) log: PipeWriter,
}

/// Where services send their messages.
#[derive(Debug, Default)]
pub(super) struct SyslogPlaces {
    pub(super) targets: BTreeSet<SyslogTarget>,
    /// Folders that a sender may have made its root, in which the sockets have the same paths.
    pub(super) roots: BTreeSet<String>,
}

/// Starts to receive. The threads end with the process.
pub(super) fn receive(places: &SyslogPlaces, senders: Vec<Sender>) -> io::Result<()> {
    let senders = Arc::new(Mutex::new(senders));
    for target in &places.targets {
        match target {
            SyslogTarget::Socket(path) => {
                let inside =
                    places.roots.iter().map(|root| Path::new(root).join(path.trim_start_matches('/')));
                for path in std::iter::once(PathBuf::from(path)).chain(inside) {
                    let socket = socket(&path)?;
                    listen(&senders, move |bytes| socket.recv(bytes))?;
                }
            }
            SyslogTarget::Local(port) => {
                let four = UdpSocket::bind((Ipv4Addr::LOCALHOST, *port))?;
                listen(&senders, move |bytes| four.recv(bytes))?;
                // A host may have no IPv6.
                if let Ok(six) = UdpSocket::bind((Ipv6Addr::LOCALHOST, *port)) {
                    listen(&senders, move |bytes| six.recv(bytes))?;
                }
            }
        }
    }
    Ok(())
}

/// Creates a socket that programs without root may write to.
fn socket(path: &Path) -> io::Result<UnixDatagram> {
    if let Some(folder) = path.parent() {
        make_private(folder)?;
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let socket = UnixDatagram::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o666))?;
    Ok(socket)
}

fn listen(
    senders: &Arc<Mutex<Vec<Sender>>>,
    receive: impl Fn(&mut [u8]) -> io::Result<usize> + Send + 'static,
) -> io::Result<()> {
    let senders = Arc::clone(senders);
    let thread = thread::Builder::new().name("syslog".to_owned()).stack_size(256 * 1024);
    let copy = move || {
        let mut bytes = vec![0; MESSAGE_BYTES_MAX];
        loop {
            match receive(&mut bytes) {
                Ok(count) => {
                    let mut senders = senders.lock().unwrap_or_else(PoisonError::into_inner);
                    deliver(&String::from_utf8_lossy(&bytes[..count]), &mut senders);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    };
    thread.spawn(copy).map(drop)
}

/// Writes a message to the log of its service.
fn deliver(message: &str, senders: &mut [Sender]) {
    let text = without_priority(message).trim_end_matches(['\n', '\0']);
    let index = of_process(text, senders).or_else(|| of_program(text, senders)).unwrap_or(0);
    if let Some(sender) = senders.get_mut(index) {
        // If the log cannot be written, only the line is lost.
        let _ = sender.log.write_all(format!("{text}\n").as_bytes());
    }
}

/// Returns the sender with the process that the message names, as `haproxy[77]` or `77#77`.
fn of_process(text: &str, senders: &[Sender]) -> Option<usize> {
    let pid = process_id(text)?;
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let own = environment
        .split(|byte| *byte == 0)
        .find_map(|variable| variable.strip_prefix(SERVICE_VARIABLE.as_bytes())?.strip_prefix(b"="))?;
    senders.iter().position(|sender| sender.name.as_bytes() == own)
}

fn process_id(text: &str) -> Option<u32> {
    let number = |word: &str| word.parse::<u32>().ok();
    let of = |word: &str| {
        let tagged = word.split_once('[').and_then(|(_, rest)| number(rest.split_once(']')?.0));
        tagged.or_else(|| number(word.split_once('#')?.0))
    };
    text.split_whitespace().take(12).find_map(of)
}

/// Returns the sender of which the program is named before the first colon that ends a part.
fn of_program(text: &str, senders: &[Sender]) -> Option<usize> {
    let is_named = |name: &str| {
        text.split_whitespace()
            .take(6)
            .any(|part| part.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', '['])))
    };
    let by = |name: fn(&Sender) -> &str| senders.iter().position(|sender| is_named(name(sender)));
    by(|sender| &sender.name).or_else(|| by(|sender| sender.program))
}

/// Removes `<134>` at the start.
fn without_priority(message: &str) -> &str {
    let rest = message.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    rest.filter(|(number, _)| number.parse::<u16>().is_ok()).map_or(message, |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn messages_come_to_their_service() {
        let check = |message: &str, service: usize, written: &str| {
            let (mut ends, mut senders) = (Vec::new(), Vec::new());
            for (name, program) in [("lb", "haproxy"), ("web", "nginx")] {
                let (reader, log) = io::pipe().expect("there are pipes");
                ends.push(reader);
                senders.push(Sender { name: name.to_owned(), program, log });
            }
            deliver(message, &mut senders);
            drop(senders);
            let mut said = String::new();
            ends[service].read_to_string(&mut said).expect("it is text");
            assert_eq!(said, written, "{message}");
        };
        check(
            "<133>Nov 26 03:00:00 haproxy[4294967295]: up\n",
            0,
            "Nov 26 03:00:00 haproxy[4294967295]: up\n",
        );
        check(
            "<187>Nov 26 03:00:00 host nginx: 2026/11/26 [error] x",
            1,
            "Nov 26 03:00:00 host nginx: 2026/11/26 [error] x\n",
        );
        check("<13>web: hello", 1, "web: hello\n");
        check("anything", 0, "anything\n");
    }

    #[test]
    fn a_process_is_found_by_its_number() {
        let check = |text: &str, expected| assert_eq!(process_id(text), expected, "{text}");
        check("Nov 26 03:00:00 haproxy[77]: up", Some(77));
        check("nginx: 2026/11/26 03:00:00 [error] 12#13: *1 refused", Some(12));
        check("web: no [number] here", None);
    }
}
