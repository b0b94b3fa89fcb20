//! UDP: against `wavetank serve --udp`, and against servers that lose, delay or refuse datagrams.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use serde_json::Value;
use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{Client, Outcome, Program, RunHarness, Serve, refusing_udp_socket};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];

fn serve(words: &[&str]) -> Serve {
    Serve::start(&Program::new(PROGRAM), &[&["--udp", "127.0.0.1:0"], words].concat())
}

fn load(url: &str, words: &str) -> Outcome {
    RunHarness::new(PROGRAM).load(url, words.split_whitespace()).run()
}

fn run(text: &str, engine: &str) -> Outcome {
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    harness.load(&file, ["--no-probe", "--engine", engine]).run()
}

/// Returns the number of datagrams that `serve` has received and sent.
fn datagrams(serve: &Serve) -> (u64, u64) {
    let answer = Client::connect(serve.address()).get("/truth");
    let counts: Value = serde_json::from_slice(&answer.body).expect("/truth is JSON");
    let count = |name: &str| counts["messages"][name].as_u64().expect("a number of datagrams");
    (count("received"), count("sent"))
}

/// A server that answers each datagram with the datagrams that a function returns for it, until
/// that returns `None`. An empty datagram ends it.
struct Scripted {
    address: SocketAddr,
    received: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Scripted {
    fn start(mut answers: impl FnMut(u64, &[u8]) -> Option<Vec<Vec<u8>>> + Send + 'static) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let address = socket.local_addr().expect("it is bound");
        let received = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&received);
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 2_048];
            loop {
                let (len, client) = socket.recv_from(&mut buffer).expect("the socket is open");
                if len == 0 {
                    return;
                }
                let number = count.fetch_add(1, Ordering::Relaxed);
                let Some(all) = answers(number, &buffer[..len]) else { return };
                for answer in all {
                    // The client may be gone by now.
                    let _ = socket.send_to(&answer, client);
                }
            }
        });
        Self { address, received, thread: Some(thread) }
    }

    fn url(&self) -> String {
        format!("udp://{}", self.address)
    }

    fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        let stopper = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        stopper.send_to(b"", self.address).expect("loopback delivers");
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            assert!(std::thread::panicking(), "the server failed");
        }
    }
}

#[test]
fn counts_are_those_of_the_server() {
    for engine in ENGINES {
        let serve = serve(&["--engine", engine]);
        let mut expected = 0;
        for (words, requests) in [("-c 3 -n 300", 300), ("-r 2000/s -n 400", 400)] {
            let outcome = load(&serve.udp_url(), &format!("{words} --engine {engine}"));
            outcome.expect_exit(0);
            let result = outcome.result();
            result.conserved();
            let counts = (result.count("requests.done"), result.count("requests.failed"));
            assert_eq!(counts, (requests, 0), "{words}: {result}");
            expected += requests;
            assert_eq!(datagrams(&serve), (expected, expected), "{words}: {result}");
            assert_eq!(result.count("connect_us.count"), 0, "no peer was asked to connect: {result}");
        }
    }
}

/// A whole journey: text, bytes and a file, an answer that is compared, and a datagram that a later
/// step reads.
#[test]
fn a_journey_of_datagrams() {
    for engine in ENGINES {
        let serve = serve(&[]);
        let harness = RunHarness::new(PROGRAM);
        harness.place().write("frame.bin", "\u{0}\u{1}frame");
        let text = format!(
            "wavetank: 1\ntarget: {}\nsteps:\n\
             \x20 - udp.send: \"user ${{user}}\"\n    read: any\n    check: body contains user\n\
             \x20   extract: {{u: 'regex /user ([0-9]+)/'}}\n\
             \x20 - udp.send: {{hex: \"0003 616263\"}}\n    read: any\n    match: bytes 0 2\n    check: size = 5B\n\
             \x20 - udp.send: {{file: frame.bin}}\n    read: any\n    check: size = 7B\n\
             \x20 - udp.send: one-way\n    name: note\n\
             \x20 - udp.read: any\n    check: body = one-way\n\
             phases: [{{users: 2, sessions: 20}}]\n",
            serve.udp_url()
        );
        let file = harness.place().write("x.yaml", text);
        let outcome = harness.load(&file, ["--engine", engine]).run();
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (100, 0), "{result}");
        assert_eq!((result.count("connections.opened"), datagrams(&serve)), (2, (80, 80)), "{result}");
    }
}

/// A lost datagram fails alone, as a request without an answer in time. Its socket stays.
#[test]
fn a_lost_datagram_fails_alone() {
    for engine in ENGINES {
        let server = Scripted::start(|number, datagram| {
            Some(if number % 10 == 9 { Vec::new() } else { vec![datagram.to_vec()] })
        });
        let outcome = load(&server.url(), &format!("-c 10 -n 100 --timeout 1s --engine {engine}"));
        let result = outcome.result();
        result.conserved();
        let (done, failed) = (result.count("requests.done"), result.count("requests.failed"));
        assert_eq!((server.received(), done + failed), (100, 100), "{result}");
        // On a machine that stalls for a second, more of them fail.
        assert!(failed >= 10 && result.count("errors.request_timeout") == failed, "{result}");
        let connections = ["opened", "lost"].map(|name| result.count(&format!("connections.{name}")));
        assert_eq!(connections, [10, 0], "{result}");
    }
}

/// The answer to the first request arrives after the second was sent. `match` distinguishes them.
#[test]
fn a_late_answer_counts_for_no_other_request() {
    for engine in ENGINES {
        let check = |matched: &str, class: &str| {
            let mut held = Vec::new();
            let server = Scripted::start(move |number, datagram| {
                held.push(datagram.to_vec());
                Some(if number % 2 == 0 { Vec::new() } else { std::mem::take(&mut held) })
            });
            let step = |text: &str, timeout: &str| {
                let condition = &text[3..];
                format!(
                    "  - udp.send: {text}\n    name: {condition}\n    read: any\n{matched}{timeout}    check: body contains {condition}\n"
                )
            };
            let text = format!(
                "wavetank: 1\ntarget: {}\nsteps:\n{}{}phases: [{{users: 1, sessions: 1}}]\n",
                server.url(),
                step("01 one", "    timeout: 100ms\n"),
                step("02 two", "")
            );
            let outcome = run(&text, engine);
            let result = outcome.result();
            result.conserved();
            assert_eq!(server.received(), 2, "{outcome}");
            assert_eq!(result.count("errors.request_timeout"), 1, "{outcome}");
            let failed = result.count("requests.failed");
            assert_eq!(result.count_or_zero(&format!("errors.{class}")), failed - 1, "{outcome}");
            failed
        };
        assert_eq!(check("    match: bytes 0 2\n", "check"), 1, "the second got its own answer");
        assert_eq!(check("", "check"), 2, "without match the late answer is the next datagram");
    }
}

#[test]
fn a_port_without_a_program_refuses() {
    for engine in ENGINES {
        let refusing = refusing_udp_socket();
        let url = format!("udp://{}", refusing.local_addr().expect("it is bound"));
        let result = load(&url, &format!("-c 2 -n 20 --engine {engine}")).result();
        result.conserved();
        assert_eq!(result.count("errors.connect_refused"), 20, "{result}");
    }
}

/// The server goes away in the middle of a run.
#[test]
fn a_server_that_ends_is_noticed() {
    for engine in ENGINES {
        let server = Scripted::start(|number, datagram| (number < 50).then(|| vec![datagram.to_vec()]));
        let result = load(&server.url(), &format!("-c 1 -n 100 --timeout 1s --engine {engine}")).result();
        result.conserved();
        // The datagram after the last answer was received and never answered.
        let classes = ["request_timeout", "connect_refused"]
            .map(|class| result.count_or_zero(&format!("errors.{class}")));
        assert_eq!((result.count("requests.done"), classes), (50, [1, 49]), "{result}");
    }
}

/// Datagrams without an answer are done once they were handed over, and are in no response time.
#[test]
fn one_way_datagrams_have_no_response_time() {
    for engine in ENGINES {
        let serve = serve(&[]);
        let text = format!(
            "wavetank: 1\ntarget: {}\nsteps:\n  - udp.send: note\n  - think: 1ms\n\
             phases: [{{users: 2, sessions: 100}}]\nthresholds: [done = 100]\n",
            serve.udp_url()
        );
        let result = run(&text, engine).result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (100, 0), "{result}");
        assert_eq!(result.at("response_us").get("count").and_then(Value::as_u64).unwrap_or(0), 0, "{result}");
    }
}

#[test]
fn what_udp_cannot_carry_is_refused() {
    for engine in ENGINES {
        let serve = serve(&[]);
        let long = "x".repeat(65_508);
        for value in ["", &long] {
            let text = format!(
                "wavetank: 1\ntarget: {}\nsteps:\n  - set: {{x: \"{value}\"}}\n\
                 \x20 - udp.send: \"${{x}}\"\n    read: any\n  - udp.send: good\n    read: any\n\
                 phases: [{{users: 1, sessions: 3}}]\n",
                serve.udp_url()
            );
            let result = run(&text, engine).result();
            result.conserved();
            let counts = (result.count("requests.done"), result.count("errors.data"));
            assert_eq!(counts, (3, 3), "{} bytes: {result}", value.len());
        }
        assert_eq!(datagrams(&serve), (6, 6));
    }
}

#[test]
fn one_user_is_shown_every_datagram() {
    let serve = serve(&[]);
    let text = format!(
        "wavetank: 1\ntarget: {}\nsteps:\n  - udp.send: ping\n    read: any\n  - udp.send: note\n\
         \x20 - udp.read: any\nphases: [{{users: 1, sessions: 1}}]\n",
        serve.udp_url()
    );
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    let tried = harness.program().args(["try", &file]).run();
    tried.expect_exit(0);
    for shown in ["> UDP datagram", "< UDP datagram", "ping", "> wait for a datagram", "< note"] {
        assert!(tried.stdout.contains(shown), "{shown}: {tried}");
    }
}

#[test]
fn a_freeze_shows() {
    for engine in ENGINES {
        let serve = serve(&["--freeze", "500ms", "--freeze-at", "200ms"]);
        let result = load(&serve.udp_url(), &format!("-r 100/s -d 1s --engine {engine}")).result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (100, 0), "{result}");
        assert!(result.number("response_us.max") >= 400_000.0, "{result}");
        assert_eq!(datagrams(&serve), (100, 100), "{result}");
    }
}

/// Loss in both directions on the way, by a packet filter in a network of its own: one of ten
/// requests, and of the others one of nine answers.
#[test]
fn loss_on_the_way_is_counted() {
    if !NetNs::available("loss_on_the_way_is_counted") {
        return;
    }
    if Program::foreign("nft").is_none() {
        return wavetank_testkit::skip("loss_on_the_way_is_counted", "`nft` is not installed");
    }
    for engine in ENGINES {
        let script = format!(
            "ip link set lo up; nft add table inet t; \
             nft add chain inet t i '{{ type filter hook input priority 0; }}'; \
             nft add rule inet t i udp dport 7000 numgen inc mod 10 == 0 drop; \
             nft add rule inet t i udp sport 7000 numgen inc mod 9 == 0 drop; \
             \"$0\" serve --listen 127.0.0.1:8080 --udp 7000 >serve.txt & serve=$!; trap 'kill $serve' EXIT; \
             tries=0; until grep -q serving serve.txt || [ $((tries += 1)) -gt 100000 ]; do :; done; \
             \"$0\" run udp://127.0.0.1:7000 -c 20 -n 200 --timeout 2s --engine {engine} --format json || [ $? = 1 ]"
        );
        let harness = RunHarness::new(PROGRAM);
        let outcome =
            NetNs::shell(&harness.program().arguments()[0], &script).in_folder(harness.place().path()).run();
        let result = outcome.expect_exit(0).result();
        result.conserved();
        let (done, failed) = (result.count("requests.done"), result.count("requests.failed"));
        assert_eq!(done + failed, 200, "{result}");
        // 20 requests and 20 of the 180 answers. A machine that stalls adds to them.
        assert!(failed >= 40 && failed == result.count("errors.request_timeout"), "{result}");
        assert_eq!(result.count("connections.lost"), 0, "{result}");
    }
}

#[test]
fn conflicts_are_explained() {
    let check = |words: &[&str], message: &str| {
        let outcome = Program::new(PROGRAM).args(["run"]).args(words.iter().copied()).run();
        outcome.expect_exit(2);
        assert!(outcome.stderr.contains(message), "{outcome}");
    };
    check(&["udp://127.0.0.1"], "has no port");
    check(&["udp://127.0.0.1:1/path"], "has a path, which UDP has not");
    check(&["udp://unix:/run/x.sock"], "is a Unix socket");
    check(&["udp://127.0.0.1:1", "--http", "2"], "HTTP/1.1");
    check(&["udp://127.0.0.1:1", "-X", "GET"], "no methods");
    check(&["udp://127.0.0.1:1", "--proxy", "http://127.0.0.1:2"], "carries no UDP");
    check(&["udp://127.0.0.1:1", "--proxy-protocol", "v1"], "not supported over UDP");
    check(&["udp://127.0.0.1:1", "--body", &"x".repeat(65_508)], "a datagram has at most 65,507 bytes");
}
