//! The fuzz target of UDP.

use crate::datagram::{Client, MatchedRange};
use crate::messages::{MessageClient, Operation, Started};
use crate::raw::ReadRule;

use super::transcript::Transcript;

/// Reads `data` as requests and datagrams of a server: the first byte chooses the range that an
/// answer has in common with its request. In what follows, a byte gives the length of a datagram,
/// and its highest bit whether we send it.
pub fn datagrams(data: &[u8]) {
    let Some((&choice, mut rest)) = data.split_first() else { return };
    let range = MatchedRange { offset: u16::from(choice & 3), length: u16::from(choice >> 2 & 3) };
    let matched = (range.length > 0).then_some(range);
    let prefix = Operation::Ask(ReadRule::Datagram(matched), b"").prefix();
    let mut client = MessageClient::Datagrams(Client::resume(choice & 0x80 != 0));
    let mut asked: Option<Vec<u8>> = None;
    while let Some((&length, more)) = rest.split_first() {
        let (datagram, more) = more.split_at(more.len().min(usize::from(length & 0x0f)));
        rest = more;
        if length & 0x80 != 0 {
            client.stop_waiting();
            asked = None;
            let request = [&prefix[..], datagram].concat();
            if client.start(Operation::parse(&request), &mut None, b"") == Started::Sends {
                assert_eq!(client.out(), datagram, "another datagram was sent");
                asked = Some(datagram.to_vec());
            }
            client.out().clear();
            continue;
        }
        let mut said = Transcript::default();
        assert_eq!(client.read(datagram, &mut said), Ok(()));
        let is_said = !said.events.is_empty();
        assert!(!(is_said && datagram.is_empty()), "an empty datagram was passed on");
        if let Some(request) = &asked
            && is_said
        {
            let common = |bytes: &[u8]| {
                let start = usize::from(range.offset);
                bytes.get(start..start + usize::from(range.length)).map(<[u8]>::to_vec)
            };
            let is_same = matched.is_none() || common(request) == common(datagram);
            assert!(is_same, "an answer to another request was taken");
            asked = None;
        }
    }
}
