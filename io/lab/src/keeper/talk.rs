//! [`Talk`]: questions to a host and its answers, which come in the same order.

use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use serde_json::Value;

use crate::line::Line;

/// So many answers a host may owe before it is asked no more: what is sent to one that stands still lies in its socket.
const OWED_MAX: u32 = 32;

/// The keeper's end of the line to a host. Who asks may give up before the answer is there; it is skipped when it comes.
#[derive(Debug)]
pub(super) struct Talk {
    line: Line,
    /// Answers that are still to come and that nobody waits for.
    owed: u32,
}

impl Talk {
    pub(super) const fn new(line: Line) -> Self {
        Self { line, owed: 0 }
    }

    /// Asks. Fails where the host is gone, or owes too many answers.
    pub(super) fn send(&mut self, question: &Value) -> Result<()> {
        if self.owed >= OWED_MAX {
            return Err(Error::from(ErrorKind::WouldBlock));
        }
        self.line.send(question)
    }

    /// The answer to the last question, however long it takes; `None` if the host is gone.
    pub(super) fn receive(&mut self) -> Result<Option<Value>> {
        while self.owed > 0 {
            if self.line.receive()?.is_none() {
                return Ok(None);
            }
            self.owed -= 1;
        }
        self.line.receive()
    }

    /// The same within `limit`; `WouldBlock` if it is not there by then, and may be asked for again.
    pub(super) fn receive_within(&mut self, limit: Duration) -> Result<Option<Value>> {
        // No time at all would be no limit.
        self.line.patience(Some(limit.max(Duration::from_millis(1))))?;
        let received = self.receive();
        self.line.patience(None)?;
        received
    }

    /// Nobody waits for the answer to the last question any more.
    pub(super) const fn give_up(&mut self) {
        self.owed += 1;
    }
}

impl AsFd for Talk {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_that_comes_too_late_is_nobodys() {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        let (mut talk, mut host) = (Talk::new(Line::new(ours)), Line::new(theirs));
        for question in 1..=2 {
            talk.send(&json!(question)).expect("there is room");
            let late = talk.receive_within(Duration::from_millis(5));
            assert_eq!(late.map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
            talk.give_up();
        }
        talk.send(&json!(3)).expect("there is room");
        for _ in 1..=3 {
            let question = host.receive().expect("readable");
            host.send(&json!({ "answer": question })).expect("there is room");
        }
        assert_eq!(talk.receive().expect("readable"), Some(json!({ "answer": 3 })));
        drop(host);
        assert_eq!(talk.receive().expect("readable"), None);
    }

    #[test]
    fn who_owes_much_is_asked_no_more() {
        let (ours, _theirs) = UnixStream::pair().expect("sockets can be made");
        let mut talk = Talk::new(Line::new(ours));
        let asked =
            (0..2 * OWED_MAX).take_while(|_| talk.send(&json!("?")).map(|()| talk.give_up()).is_ok()).count();
        assert_eq!(asked, OWED_MAX as usize);
    }
}
