//! [`Garbling`]: a relay to a TLS server that corrupts its responses once the handshake is over.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;

/// Type of a record with application data (RFC 5246 §6.2.1). In TLS 1.2 only these records are
/// corrupted.
const APPLICATION_DATA: u8 = 23;

/// See the module's description. It lives as long as the test's process.
pub(crate) struct Garbling {
    port: u16,
}

impl Garbling {
    /// Starts a relay in front of the server on port `behind`.
    pub(crate) fn before(behind: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, behind)).expect("the server is up");
                let (mut from, mut to) =
                    (client.try_clone().expect("a file"), server.try_clone().expect("a file"));
                thread::spawn(move || std::io::copy(&mut from, &mut to));
                thread::spawn(move || spoil(server, client));
            }
        });
        Self { port }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

/// Passes records on, with one bit of the application data flipped.
fn spoil(mut from: TcpStream, mut to: TcpStream) {
    let mut head = [0; 5];
    while from.read_exact(&mut head).is_ok() {
        let mut body = vec![0; usize::from(u16::from_be_bytes([head[3], head[4]]))];
        if from.read_exact(&mut body).is_err() {
            return;
        }
        if let (APPLICATION_DATA, Some(last)) = (head[0], body.last_mut()) {
            *last ^= 1;
        }
        if to.write_all(&head).and_then(|()| to.write_all(&body)).is_err() {
            return;
        }
    }
}
