use super::*;
use crate::h1::ResponseHead;
use crate::messages::{MessageClient, Operation, Started};
use crate::raw::ReadRule;
use crate::ws::{ClientSink, MessageKind, MessageSink};

/// The datagrams that were passed on.
#[derive(Default)]
struct Heard {
    datagrams: Vec<Vec<u8>>,
    current: Vec<u8>,
}

impl MessageSink for Heard {
    fn begin(&mut self, _: MessageKind) {
        assert!(self.current.is_empty());
    }

    fn piece(&mut self, bytes: &[u8]) {
        self.current.extend_from_slice(bytes);
    }

    fn end(&mut self, length: u64) {
        assert_eq!(self.current.len() as u64, length);
        self.datagrams.push(std::mem::take(&mut self.current));
    }
}

impl ClientSink for Heard {
    fn upgraded(&mut self, _: &ResponseHead<'_>) {}
    fn refused(&mut self, _: &ResponseHead<'_>) {}
}

fn range(offset: u16, length: u16) -> MatchedRange {
    MatchedRange { offset, length }
}

/// Asks with `request` and receives `arrivals`. Expects these datagrams to be passed on.
#[track_caller]
fn check(matched: Option<MatchedRange>, request: &str, arrivals: &[&str], expected: &[&str]) {
    let (mut client, mut heard) = (Client::resume(false), Heard::default());
    client.ask(matched, request.as_bytes()).expect("it fits");
    assert_eq!(std::mem::take(client.out()), request.as_bytes());
    for arrival in arrivals {
        client.read(arrival.as_bytes(), &mut heard);
    }
    let expected: Vec<_> = expected.iter().map(|text| text.as_bytes().to_vec()).collect();
    assert_eq!(heard.datagrams, expected);
    assert_eq!(client.is_idle(), !expected.is_empty(), "it waits until an answer has come");
}

#[test]
fn one_datagram_is_the_answer() {
    check(None, "ping", &["pong", "pong again"], &["pong"]);
    check(None, "ping", &[], &[]);
    check(None, "ping", &["", "pong"], &["pong"]);
}

#[test]
fn an_answer_to_another_request_is_discarded() {
    check(Some(range(0, 2)), "02query", &["01late", "02right", "02twice"], &["02right"]);
    check(Some(range(2, 1)), "xxA", &["A", "xxB", "yyAzz"], &["yyAzz"]);
    check(Some(range(0, 2)), "02query", &["01late", "0", ""], &[]);
}

#[test]
fn an_answer_after_the_wait_is_no_answer() {
    for (keeps, expected) in [(false, 0), (true, 1)] {
        let (mut client, mut heard) = (Client::resume(keeps), Heard::default());
        client.ask(None, b"a").expect("it fits");
        client.stop_waiting();
        client.read(b"late", &mut heard);
        assert_eq!(heard.datagrams.len(), expected, "only kept where some step reads");
        assert!(!client.is_idle(), "the request was not taken yet");
    }
}

#[test]
fn what_udp_cannot_carry_is_not_sent() {
    let refused = |matched, length: usize, fault| {
        let mut client = Client::resume(false);
        assert_eq!(client.ask(matched, &vec![b'x'; length]), Err(fault));
        assert!(client.is_idle(), "nothing is sent or awaited");
    };
    refused(None, 0, SendFault::Empty);
    refused(None, DATAGRAM_BYTES_MAX + 1, SendFault::TooLong);
    refused(Some(range(4, 2)), 5, SendFault::EndsBeforeMatch);
    refused(Some(range(u16::MAX, u16::MAX)), DATAGRAM_BYTES_MAX, SendFault::EndsBeforeMatch);
    let mut client = Client::resume(false);
    assert_eq!(client.ask(Some(range(65_506, 1)), &vec![0; DATAGRAM_BYTES_MAX]), Ok(()));
    assert_eq!(client.out().len(), DATAGRAM_BYTES_MAX);
}

#[test]
fn operations_reach_the_socket() {
    let start = |bytes: &[u8]| {
        let mut client = MessageClient::Datagrams(Client::resume(true));
        let started = client.start(Operation::parse(bytes), &mut None, b"");
        (started, std::mem::take(client.out()))
    };
    let with = |operation: Operation<'_>, payload: &[u8]| [&operation.prefix()[..], payload].concat();
    let ask = with(Operation::Ask(ReadRule::Datagram(Some(range(0, 1))), b""), b"hi");
    assert_eq!(start(&ask), (Started::Sends, b"hi".to_vec()));
    let post = with(Operation::Post(MessageKind::Binary, b""), b"hi");
    assert_eq!(start(&post), (Started::Sends, b"hi".to_vec()));
    let empty = with(Operation::Post(MessageKind::Binary, b""), b"");
    assert_eq!(start(&empty), (Started::Refused(SendFault::Empty), Vec::new()));
    let read = with(Operation::Read(ReadRule::Datagram(None)), b"");
    assert_eq!(start(&read), (Started::Waits, Vec::new()));
}
