//! Responses that are short on the wire and long when decompressed: the request fails in the right
//! class, the run goes on, and the memory of the program stays bounded.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use wavetank_testkit::{
    FrameReply, FrameRequest, FrameServer, MessageReply, MessageServer, RunHarness, Script, ScriptAction,
    Target, answer_with, frame, poll_until,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];
/// Length of a decompressed response.
const ZEROS: usize = 256 << 20;
/// The most memory of a run, from a build without optimisation.
const MEMORY_BYTES_MAX: u64 = 96 << 20;
/// [`ZEROS`] zeros in Brotli, from `brotliCompressSync` of Node.js with a window of 2^24.
const BROTLI_ZEROS: &[u8] = include_bytes!("zeros.br");
const PROTO: &str = "syntax = \"proto3\"; message Text { string text = 1; } \
                     service Echo { rpc Say(Text) returns (Text); }";

fn write_zeros(mut sink: impl std::io::Write, mut left: usize) {
    let block = vec![0; 64 << 10];
    while left > 0 {
        let part = left.min(block.len());
        sink.write_all(&block[..part]).expect("a write into memory");
        left -= part;
    }
}

fn gzip_zeros(count: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    write_zeros(&mut encoder, count);
    encoder.finish().expect("a write into memory")
}

/// RFC 8878: a frame of blocks that each repeat one byte.
fn zstd_zeros(count: usize) -> Vec<u8> {
    const BLOCK: usize = 128 << 10;
    // The magic number, no content size, a window of 128 KiB.
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x38];
    for left in (0..count / BLOCK).rev() {
        let head = u32::try_from(BLOCK << 3).expect("a short block") | 0b10 | u32::from(left == 0);
        bytes.extend_from_slice(&head.to_le_bytes()[..3]);
        bytes.push(0);
    }
    bytes
}

/// Runs `text` with both engines and expects that both requests fail because of a limit.
#[track_caller]
fn check(text: &str) {
    for engine in ENGINES {
        let harness = RunHarness::new(PROGRAM);
        harness.place().write("echo.proto", PROTO);
        let file = harness.place().write("x.yaml", text);
        let outcome = harness.load(&file, ["--no-probe", "--engine", engine]).run();
        let result = outcome.result();
        result.conserved();
        assert_eq!(result.count("errors.body_limit"), 2, "{outcome}");
        let peak = result.count("generator.peak_rss_bytes");
        assert!(peak < MEMORY_BYTES_MAX, "{} MiB: {outcome}", peak >> 20);
    }
}

fn experiment(target: &str, more: &str, step: &str) -> String {
    format!(
        "wavetank: 1\ntarget: {target}\n{more}\nsteps:\n\x20 - {step}\nphases: [{{users: 1, sessions: 2}}]\n"
    )
}

#[test]
fn bodies_of_http() {
    let check_body = |coding: &'static str, body: &[u8]| {
        let bytes = answer_with(200, &[("Content-Encoding", coding)], body);
        let target = Target::start(Script::new(move |_| vec![ScriptAction::Send(bytes.clone())]));
        let url = format!("http://{}/", target.address());
        let text = experiment(&url, "", "{get: /, check: body contains x}");
        check(&text);
    };
    let gzip = gzip_zeros(ZEROS);
    check_body("gzip", &gzip);
    let mut twice = GzEncoder::new(Vec::new(), Compression::best());
    twice.write_all(&gzip).expect("a write into memory");
    check_body("gzip, gzip", &twice.finish().expect("a write into memory"));
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    write_zeros(&mut zlib, ZEROS);
    check_body("deflate", &zlib.finish().expect("a write into memory"));
    check_body("br", BROTLI_ZEROS);
    check_body("zstd", &zstd_zeros(ZEROS));
}

#[test]
fn messages_of_websockets() {
    // One frame of a compressed message, without the end that RFC 7692 removes.
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    write_zeros(&mut encoder, 60 << 20);
    encoder.flush().expect("a write into memory");
    let zeros = encoder.get_ref();
    let zeros = zeros.strip_suffix(&[0, 0, 0xff, 0xff]).expect("the flush ends with an empty block");
    let mut bomb = wavetank_testkit::message_frame(2, zeros);
    bomb[0] |= 0x40;
    let server = MessageServer::start(Vec::new(), move |_| MessageReply::Send(bomb.clone()));
    let limits = "ws: {deflate: true}\nhttp: {body_max: 1MiB}";
    check(&experiment(&server.url("/"), limits, "{ws.send: hi, reply: any}"));
    assert!(server.messages() >= 4, "both engines sent two messages");
}

#[test]
fn messages_of_grpc() {
    let zeros = gzip_zeros(60 << 20);
    let length = u32::try_from(zeros.len()).expect("a short message").to_be_bytes();
    let message = [&[1], &length[..], &zeros].concat();
    let server = FrameServer::start(b"", move |request: FrameRequest| {
        let head = b"\x88\x0f\x10\x10application/grpc\0\x0dgrpc-encoding\x04gzip";
        let mut bytes = frame(1, 4, request.stream, head);
        for part in message.chunks(16_000) {
            bytes.extend(frame(0, 0, request.stream, part));
        }
        bytes.extend(frame(1, 5, request.stream, b"\0\x0bgrpc-status\x010"));
        FrameReply::Send(bytes)
    });
    let target = server.url().replace("http://", "grpc://").trim_end_matches('/').to_owned();
    let step = "{grpc.call: Echo/Say, json: {text: hi}, extract: {x: 'json $.text'}}";
    check(&experiment(&target, "grpc: {proto: echo.proto, gzip: true}", step));
    let sent = poll_until(Duration::from_secs(10), || (server.requests() >= 4).then_some(()));
    assert!(sent.is_some(), "both engines sent two calls");
}
