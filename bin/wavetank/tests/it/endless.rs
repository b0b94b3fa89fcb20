//! Servers that send without end: the request fails in the right class, the run goes on, and the
//! memory of the program stays bounded.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wavetank_testkit::{
    FrameReply, FrameServer, MessageReply, MessageServer, RunHarness, RunResult, frame, message_frame,
    text_frame,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];
/// A server sends no more than this on a connection.
const SENT_BYTES_MAX: usize = 128 << 20;
/// The most memory of a run with bodies up to a MiB, from a build without optimisation.
const MEMORY_BYTES_MAX: u64 = 96 << 20;

/// A server that reads the head of a request, and then only sends until the client closes.
struct Endless {
    address: SocketAddr,
    sent: Arc<AtomicU64>,
}

impl Endless {
    fn start(begin: String, again: &'static [u8]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let (address, sent) = (listener.local_addr().expect("an address"), Arc::<AtomicU64>::default());
        let own = Arc::clone(&sent);
        // The thread ends with the process.
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let _ = send_endlessly(client, begin.as_bytes(), again, &own);
            }
        });
        Self { address, sent }
    }
}

fn send_endlessly(
    mut client: TcpStream,
    begin: &[u8],
    again: &[u8],
    sent: &AtomicU64,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    client.write_all(begin)?;
    let block = again.repeat((64 << 10) / again.len() + 1);
    let mut left = SENT_BYTES_MAX;
    while left > 0 {
        client.write_all(&block)?;
        sent.fetch_add(block.len() as u64, Ordering::SeqCst);
        left = left.saturating_sub(block.len());
    }
    while client.read(&mut [0; 1024])? > 0 {}
    Ok(())
}

#[track_caller]
fn expect_small(result: &RunResult) {
    result.conserved();
    let peak = result.count("generator.peak_rss_bytes");
    assert!(peak < MEMORY_BYTES_MAX, "{} MiB: {result}", peak >> 20);
}

/// Two requests of `steps` for a server that sends `begin`, and then `again` without end. Both fail
/// in `class`, after at most `read_max` bytes.
#[track_caller]
fn check(scheme: &str, step: &str, begin: &str, again: &'static [u8], (class, read_max): (&str, u64)) {
    for engine in ENGINES {
        let server = Endless::start(begin.to_owned(), again);
        let text = format!(
            "wavetank: 1\ntarget: {scheme}://{}/\nhttp: {{body_max: 1MiB, timeout: 20s}}\nsteps: [{step}]\n\
             phases: [{{users: 1, sessions: 2}}]\n",
            server.address
        );
        let harness = RunHarness::new(PROGRAM);
        let file = harness.place().write("x.yaml", text);
        let outcome = harness.load(&file, ["--no-probe", "--engine", engine]).run();
        let result = outcome.result();
        // If the machine is slow, the second request may start too late and is dropped.
        let failed = result.count(&format!("errors.{class}"));
        let dropped = result.count_or_zero("dropped_by.behind");
        assert!(failed >= 1 && failed + dropped == 2, "{again:?}: {outcome}");
        expect_small(&result);
        // What is in the buffers of both kernels is not read.
        let sent = server.sent.load(Ordering::SeqCst);
        assert!(sent < 2 * (read_max + (24 << 20)), "{sent} bytes: {outcome}");
    }
}

#[test]
fn responses_without_end() {
    const MIB: u64 = 1 << 20;
    let head = "HTTP/1.1 200 OK\r\n";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let get = "{get: /, check: body contains x}";
    check("http", get, head, b"Name: value\r\n", ("protocol", MIB));
    check("http", get, head, b"n", ("protocol", MIB));
    check("http", get, "", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", ("protocol", MIB));
    check("http", get, &format!("{chunked}1;"), b"e", ("protocol", MIB));
    check("http", get, &format!("{chunked}0\r\n"), b"Name: value\r\n", ("protocol", MIB));
    check("http", get, &format!("{head}\r\n"), b"body", ("body_limit", 2 * MIB));
    check("http", get, chunked, b"1\r\nx\r\n", ("body_limit", 8 * MIB));
}

#[test]
fn event_streams_without_end() {
    const MIB: u64 = 1 << 20;
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let wait = "{sse.wait: any}";
    check("sse", wait, head, b"line", ("body_limit", 2 * MIB));
    check("sse", wait, head, b"data: x\n", ("body_limit", 10 * MIB));
    check("sse", wait, &format!("{head}:"), b"comment", ("body_limit", 2 * MIB));
}

/// A flood of pings from a server that reads none of the answers; then it answers the message.
#[test]
fn pings_that_are_not_read() {
    let ping = message_frame(9, &[b'p'; 125]);
    for engine in ENGINES {
        let flood = [ping.repeat(SENT_BYTES_MAX / ping.len()), text_frame("hi")].concat();
        let server = MessageServer::start(Vec::new(), move |_| MessageReply::Send(flood.clone()));
        let words = ["-c", "1", "-n", "1", "--no-probe", "--timeout", "60s", "--engine", engine];
        let outcome = RunHarness::new(PROGRAM).load(&server.url("/"), words).run();
        let result = outcome.result();
        assert_eq!(result.count("requests.done"), 1, "{outcome}");
        expect_small(&result);
    }
}

/// A message of fragments without end, in short and in long ones.
#[test]
fn messages_without_end() {
    let fragment = |length: usize| [&[0, 126], &(length as u16).to_be_bytes()[..], &vec![0; length]].concat();
    let cases = [(64, "protocol"), (65_535, "body_limit")];
    for (engine, (length, class)) in ENGINES.into_iter().flat_map(|engine| cases.map(|case| (engine, case))) {
        let fragment = fragment(length);
        let mut flood = fragment.repeat(SENT_BYTES_MAX / fragment.len());
        // The first fragment says that the message is binary.
        flood[0] = 2;
        let server = MessageServer::start(Vec::new(), move |_| MessageReply::Send(flood.clone()));
        let words = ["-c", "1", "-n", "2", "--no-probe", "--timeout", "60s", "--engine", engine];
        let outcome = RunHarness::new(PROGRAM).load(&server.url("/"), words).run();
        let result = outcome.result();
        assert_eq!(result.count(&format!("errors.{class}")), 2, "{outcome}");
        expect_small(&result);
    }
}

/// HTTP/2: pings or settings among data, which would be progress if the server read the answers.
#[test]
fn control_frames_that_are_not_read() {
    let head = frame(1, 4, 1, &[0x88]);
    let ping = frame(6, 0, 0, &[7; 8]);
    let settings = frame(4, 0, 0, &[0, 3, 0, 0, 0, 100]);
    for (engine, control) in ENGINES.into_iter().flat_map(|engine| [(engine, &ping), (engine, &settings)]) {
        let again = [control.repeat(1_000), frame(0, 0, 1, b"x")].concat();
        let flood = [&head[..], &again.repeat((64 << 20) / again.len())].concat();
        let server = FrameServer::start(&[], move |_| FrameReply::Send(flood.clone()));
        let words =
            ["-c", "1", "-n", "2", "--http", "2", "--no-probe", "--timeout", "60s", "--engine", engine];
        let outcome = RunHarness::new(PROGRAM).load(&server.url(), words).run();
        let result = outcome.result();
        assert_eq!(result.count("errors.protocol"), 2, "{outcome}");
        assert!(outcome.stdout.contains("control frames without end"), "{outcome}");
        expect_small(&result);
    }
}

/// The same on a connection of which the streams take the place of connections.
#[test]
fn control_frames_around_event_streams_that_are_not_read() {
    let head = frame(1, 4, 1, b"\x88\x0f\x10\x11text/event-stream");
    let again = [frame(6, 0, 0, &[7; 8]).repeat(1_000), frame(0, 0, 1, b":\n")].concat();
    let flood = [&head[..], &again.repeat((64 << 20) / again.len())].concat();
    for engine in ENGINES {
        let flood = flood.clone();
        let server = FrameServer::start(&[], move |_| FrameReply::Send(flood.clone()));
        let text = format!(
            "wavetank: 1\ntarget: {}\nhttp: {{version: 2, timeout: 60s}}\nsteps: [{{sse.wait: any}}]\n\
             phases: [{{users: 1, sessions: 2}}]\n",
            server.url().replace("http:", "sse:")
        );
        let harness = RunHarness::new(PROGRAM);
        let file = harness.place().write("x.yaml", text);
        let outcome = harness.load(&file, ["--no-probe", "--engine", engine]).run();
        let result = outcome.result();
        assert_eq!(result.count("errors.protocol"), 2, "{outcome}");
        assert!(outcome.stdout.contains("control frames without end"), "{outcome}");
        expect_small(&result);
    }
}
