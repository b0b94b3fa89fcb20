use super::*;
use crate::datagram::MatchedRange;
use crate::h1::ResponseHead;
use crate::ws::{ClientSink, MessageSink};

/// The answers, and how often one began.
#[derive(Default)]
struct Heard {
    answers: Vec<Vec<u8>>,
    current: Vec<u8>,
    begun: usize,
}

impl MessageSink for Heard {
    fn begin(&mut self, _: crate::ws::MessageKind) {
        self.begun += 1;
    }

    fn piece(&mut self, bytes: &[u8]) {
        self.current.extend_from_slice(bytes);
    }

    fn end(&mut self, length: u64) {
        assert_eq!(self.current.len() as u64, length);
        self.answers.push(std::mem::take(&mut self.current));
    }
}

impl ClientSink for Heard {
    fn upgraded(&mut self, _: &ResponseHead<'_>) {}
    fn refused(&mut self, _: &ResponseHead<'_>) {}
}

fn open() -> Client {
    let mut client = Client::new(20, true);
    client.connect();
    client
}

/// Reads `input` by `rule` at every split. Expects this answer, and what the next one by
/// [`ReadRule::Any`] is.
#[track_caller]
fn check(rule: ReadRule<'_>, input: &str, expected: Option<&str>, next: &str) {
    for cut in 0..=input.len() {
        let (mut client, mut heard) = (open(), Heard::default());
        client.wait(rule);
        client.read(&input.as_bytes()[..cut], &mut heard).unwrap();
        client.read(&input.as_bytes()[cut..], &mut heard).unwrap();
        assert_eq!(heard.answers.first().map(Vec::as_slice), expected.map(str::as_bytes), "{cut}");
        if expected.is_some() {
            assert_eq!(heard.begun, 1);
            client.wait(ReadRule::Any);
            client.read(b"", &mut heard).unwrap();
            assert_eq!(heard.answers.get(1).map_or(&b""[..], Vec::as_slice), next.as_bytes());
        }
    }
}

#[test]
fn answers_have_their_extent() {
    check(ReadRule::Until(b"\r\n"), "220 hi\r\n250", Some("220 hi\r\n"), "250");
    check(ReadRule::Until(b"aab"), "aaab", Some("aaab"), "");
    check(ReadRule::Until(b"\n"), "no end", None, "");
    check(ReadRule::Length(3), "abcd", Some("abc"), "d");
    check(ReadRule::Length(5), "abcd", None, "");
    check(ReadRule::Prefix(1), "\u{2}abc", Some("\u{2}ab"), "c");
    check(ReadRule::Prefix(4), "\0\0\0\0x", Some("\0\0\0\0"), "x");
    check(ReadRule::Prefix(2), "\0", None, "");
}

#[test]
fn everything_until_the_close_is_one_answer() {
    let (mut client, mut heard) = (open(), Heard::default());
    client.wait(ReadRule::Close);
    client.read(b"ab", &mut heard).unwrap();
    client.read(b"cd", &mut heard).unwrap();
    assert!(heard.answers.is_empty());
    assert!(client.end(&mut heard));
    assert_eq!(heard.answers, [b"abcd"]);
    let mut client = open();
    client.wait(ReadRule::Length(1));
    assert!(!client.end(&mut heard), "the end completes no other answer");
}

#[test]
fn memory_is_limited() {
    let too_long = |rule, input: &[u8]| {
        let mut client = open();
        client.wait(rule);
        assert_eq!(client.read(input, &mut Heard::default()), Err(Fault::AnswerTooLong));
        assert_eq!(client.read(b"", &mut Heard::default()), Err(Fault::AnswerTooLong));
    };
    too_long(ReadRule::Until(b"\n"), &[b'x'; 21]);
    too_long(ReadRule::Length(21), b"x");
    too_long(ReadRule::Prefix(8), &[0xff; 8]);
    too_long(ReadRule::Close, &[b'x'; 21]);
    let mut client = open();
    assert_eq!(client.read(&vec![0; (1 << 20) + 1], &mut Heard::default()), Err(Fault::Unread));
    let mut deaf = Client::resume(20, false);
    deaf.read(&vec![0; (1 << 20) + 1], &mut Heard::default()).unwrap();
    assert!(deaf.is_idle(), "nothing is kept where no step reads");
}

#[test]
fn rules_survive_their_encoding() {
    let rules = [
        ReadRule::Any,
        ReadRule::Until(b"\0\r\n"),
        ReadRule::Length(u64::MAX),
        ReadRule::Prefix(8),
        ReadRule::Close,
        ReadRule::Datagram(None),
        ReadRule::Datagram(Some(MatchedRange { offset: u16::MAX, length: 1 })),
    ];
    for rule in rules {
        let mut bytes = Vec::new();
        rule.write(&mut bytes);
        let whole = [&bytes[..], b"payload"].concat();
        assert_eq!(ReadRule::parse(&whole), Some((rule, &b"payload"[..])));
        for cut in 0..bytes.len() {
            assert_eq!(ReadRule::parse(&bytes[..cut]), None);
        }
    }
}
