//! [`Http3Client`]: a client of HTTP/3, one connection, which can leave a stream unread.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    StreamEvent, StreamId, TransportConfig,
};
use wavetank_driver::{Clock, TlsClient, TlsServer, TlsServerOptions};
use wavetank_plan::{TlsPlan, TlsResume};
use wavetank_target::{ServeOptions, Server};
use wavetank_wire::h1::{Limits, ResponseEnd};
use wavetank_wire::h2::{ClientSink, StreamFailure};
use wavetank_wire::h3::records::{self, RecordKind};
use wavetank_wire::streams::StreamClient;

use crate::serve::client::serve;

/// The window of each stream: less than a response that a test does not read.
const STREAM_WINDOW: u32 = 20_000;
/// More turns than any exchange here takes, each of at most 10 ms.
const TURNS_MAX: u32 = 6_000;
const TURN: Duration = Duration::from_millis(10);

/// What a client has read, one line for each end.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) ends: Vec<String>,
}

impl ClientSink<u32> for Seen {
    fn began(&mut self, _: &mut u32) -> bool {
        false
    }

    fn body(&mut self, _: &mut u32, _: &[u8]) {}

    fn answered(&mut self, tag: u32, end: ResponseEnd) {
        self.ends.push(format!("{tag} {} {}", end.status, end.body_bytes));
    }

    fn failed(&mut self, tag: u32, failure: StreamFailure) {
        self.ends.push(format!("{tag} {failure:?}"));
    }
}

/// The TLS of a client. With `verify`, it rejects the certificates of tests.
pub(crate) fn client_tls(verify: bool, resume: TlsResume) -> TlsClient {
    let plan = TlsPlan { verify, resume, ..TlsPlan::for_tests(&["h3"]) };
    TlsClient::new(&plan, &["localhost".to_owned()]).expect("a good plan")
}

/// A server of HTTP/3 on a free port of loopback.
pub(crate) fn serve_http3() -> (Server, SocketAddr) {
    let options = TlsServerOptions::default();
    let tls = TlsServer::self_signed(&["localhost".to_owned()], &options).expect("a certificate");
    let http3 = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
    let (server, _) = serve(ServeOptions { tls: Some(Arc::new(tls)), http3, ..ServeOptions::default() });
    let address = server.http3_addresses()[0];
    (server, address)
}

/// One connection of HTTP/3 to a server of this process.
pub(crate) struct Http3Client {
    clock: Clock,
    socket: UdpSocket,
    to: SocketAddr,
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
    http: StreamClient<u32>,
    /// The stream that is not read.
    pub(crate) unread: Option<u64>,
    pub(crate) seen: Seen,
    pub(crate) has_ended: bool,
}

impl Http3Client {
    pub(crate) fn connect(to: SocketAddr) -> Self {
        let (tls, _) = client_tls(false, TlsResume::Never).quic_configs().remove(0);
        Self::connect_with(to, &Arc::new(QuicClientConfig::try_from(tls).expect("its cipher")))
    }

    /// As [`connect`](Self::connect), with the sessions of `tls`.
    pub(crate) fn connect_with(to: SocketAddr, tls: &Arc<QuicClientConfig>) -> Self {
        let mut client = Self::dial(to, tls);
        client.turn_until(|client| !client.connection.is_handshaking());
        let control = client.connection.streams().open(Dir::Uni);
        assert_eq!(control.map(u64::from), Some(2), "the server reads a control stream");
        client
    }

    /// Begins a handshake.
    pub(crate) fn dial(to: SocketAddr, tls: &Arc<QuicClientConfig>) -> Self {
        let clock = Clock::starting_now();
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        socket.set_read_timeout(Some(TURN)).expect("a positive timeout");
        let mut config = ClientConfig::new(Arc::clone(tls) as _);
        let mut transport = TransportConfig::default();
        transport.stream_receive_window(STREAM_WINDOW.into()).mtu_discovery_config(None);
        config.transport_config(Arc::new(transport));
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, false, None);
        let now = clock.now_with_instant().1;
        let (handle, connection) = endpoint.connect(now, config, to, "localhost").expect("a good name");
        let http = StreamClient::Http3(wavetank_wire::h3::Client::new(Limits::default()));
        let seen = Seen::default();
        Self { clock, socket, to, endpoint, handle, connection, http, unread: None, seen, has_ended: false }
    }

    /// Asks on the next stream, but for the last `held_back` bytes, which are returned.
    pub(crate) fn ask(&mut self, tag: u32, text: &str, held_back: usize) -> Vec<u8> {
        self.http.request(tag, text.as_bytes(), false).expect("a request");
        let out = std::mem::take(self.http.out());
        let mut rest = Vec::new();
        for record in records::read(&out) {
            let held_back = if record.kind == RecordKind::End { held_back } else { 0 };
            let (now, later) = record.bytes.split_at(record.bytes.len() - held_back);
            if record.stream & 2 == 0 {
                let opened = self.connection.streams().open(Dir::Bi).map(u64::from);
                assert_eq!(opened, Some(record.stream), "the server allows many streams");
            }
            self.write(record.stream, now, record.kind == RecordKind::End && held_back == 0);
            rest.extend_from_slice(later);
        }
        rest
    }

    /// Sends bytes on a stream, which are few.
    pub(crate) fn write(&mut self, stream: u64, bytes: &[u8], is_end: bool) {
        let id = self.id(stream);
        let mut stream = self.connection.send_stream(id);
        assert_eq!(stream.write(bytes), Ok(bytes.len()));
        if is_end {
            stream.finish().expect("it is open");
        }
    }

    /// Reads the stream that was left unread.
    pub(crate) fn read_all(&mut self) {
        if let Some(stream) = self.unread.take() {
            self.read(self.id(stream));
        }
    }

    fn id(&self, stream: u64) -> StreamId {
        let dir = if stream & 2 == 0 { Dir::Bi } else { Dir::Uni };
        StreamId::new(self.connection.side(), dir, stream >> 2)
    }

    /// Whether the server has announced that it closes the connection.
    pub(crate) fn is_parting(&self) -> bool {
        self.http.is_parting()
    }

    /// Exchanges datagrams until `is_over`.
    #[track_caller]
    pub(crate) fn turn_until(&mut self, mut is_over: impl FnMut(&Self) -> bool) {
        for _ in 0..TURNS_MAX {
            self.transmit();
            self.receive();
            self.poll();
            if is_over(self) {
                return self.transmit();
            }
        }
        panic!("it never happened: {:?}", self.seen);
    }

    fn now(&self) -> Instant {
        self.clock.now_with_instant().1
    }

    fn transmit(&mut self) {
        let (now, mut datagram) = (self.now(), Vec::new());
        while let Some(transmit) = self.connection.poll_transmit(now, 1, &mut datagram) {
            let sent = self.socket.send_to(&datagram[..transmit.size], self.to);
            assert_eq!(sent.ok(), Some(transmit.size));
            datagram.clear();
        }
    }

    fn receive(&mut self) {
        let (mut buffer, mut reply) = ([0; 2_048], Vec::new());
        if let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            let bytes = BytesMut::from(&buffer[..length]);
            let event = self.endpoint.handle(self.now(), from, None, None, bytes, &mut reply);
            if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                self.connection.handle_event(event);
            }
        }
        let now = self.now();
        if self.connection.poll_timeout().is_some_and(|at| at <= now) {
            self.connection.handle_timeout(now);
        }
    }

    fn poll(&mut self) {
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
        while let Some(event) = self.connection.poll() {
            match event {
                Event::ConnectionLost { .. } => self.has_ended = true,
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = self.connection.streams().accept(dir) {
                        self.read(id);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => self.read(id),
                _ => {}
            }
        }
    }

    fn read(&mut self, id: StreamId) {
        if self.unread == Some(id.into()) {
            return;
        }
        let mut out = Vec::new();
        let mut stream = self.connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => records::push(&mut out, id.into(), RecordKind::Data, &chunk.bytes),
                Ok(None) => {
                    records::push(&mut out, id.into(), RecordKind::End, &[]);
                    break;
                }
                Err(_) => break,
            }
        }
        let _ = chunks.finalize();
        self.http.read(&out, &mut self.seen).expect("a good server");
    }
}
