//! HTTP/3: against `wavetank serve --http3`, and against the server of aioquic.

use std::net::UdpSocket;
use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{
    Outcome, Program, RunHarness, Serve, TestDir, is_left_to_long_form, poll_until, refusing_udp_socket, skip,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];
const AIOQUIC: &str = include_str!("http3_server.py");

fn serve(words: &[&str]) -> Serve {
    Serve::start(&Program::new(PROGRAM), &[&["--tls", "--http3", "127.0.0.1:0"], words].concat())
}

fn load(url: &str, words: &str) -> Outcome {
    let harness = RunHarness::new(PROGRAM);
    let fixed = ["--http", "3", "--insecure", "--no-probe"];
    harness.load(url, fixed.into_iter().chain(words.split_whitespace())).run()
}

fn run(text: &str, engine: &str) -> Outcome {
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    harness.load(&file, ["--insecure", "--no-probe", "--engine", engine]).run()
}

/// A server at a wildcard address answers from the address that was asked.
#[test]
fn a_wildcard_address_answers_from_the_asked_one() {
    let serve =
        Serve::start(&Program::new(PROGRAM), &["--tls", "--http3", "0.0.0.0:0", "--udp", "0.0.0.0:0"]);
    let elsewhere = |url: String| url.replace("0.0.0.0", "127.1.2.3");
    let https = elsewhere(format!("https://{}/", serve.http3_address()));
    for outcome in [
        load(&https, "-c 2 -n 20"),
        RunHarness::new(PROGRAM).load(&elsewhere(serve.udp_url()), ["-n", "20", "-c", "2"]).run(),
    ] {
        assert_eq!(outcome.expect_exit(0).result().count("requests.done"), 20, "{outcome}");
    }
}

/// Returns what the server has counted, asked for over HTTP/3.
fn truth(serve: &Serve) -> Value {
    let url = format!("https://{}/truth", serve.http3_address());
    let words = ["run", &url, "--once", "--http", "3", "--insecure"];
    let outcome = RunHarness::new(PROGRAM).program().args(words).run();
    outcome.expect_exit(0);
    let start = outcome.stdout.find("{\"").unwrap_or_else(|| panic!("no counts: {outcome}"));
    serde_json::Deserializer::from_str(&outcome.stdout[start..])
        .into_iter()
        .next()
        .and_then(Result::ok)
        .unwrap_or_else(|| panic!("no JSON: {outcome}"))
}

#[test]
fn counts_are_those_of_the_server() {
    for engine in ENGINES {
        let serve = serve(&[]);
        let url = format!("https://{}/bytes/2000", serve.http3_address());
        let mut expected = 0;
        for words in [
            "-c 3 -n 300",
            "-c 3 --streams 20 -n 3000",
            "-r 1000/s -n 400 --streams 4",
            "-c 2 -n 20 --no-keepalive",
        ] {
            let outcome = load(&url, &format!("{words} --engine {engine}"));
            outcome.expect_exit(0);
            let result = outcome.result();
            let wanted = words.split_once("-n ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
            result.conserved();
            assert_eq!(Some(result.count("requests.done")), wanted, "{words}: {result}");
            expected += wanted.unwrap_or(0);
            assert_eq!(truth(&serve)["requests"].as_u64(), Some(expected), "{words}: {result}");
            // A handshake takes more than one packet.
            assert!(result.count("packets.sent") > result.count("connections.opened"), "{words}: {result}");
            let opened = result.count("connections.opened");
            assert_eq!(result.count("connect_us.count"), opened, "the handshake is the connect: {result}");
        }
    }
}

/// One journey: what is sent comes back, and a value of a response is used later. The bodies take
/// more than one datagram, and more than one window.
#[test]
fn a_journey_sends_and_reads_bodies() {
    for engine in ENGINES {
        let serve = serve(&[]);
        let harness = RunHarness::new(PROGRAM);
        harness.place().write("big.txt", "0123456789".repeat(90_000));
        let text = format!(
            "wavetank: 1\ntarget: https://{}\nhttp: {{version: 3}}\nsteps:\n\
             \x20 - post: /echo\n    json: {{id: \"${{user}}\"}}\n    extract: {{id: json $.id}}\n\
             \x20 - get: /bytes/5000000?id=${{id}}\n    check: size = 5000000B\n\
             \x20 - {{post: /echo, file: big.txt, check: size = 900000B}}\n\
             \x20 - {{get: /status/201, check: status = 201}}\n\
             phases: [{{users: 2, sessions: 4}}]\n",
            serve.http3_address()
        );
        let file = harness.place().write("x.yaml", text);
        let outcome = harness.load(&file, ["--insecure", "--no-probe", "--engine", engine]).run();
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (16, 0), "{result}");
        assert_eq!(result.count("connections.opened"), 2, "{result}");
        assert_eq!(truth(&serve)["requests"].as_u64(), Some(16), "{result}");
    }
}

#[test]
fn one_request_is_shown() {
    let serve = serve(&[]);
    let url = format!("https://{}/", serve.http3_address());
    let words = ["run", &url, "--once", "--http", "3", "--insecure"];
    let once = RunHarness::new(PROGRAM).program().args(words).run();
    once.expect_exit(0);
    assert!(once.stdout.contains("> GET / HTTP/3") && once.stdout.contains("< HTTP/3 200"), "{once}");
}

/// The server of aioquic, an independent implementation of QUIC, HTTP/3 and QPACK.
#[test]
fn aioquic_answers() {
    let name = "aioquic_answers";
    let Some(python) = Program::foreign("python3") else { return skip(name, "python3 is not installed") };
    if python.clone().args(["-c", "import aioquic"]).run().exit != Some(0) {
        return skip(name, "python3 has no aioquic");
    }
    for (engine, mode) in [(ENGINES[0], "plain"), (ENGINES[1], "retry")] {
        let place = TestDir::new();
        let (script, ready) = (place.write("server.py", AIOQUIC), place.path().join("port"));
        let server = python.clone().args([script.as_str(), &ready.display().to_string(), mode]).start();
        let port = poll_until(Duration::from_mins(1), || {
            std::fs::read_to_string(&ready).ok().filter(|port| port.ends_with('\n'))
        });
        let Some(port) = port else { panic!("the server does not start: {}", server.stderr()) };
        let target = format!("https://127.0.0.1:{}", port.trim());
        let outcome = load(&format!("{target}/3000"), &format!("-c 2 --streams 4 -n 200 --engine {engine}"));
        outcome.expect_exit(0);
        let result = outcome.result();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (200, 0), "{result}");
        assert!(result.count("bytes.received") >= 600_000, "{result}");
        let text = format!(
            "wavetank: 1\ntarget: {target}\nhttp: {{version: 3}}\nsteps:\n\
             \x20 - post: /echo\n    json: {{id: \"user ${{user}}\"}}\n    check: [\"json $.id matches /^user/\", \"header server = aioquic\"]\n\
             phases: [{{users: 2, sessions: 20}}]\n"
        );
        let result = run(&text, engine).expect_exit(0).result();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (20, 0), "{result}");
        let answered =
            poll_until(Duration::from_mins(1), || (server.stdout().lines().count() == 220).then_some(()));
        assert!(answered.is_some(), "{} requests", server.stdout().lines().count());
    }
}

#[test]
fn failures_have_their_class() {
    let serve = serve(&[]);
    let refusing = refusing_udp_socket();
    let closed = refusing.local_addr().expect("it is bound");
    // It receives, and never answers.
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let silent = silent.local_addr().map(|address| (silent, address)).expect("it is bound");
    for engine in ENGINES {
        let check = |url: &str, words: &str, class: &str| {
            let harness = RunHarness::new(PROGRAM);
            let fixed = ["--http", "3", "--no-probe", "--engine", engine];
            let outcome = harness.load(url, fixed.into_iter().chain(words.split_whitespace())).run();
            let result = outcome.result();
            result.conserved();
            assert_eq!(result.count(&format!("errors.{class}")), 4, "{outcome}");
        };
        let url = format!("https://{}/", serve.http3_address());
        check(&url, "-c 2 -n 4", "tls");
        check(&format!("https://{closed}/"), "-c 2 -n 4 --insecure", "connect_refused");
        let words = "-c 2 -n 4 --insecure --connect-timeout 200ms --timeout 1s";
        check(&format!("https://{}/", silent.1), words, "connect_timeout");
        let words = "-c 2 -n 4 --insecure --timeout 1s";
        check(&format!("https://{}/delay/10s", serve.http3_address()), words, "request_timeout");
    }
}

#[test]
fn a_freeze_shows() {
    for engine in ENGINES {
        let serve = serve(&["--freeze", "500ms", "--freeze-at", "200ms"]);
        let url = format!("https://{}/", serve.http3_address());
        let result = load(&url, &format!("-r 100/s -d 1s --engine {engine}")).result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (100, 0), "{result}");
        assert!(result.number("response_us.max") >= 400_000.0, "{result}");
    }
}

/// The server forgets a client that leaves in the middle of a long response.
#[test]
fn clients_that_leave_are_forgotten() {
    let serve = serve(&[]);
    let url = format!("https://{}/bytes/2000000000", serve.http3_address());
    load(&url, "-c 3 -d 1s --drain 0s").result();
    let open = || truth(&serve)["connections"]["open"].as_u64().filter(|open| *open == 0);
    assert!(poll_until(Duration::from_mins(1), open).is_some(), "{}", truth(&serve));
}

/// One of ten datagrams is lost in each direction. All requests are answered all the same.
#[test]
fn loss_is_repaired() {
    if !NetNs::available("loss_is_repaired") {
        return;
    }
    if Program::foreign("nft").is_none() {
        return skip("loss_is_repaired", "`nft` is not installed");
    }
    for engine in ENGINES {
        let script = format!(
            "ip link set lo up; nft add table inet t; \
             nft add chain inet t i '{{ type filter hook input priority 0; }}'; \
             nft add rule inet t i udp dport 8443 numgen inc mod 10 == 7 counter drop; \
             nft add rule inet t i udp sport 8443 numgen inc mod 10 == 7 counter drop; \
             \"$0\" serve --listen 127.0.0.1:8080 --tls --http3 8443 >serve.txt & serve=$!; \
             trap 'kill $serve' EXIT; \
             tries=0; until grep -q serving serve.txt || [ $((tries += 1)) -gt 100000 ]; do :; done; \
             \"$0\" run https://127.0.0.1:8443/bytes/3000 --http 3 --insecure -c 4 --streams 4 -n 400 \
             --engine {engine} --format json"
        );
        let harness = RunHarness::new(PROGRAM);
        let outcome =
            NetNs::shell(&harness.program().arguments()[0], &script).in_folder(harness.place().path()).run();
        let result = outcome.expect_exit(0).result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (400, 0), "{result}");
        let (sent, lost) = (result.count("packets.sent"), result.count("packets.lost"));
        assert!(lost > 0 && lost < sent, "{result}");
    }
}

#[test]
fn conflicts_are_explained() {
    let check = |words: &[&str], message: &str| {
        let outcome = Program::new(PROGRAM).args(["run"]).args(words.iter().copied()).run();
        outcome.expect_exit(2);
        assert!(outcome.stderr.contains(message), "{outcome}");
    };
    check(&["http://127.0.0.1:1", "--http", "3"], "HTTP/3 always uses TLS");
    check(&["https://127.0.0.1:1", "--http", "3", "--proxy", "http://127.0.0.1:2"], "through a proxy");
    check(&["https://127.0.0.1:1", "--http", "3", "--proxy-protocol", "v1"], "not supported over QUIC");
    check(&["https://127.0.0.1:1", "--http", "3", "--pipeline", "2"], "exclude each other");
    check(&["https://127.0.0.1:1", "--http", "3", "--alpn", "h2"], "offered alone");
    check(&["https://unix:/run/x.sock:/", "--http", "3"], "Unix sockets");
    check(&["wss://127.0.0.1:1", "--http", "3"], "HTTP/1.1");
    let serve = Program::new(PROGRAM).args(["serve", "--http3", "0"]).run();
    serve.expect_exit(2);
    assert!(serve.stderr.contains("HTTP/3 always uses TLS"), "{serve}");
}

/// PING frames keep held connections open for longer than the 30 s after which silent ones end.
#[test]
fn held_connections_outlive_the_idle_timeout() {
    if is_left_to_long_form("held_connections_outlive_the_idle_timeout") {
        return;
    }
    let serve = serve(&[]);
    let harness = RunHarness::new(PROGRAM);
    let text = format!(
        "wavetank: 1\ntarget: https://{}\nhttp: {{version: 3, tls: {{verify: false}}}}\n\
         phases: [{{hold: 3, for: 40s}}]\n",
        serve.http3_address()
    );
    let file = harness.place().write("x.yaml", text);
    let outcome = harness.load(&file, ["--no-probe"]).run();
    outcome.expect_exit(0);
    let result = outcome.result();
    assert_eq!((result.count("connections.opened"), result.count("connections.lost")), (3, 0), "{result}");
}

/// Each user's first handshake is a full one, and all later ones resume a session.
#[test]
fn sessions_are_resumed() {
    for engine in ENGINES {
        let serve = serve(&[]);
        let url = format!("https://{}/", serve.http3_address());
        for (words, resumed) in [("never", 0), ("user", 18)] {
            let words = format!("-c 2 -n 20 --no-keepalive --tls-resume {words} --engine {engine}");
            let outcome = load(&url, &words);
            outcome.expect_exit(0);
            let result = outcome.result();
            let counts = ["tls.handshakes", "tls.resumed", "requests.done"].map(|name| result.count(name));
            assert_eq!(counts, [20, resumed, 20], "{words}: {outcome}");
        }
    }
}

/// What a server makes of a datagram.
type DatagramReply = fn(&[u8]) -> Vec<u8>;

/// A UDP server that answers each datagram with what `reply` makes of it, until it is dropped.
struct Datagrams {
    address: std::net::SocketAddr,
    stops: std::sync::Arc<std::sync::atomic::AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Datagrams {
    fn start(reply: DatagramReply) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let address = socket.local_addr().expect("it is bound");
        let stops = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stopped = std::sync::Arc::clone(&stops);
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 2_048];
            while let Ok((len, peer)) = socket.recv_from(&mut buffer)
                && !stopped.load(std::sync::atomic::Ordering::Relaxed)
            {
                let _ = socket.send_to(&reply(&buffer[..len]), peer);
            }
        });
        Self { address, stops, thread: Some(thread) }
    }
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        self.stops.store(true, std::sync::atomic::Ordering::Relaxed);
        let waker = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let _ = waker.send_to(b"", self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server ends");
        }
    }
}

/// The connection ids of a packet with a long header (RFC 8999 §5.1).
fn connection_ids(packet: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = packet.get(5..)?;
    let (to, rest) = rest.get(1..)?.split_at_checked(usize::from(rest[0]))?;
    let (from, _) = rest.get(1..)?.split_at_checked(usize::from(*rest.first()?))?;
    Some((to, from))
}

/// A server of another version, and servers that answer with anything but QUIC.
#[test]
fn answers_that_are_no_quic_of_ours() {
    let other_version = |packet: &[u8]| {
        let Some((to, from)) = connection_ids(packet) else { return Vec::new() };
        // A Version Negotiation packet (RFC 9000 §17.2.1).
        let mut answer = vec![0xc0, 0, 0, 0, 0, from.len() as u8];
        answer.extend_from_slice(from);
        answer.push(to.len() as u8);
        answer.extend_from_slice(to);
        answer.extend_from_slice(&[0xfa, 0xfa, 0xfa, 0xfa]);
        answer
    };
    // A Retry packet with a wrong integrity tag is discarded (RFC 9001 §5.8), as are packets that
    // are not authentic, and those that are too short.
    let bad_retry = |packet: &[u8]| {
        let Some((to, from)) = connection_ids(packet) else { return Vec::new() };
        let mut answer = vec![0xf0, 0, 0, 0, 1, from.len() as u8];
        answer.extend_from_slice(from);
        answer.push(to.len() as u8);
        answer.extend_from_slice(to);
        answer.extend_from_slice(&[7; 40]);
        answer
    };
    let cases: [(DatagramReply, &str); 5] = [
        (other_version, "tls"),
        (bad_retry, "connect_timeout"),
        (|packet| packet.to_vec(), "connect_timeout"),
        (|_| b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), "connect_timeout"),
        (|_| Vec::new(), "connect_timeout"),
    ];
    for (reply, class) in cases {
        let server = Datagrams::start(reply);
        for engine in ENGINES {
            let words = format!("-c 2 -n 2 --connect-timeout 200ms --timeout 1s --engine {engine}");
            let outcome = load(&format!("https://{}/", server.address), &words);
            let result = outcome.result();
            result.conserved();
            assert_eq!(result.count(&format!("errors.{class}")), 2, "{class}: {outcome}");
        }
    }
}
