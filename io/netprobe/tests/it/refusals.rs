//! What a server and a client do not accept.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use serde_json::{Value, json};
use wavetank_netbench::{DataHeader, DataKind, NetTest, SessionKey, Token};
use wavetank_netprobe::{NetClient, NetServer, ServerLimits};
use wavetank_units::Nanos;

use crate::{VERSION, measure, server};

/// Returns the code of the error of a connection to `server`.
fn code(server: SocketAddr, token: &Token) -> &'static str {
    NetClient::connect(server, token, VERSION).map_or_else(|error| error.code.as_str(), |_| "connected")
}

#[test]
fn another_token_is_refused() {
    let (server, token) = server(1);
    assert_eq!(code(server.address(), &Token::from_random([8; 16])), "net_token");
    assert_eq!(code(server.address(), &token), "connected");
    server.end();
}

#[test]
fn a_server_has_a_number_of_clients() {
    let (server, token) = server(1);
    let first = NetClient::connect(server.address(), &token, VERSION).expect("it is the first");
    assert_eq!(code(server.address(), &token), "net_busy");
    drop(first);
    server.end();
}

#[test]
fn a_server_ends_after_its_time() {
    let limits = ServerLimits { peers: 1, lasts: Nanos::from_millis(50) };
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let token = Token::from_random([9; 16]);
    let server = NetServer::start(listen, token.clone(), VERSION, limits).expect("a port is free");
    let address = server.address();
    while !server.is_over() {
        std::thread::yield_now();
    }
    server.end();
    assert_eq!(code(address, &token), "net_refused");
}

#[test]
fn another_version_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client comes");
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).expect("a greeting");
        let greeting: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(greeting["wavetank_net"], json!(1));
        let answer = json!({"wavetank_net": 9, "version": "7.0.0", "nonce": "00"});
        stream.write_all(format!("{answer}\n").as_bytes()).expect("the client reads");
    });
    let error = NetClient::connect(address, &Token::from_random([9; 16]), VERSION).expect_err("it differs");
    assert_eq!(error.code, "net_version");
    assert!(error.message.contains("7.0.0"), "{}", error.message);
    thread.join().expect("the greeting was right");
}

#[test]
fn another_program_is_not_a_server() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client comes");
        stream.write_all(b"220 mail.example ESMTP\r\n").expect("the client reads");
    });
    assert_eq!(code(address, &Token::from_random([9; 16])), "net_protocol");
    thread.join().expect("it wrote");
}

#[test]
fn nothing_is_sent_to_a_client_without_a_proof() {
    let (server, _) = server(1);
    let mut answer = Vec::new();
    for request in
        [&b"GET / HTTP/1.1\r\n\r\n                                      "[..], &[0xff; 48], &b"WTN1"[..]]
    {
        let mut stream = TcpStream::connect(server.address()).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket");
        stream.write_all(request).expect("it reads");
        let _ = stream.shutdown(std::net::Shutdown::Write);
        // A reset is as good as an end.
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty(), "{request:?}: {answer:?}");
    }
    server.end();
}

/// A session that a test has made by hand.
struct Session {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    key: SessionKey,
    number: u64,
}

impl Session {
    fn new(server: SocketAddr, token: &Token) -> Self {
        let stream = TcpStream::connect(server).expect("it listens");
        let reader = BufReader::new(stream.try_clone().expect("a socket"));
        let key = token.session_key("00", "00");
        let mut session = Self { stream, reader, key, number: 0 };
        let hello = session.exchange(&json!({"wavetank_net": 1, "version": "x", "nonce": "00"}));
        let nonce = hello["nonce"].as_str().expect("a nonce").to_owned();
        let proof = session.exchange(&json!({"proof": token.client_proof("00", &nonce)}));
        session.number = proof["session"]["session"].as_u64().expect("a session");
        session.key = token.session_key("00", &nonce);
        session
    }

    fn exchange(&mut self, message: &Value) -> Value {
        self.stream.write_all(format!("{message}\n").as_bytes()).expect("it reads");
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line).expect("JSON")
    }
}

#[test]
fn datagrams_go_only_to_the_address_of_the_client() {
    const NO_ANSWER: Duration = Duration::from_millis(150);
    let (server, token) = server(1);
    let mut session = Session::new(server.address(), &token);
    let request = json!({"udp": {"test": 1, "direction": "reverse", "bytes": 64, "bits_per_s": 1_000_000, "millis": 200}});
    let port = session.exchange(&request)["udp_port"].as_u64().expect("a port") as u16;
    let header = DataHeader { kind: DataKind::Datagram, session: session.number, test: 1, stream: 0 };
    let target = SocketAddr::from(([127, 0, 0, 1], port));
    let is_answered = |socket: &UdpSocket, datagram: &[u8], wait: Duration| {
        socket.set_read_timeout(Some(wait)).expect("a socket");
        socket.send_to(datagram, target).expect("it is bound");
        socket.recv_from(&mut [0; 128]).is_ok()
    };
    let own = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    // Another address of this host, as a third party.
    let other = UdpSocket::bind("127.0.0.2:0").expect("the loopback has it");
    let sealed = header.encode(&session.key);
    let foreign = header.encode(&Token::from_random([1; 16]).session_key("00", "00"));
    assert!(!is_answered(&other, &sealed, NO_ANSWER), "it has the seal, but is not the client");
    assert!(!is_answered(&own, &foreign, NO_ANSWER), "it has another seal");
    assert!(is_answered(&own, &sealed, Duration::from_mins(1)));
    server.end();
}

#[test]
fn data_connections_need_a_test_that_expects_them() {
    let (server, token) = server(1);
    let mut session = Session::new(server.address(), &token);
    let is_echoed = |session: &Session, test: u32, stream: u32| {
        let header = DataHeader { kind: DataKind::Echo, session: session.number, test, stream };
        let mut data = TcpStream::connect(server.address()).expect("it listens");
        data.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket");
        let _ =
            data.write_all(&[header.encode(&session.key).as_slice(), &[0, 0, 0, 1, 0, 0, 0, 1, 77]].concat());
        let mut answer = [0];
        data.read_exact(&mut answer).is_ok() && answer == [77]
    };
    assert!(!is_echoed(&session, 1, 0), "no test was started");
    assert_eq!(
        session.exchange(&json!({"expect": {"test": 1, "streams": 1, "millis": 100}})),
        json!("ready")
    );
    assert!(!is_echoed(&session, 1, 1), "there is one stream, number 0");
    assert!(is_echoed(&session, 1, 0));
    assert!(!is_echoed(&session, 1, 0), "the header was used");
    for (request, reason) in [
        (json!({"expect": {"test": 1, "streams": 1, "millis": 100}}), "number of an earlier"),
        (json!({"expect": {"test": 2, "streams": 257, "millis": 100}}), "at most 128"),
        (json!({"expect": {"test": 2, "streams": 1, "millis": u64::MAX}}), "at most"),
    ] {
        let reply = session.exchange(&request);
        assert!(reply["refused"].as_str().is_some_and(|text| text.contains(reason)), "{request}: {reply}");
    }
    server.end();
}

#[test]
fn a_server_that_ends_in_the_middle_is_reported() {
    let (server, token) = server(1);
    let address = server.address();
    let ending = std::thread::spawn(move || {
        while server.poll_events().is_empty() {
            std::thread::yield_now();
        }
        server.end();
    });
    let doc = measure(address, &token, &[NetTest::RequestResponse, NetTest::Tcp, NetTest::Connect]);
    ending.join().expect("it ended");
    assert!(!doc.failures.is_empty(), "{doc:?}");
    let codes = ["net_peer_gone", "net_test_failed", "net_refused"];
    assert!(doc.failures.iter().all(|failure| codes.contains(&failure.code.as_str())), "{:?}", doc.failures);
}
