//! [`FrameServer`]: a scripted HTTP/2 server without TLS, which answers with raw frames.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::acceptor::Acceptor;

/// Length of the client's preface.
const PREFACE_BYTES: usize = 24;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const ACK: u8 = 1;

/// What the server does with one request.
#[derive(Clone, Debug)]
pub enum FrameReply {
    /// It sends these bytes.
    Send(Vec<u8>),
    /// It sends these bytes and closes the connection.
    SendAndClose(Vec<u8>),
    /// It sends these bytes and reads nothing more. The connection stays open.
    SendAndStall(Vec<u8>),
    /// It closes the connection, which resets it if the client has sent more.
    Close,
}

/// A request as the server sees it.
#[derive(Clone, Copy, Debug)]
pub struct FrameRequest {
    /// Its number among all requests, from 0.
    pub number: u64,
    /// Its stream.
    pub stream: u32,
    /// The number of its connection, from 0.
    pub connection: u64,
    /// Whether the client has sent more after it already.
    pub has_more: bool,
}

type Reply = dyn Fn(FrameRequest) -> FrameReply + Send + Sync;

/// A scripted HTTP/2 server on a free port of 127.0.0.1; it ends when dropped.
pub struct FrameServer {
    acceptor: Acceptor,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    requests: AtomicU64,
}

/// Returns one frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a frame is short").to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend_from_slice(&[kind, flags]);
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Returns the response 200 without a body on `stream`: one HEADERS frame that ends it.
pub fn frame_of_ok(stream: u32) -> Vec<u8> {
    frame(HEADERS, 5, stream, &[0x88])
}

impl FrameServer {
    /// Starts a server that begins each connection with `settings`, the payload of its SETTINGS
    /// frame, and does what `reply` returns for each request.
    ///
    /// # Panics
    /// If no port is free.
    pub fn start(
        settings: &'static [u8],
        reply: impl Fn(FrameRequest) -> FrameReply + Send + Sync + 'static,
    ) -> Self {
        let counts: Arc<Counts> = Arc::default();
        let own = Arc::clone(&counts);
        let serve = move |client, connection| serve(client, settings, connection, &own, &reply);
        Self { acceptor: Acceptor::start(serve), counts }
    }

    /// The URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}/", self.acceptor.address)
    }

    /// The number of requests that arrived.
    pub fn requests(&self) -> u64 {
        self.counts.requests.load(Ordering::SeqCst)
    }

    /// The number of connections that were accepted.
    pub fn connections(&self) -> u64 {
        self.acceptor.connections()
    }
}

fn serve(
    mut client: TcpStream,
    settings: &[u8],
    connection: u64,
    counts: &Counts,
    reply: &Reply,
) -> std::io::Result<()> {
    client.write_all(&frame(SETTINGS, 0, 0, settings))?;
    client.read_exact(&mut [0; PREFACE_BYTES])?;
    loop {
        let mut header = [0; 9];
        client.read_exact(&mut header)?;
        let [a, b, c, kind, flags, stream @ ..] = header;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        client.read_exact(&mut payload)?;
        if kind == SETTINGS && flags & ACK == 0 {
            client.write_all(&frame(SETTINGS, ACK, 0, b""))?;
        }
        if kind != HEADERS {
            continue;
        }
        let number = counts.requests.fetch_add(1, Ordering::SeqCst);
        let has_more = has_unread(&client)?;
        match reply(FrameRequest { number, stream: u32::from_be_bytes(stream), connection, has_more }) {
            FrameReply::Send(bytes) => client.write_all(&bytes)?,
            FrameReply::SendAndClose(bytes) => {
                client.write_all(&bytes)?;
                client.shutdown(Shutdown::Write)?;
                // Reads until the client closes, so that no reset destroys the last bytes.
                while client.read(&mut [0; 1024])? > 0 {}
                return Ok(());
            }
            FrameReply::SendAndStall(bytes) => {
                client.write_all(&bytes)?;
                std::mem::forget(client);
                return Ok(());
            }
            FrameReply::Close => return Ok(()),
        }
    }
}

/// Whether bytes have arrived that were not read.
fn has_unread(client: &TcpStream) -> std::io::Result<bool> {
    client.set_nonblocking(true)?;
    let found = client.peek(&mut [0]);
    client.set_nonblocking(false)?;
    Ok(found.is_ok_and(|bytes| bytes > 0))
}
