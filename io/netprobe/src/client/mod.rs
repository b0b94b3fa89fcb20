//! [`NetClient`]: the end of a measurement that measures.

mod connect;
mod echo;
mod mtu;
mod pair;
mod tcp;
mod udp;

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::net::sockopt::set_tcp_user_timeout;
use wavetank_netbench::{
    ClientHello, ClientProof, ClientRequest, DataHeader, DataKind, FlowResult, ServerHello, ServerProof,
    ServerReply, SessionKey, Token,
};
use wavetank_record::{NetLinkDoc, Number};
use wavetank_units::{Nanos, UserError};

pub use pair::{MeasuredPair, PairContext, measure_pair};

use crate::control::ControlSocket;
use crate::error;
use crate::interface::interface_of;
use crate::server::random_nonce;

/// Time to open a connection.
const CONNECT_WAIT: Duration = Duration::from_secs(3);
/// Time for an answer of the server, in addition to the duration of a test.
const REPLY_WAIT: Nanos = Nanos::from_secs(10);
/// A peer that acknowledges nothing for this long is gone, ms.
const USER_TIMEOUT_MS: u32 = 10_000;

/// A session with a server.
#[derive(Debug)]
pub struct NetClient {
    control: ControlSocket,
    server: SocketAddr,
    key: SessionKey,
    session: u64,
    last_test: u32,
    /// Set when the measurements are to end early.
    stop: Arc<AtomicBool>,
    /// Version of wavetank at the server.
    server_version: String,
    /// Interfaces of both ends, without the names of their hosts.
    links: [NetLinkDoc; 2],
}

impl NetClient {
    /// Connects to a server, and proves that it has the same token.
    ///
    /// # Errors
    /// No connection, another version, another token, a server with too many clients.
    pub fn connect(server: SocketAddr, token: &Token, version: &str) -> Result<Self, UserError> {
        let name = server.to_string();
        let stream = TcpStream::connect_timeout(&server, CONNECT_WAIT)
            .map_err(|error| error::cannot_connect(&name, &error))?;
        let greeted = |error: std::io::Error| match error.kind() {
            ErrorKind::InvalidData => error::not_ours(&name),
            ErrorKind::TimedOut | ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => {
                error::not_ours(&name)
            }
            _ => error::peer_gone(&name, &error),
        };
        let local = stream.local_addr().map_err(greeted)?;
        let _ = set_tcp_user_timeout(&stream, USER_TIMEOUT_MS);
        let mut control = ControlSocket::new(stream, &[]).map_err(greeted)?;
        let nonce = random_nonce().map_err(greeted)?;
        control.send(&ClientHello::new(version, nonce.clone())).map_err(greeted)?;
        let hello: ServerHello = control.receive(REPLY_WAIT).map_err(greeted)?;
        hello.check().map_err(|other| error::versions_differ(&name, &other))?;
        let proof = token.client_proof(&nonce, &hello.nonce);
        control.send(&ClientProof { proof }).map_err(greeted)?;
        let session = match control.receive(REPLY_WAIT).map_err(greeted)? {
            ServerProof::Session { proof, session, interface, link_bits_per_s }
                if token.is_server(&proof, &nonce, &hello.nonce) =>
            {
                (session, interface, link_bits_per_s)
            }
            ServerProof::Session { .. } | ServerProof::BadToken => return Err(error::wrong_token(&name)),
            ServerProof::Busy => return Err(error::is_busy(&name)),
        };
        control.trust();
        let (session, interface, link_bits_per_s) = session;
        let own = interface_of(local.ip());
        Ok(Self {
            control,
            server,
            key: token.session_key(&nonce, &hello.nonce),
            session,
            last_test: 0,
            stop: Arc::default(),
            server_version: hello.version,
            links: [link(&own.name, own.bits_per_s), link(&interface, link_bits_per_s)],
        })
    }

    /// Ends measurements early once `stop` is set.
    fn with_stop(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Returns the number of the next test.
    fn next_test(&mut self) -> u32 {
        self.last_test += 1;
        self.last_test
    }

    /// Sends a request and returns the reply.
    fn request(&mut self, request: &ClientRequest, wait: Nanos) -> Result<ServerReply, UserError> {
        let name = self.server.to_string();
        let gone = |error: std::io::Error| error::peer_gone(&name, &error);
        self.control.send(request).map_err(gone)?;
        self.control.receive(wait.after(REPLY_WAIT)).map_err(gone)
    }

    /// Makes the server expect `streams` data connections of a new test. Returns its number.
    fn expect(&mut self, what: &str, streams: u32, duration: Nanos) -> Result<u32, UserError> {
        let test = self.next_test();
        let millis = (duration.0 / 1_000_000).unsigned_abs();
        match self.request(&ClientRequest::Expect { test, streams, millis }, Nanos::ZERO)? {
            ServerReply::Ready => Ok(test),
            reply => Err(self.unexpected(what, reply)),
        }
    }

    /// Returns what the server has measured of the streams of a test.
    fn collect_flows(&mut self, what: &str, test: u32) -> Result<Vec<FlowResult>, UserError> {
        match self.request(&ClientRequest::Collect { test, sent: 0 }, Nanos::ZERO)? {
            ServerReply::Flows(flows) => Ok(flows),
            reply => Err(self.unexpected(what, reply)),
        }
    }

    fn unexpected(&self, what: &str, reply: ServerReply) -> UserError {
        let reason = match reply {
            ServerReply::Refused(reason) => reason.chars().filter(|c| !c.is_control()).take(200).collect(),
            _ => "it sent another answer than expected".to_owned(),
        };
        error::test_failed(what, &self.server.to_string(), &reason)
    }

    /// Opens a data connection.
    fn open(&self, kind: DataKind, (test, stream): (u32, u32)) -> Result<TcpStream, UserError> {
        let header = DataHeader { kind, session: self.session, test, stream };
        let opened = open_stream(self.server, &header.encode(&self.key));
        opened.map_err(|error| error::cannot_connect(&self.server.to_string(), &error))
    }
}

fn open_stream(server: SocketAddr, header: &[u8]) -> std::io::Result<TcpStream> {
    use std::io::Write as _;
    let stream = TcpStream::connect_timeout(&server, CONNECT_WAIT)?;
    let _ = set_tcp_user_timeout(&stream, USER_TIMEOUT_MS);
    stream.set_nodelay(true)?;
    (&stream).write_all(header)?;
    Ok(stream)
}

fn link(interface: &str, bits_per_s: u64) -> NetLinkDoc {
    let interface = interface.chars().filter(|c| !c.is_control()).take(32).collect();
    let bits_per_s = (bits_per_s > 0).then_some(Number(bits_per_s as f64));
    NetLinkDoc { host: String::new(), interface, bits_per_s }
}
