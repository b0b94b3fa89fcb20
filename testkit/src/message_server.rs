//! [`MessageServer`]: a scripted WebSocket server without TLS, which answers with raw bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest as _, Sha1};

use crate::acceptor::Acceptor;

/// RFC 6455 §1.3.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const CLOSE: u8 = 8;
/// The extension that the server accepts if it is offered.
const DEFLATE: &str = "permessage-deflate";

/// A message as the server sees it.
#[derive(Clone, Debug)]
pub struct MessageRequest {
    /// Its number among all messages, from 0.
    pub number: u64,
    /// The number of its connection, from 0.
    pub connection: u64,
    /// The path of the upgrade.
    pub path: String,
    /// Its content as it was sent, which is compressed if the client compresses.
    pub text: String,
}

/// What the server does with one message.
#[derive(Clone, Debug)]
pub enum MessageReply {
    /// It sends these bytes.
    Send(Vec<u8>),
    /// It sends these bytes and closes the connection.
    SendAndClose(Vec<u8>),
    /// It sends these bytes and ends, so that later bytes of the client are answered with a reset.
    SendAndLeave(Vec<u8>),
}

type Reply = dyn Fn(MessageRequest) -> MessageReply + Send + Sync;

/// A scripted WebSocket server on a free port of 127.0.0.1; it ends when dropped.
pub struct MessageServer {
    acceptor: Acceptor,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    messages: AtomicU64,
    closes: AtomicU64,
}

/// Returns one whole frame of a server.
pub fn message_frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x80 | opcode];
    match u16::try_from(payload.len()).expect("a frame is short") {
        short @ 0..126 => bytes.push(short as u8),
        long => {
            bytes.push(126);
            bytes.extend_from_slice(&long.to_be_bytes());
        }
    }
    bytes.extend_from_slice(payload);
    bytes
}

/// Returns a text message of a server.
pub fn text_frame(text: &str) -> Vec<u8> {
    message_frame(1, text.as_bytes())
}

impl MessageServer {
    /// Starts a server that does what `reply` returns for each message. Each connection begins with
    /// the bytes `greeting` after the upgrade.
    ///
    /// # Panics
    /// If no port is free.
    pub fn start(
        greeting: Vec<u8>,
        reply: impl Fn(MessageRequest) -> MessageReply + Send + Sync + 'static,
    ) -> Self {
        let counts: Arc<Counts> = Arc::default();
        let own = Arc::clone(&counts);
        let serve = move |client, connection| serve(client, &greeting, connection, &own, &reply);
        Self { acceptor: Acceptor::start(serve), counts }
    }

    /// Starts a server that sends every message back.
    pub fn echo() -> Self {
        Self::start(Vec::new(), |message| MessageReply::Send(text_frame(&message.text)))
    }

    /// The URL of the server with this path.
    pub fn url(&self, path: &str) -> String {
        format!("ws://{}{path}", self.acceptor.address)
    }

    /// The number of messages that arrived.
    pub fn messages(&self) -> u64 {
        self.counts.messages.load(Ordering::SeqCst)
    }

    /// The number of connections that were accepted.
    pub fn connections(&self) -> u64 {
        self.acceptor.connections()
    }

    /// The number of Close frames that arrived.
    pub fn closes(&self) -> u64 {
        self.counts.closes.load(Ordering::SeqCst)
    }
}

fn serve(
    client: TcpStream,
    greeting: &[u8],
    connection: u64,
    counts: &Counts,
    reply: &Reply,
) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    let mut write = client.try_clone()?;
    let mut read = BufReader::new(client);
    let mut line = String::new();
    read.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut key, mut extensions) = (String::new(), "");
    loop {
        line.clear();
        if read.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("sec-websocket-key") {
            value.trim().clone_into(&mut key);
        } else if name.eq_ignore_ascii_case("sec-websocket-extensions") && value.contains(DEFLATE) {
            extensions = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
        }
    }
    let accept = STANDARD.encode(Sha1::digest(format!("{key}{GUID}")));
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n{extensions}\r\n"
    );
    write.write_all(&[head.as_bytes(), greeting].concat())?;
    loop {
        let (opcode, payload) = read_frame(&mut read)?;
        if opcode == CLOSE {
            counts.closes.fetch_add(1, Ordering::SeqCst);
            write.write_all(&message_frame(CLOSE, &payload))?;
            return Ok(());
        }
        if !matches!(opcode, 1 | 2) {
            continue;
        }
        let number = counts.messages.fetch_add(1, Ordering::SeqCst);
        let text = String::from_utf8_lossy(&payload).into_owned();
        match reply(MessageRequest { number, connection, path: path.clone(), text }) {
            MessageReply::Send(bytes) => write.write_all(&bytes)?,
            MessageReply::SendAndLeave(bytes) => return write.write_all(&bytes),
            MessageReply::SendAndClose(bytes) => {
                write.write_all(&bytes)?;
                write.shutdown(Shutdown::Write)?;
                // Reads until the client closes, so that no reset destroys the last bytes.
                while read.read(&mut [0; 1024])? > 0 {}
                return Ok(());
            }
        }
    }
}

/// Reads one frame of a client, which is masked and not fragmented.
fn read_frame(read: &mut impl Read) -> std::io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    read.read_exact(&mut head)?;
    let length = match head[1] & 0x7f {
        126 => {
            let mut two = [0; 2];
            read.read_exact(&mut two)?;
            u64::from(u16::from_be_bytes(two))
        }
        127 => {
            let mut eight = [0; 8];
            read.read_exact(&mut eight)?;
            u64::from_be_bytes(eight)
        }
        short => u64::from(short),
    };
    let mut mask = [0; 4];
    read.read_exact(&mut mask)?;
    let mut payload = vec![0; usize::try_from(length).expect("a message is short")];
    read.read_exact(&mut payload)?;
    for (byte, key) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
    }
    Ok((head[0] & 0x0f, payload))
}
