//! [`HostChannel`]: questions to a host and its answers, which come in the same order.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use serde_json::Value;

use crate::fault::FAULTS_MAX;
use crate::host::HostCommand;
use crate::json_socket::JsonSocket;
use crate::response;

/// So many answers a host may owe before it is asked no more: what is sent to one that stands still lies in its socket.
const OWED_MAX: usize = 32;
/// So many it may owe with ends of faults among them, which are short, and sent whatever else it owes.
const OWED_AND_ENDS_MAX: usize = OWED_MAX + FAULTS_MAX;
/// How long it is looked whether a host that owes much has answered.
const LOOK: Duration = Duration::from_millis(1);

/// The keeper's end of the line to a host. Who asks may give up before the answer is there; it is skipped when it comes.
#[derive(Debug)]
pub(super) struct HostChannel {
    line: JsonSocket,
    /// Answers that are still to come and that nobody waits for, in their order.
    owed: VecDeque<PendingReply>,
    /// Faults that began when nobody waited for them any more. There are no more of them than were owed.
    stray: Vec<u64>,
}

/// What an answer that nobody waits for is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PendingReply {
    /// Nobody knows of the fault: it is ended with the next question that is answered.
    Fault,
    Other,
}

impl HostChannel {
    pub(super) const fn new(line: JsonSocket) -> Self {
        Self { line, owed: VecDeque::new(), stray: Vec::new() }
    }

    /// Asks. Fails where the host is gone, or owes too many answers.
    pub(super) fn send(&mut self, question: &Value) -> Result<()> {
        self.send_if_owed_less(OWED_MAX, question)
    }

    /// Has the host end a fault, whose answer nobody waits for. Fails as [`send`](Self::send) does, but later.
    pub(super) fn send_end(&mut self, id: u64) -> Result<()> {
        self.send_if_owed_less(OWED_AND_ENDS_MAX, &HostCommand::FaultEnd(id).to_json())?;
        self.owed.push_back(PendingReply::Other);
        Ok(())
    }

    fn send_if_owed_less(&mut self, most: usize, question: &Value) -> Result<()> {
        if self.owed.len() >= most {
            // One that stood still may have gone on since, and answered.
            match self.within(LOOK, Self::catch_up) {
                Ok(false) => return Err(Error::from(ErrorKind::BrokenPipe)),
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                Ok(true) | Err(_) => {}
            }
        }
        if self.line.has_partial_write() || self.owed.len() >= most {
            return Err(Error::from(ErrorKind::WouldBlock));
        }
        self.line.send(question)
    }

    /// The answer to the last question, however long it takes; `None` if the host is gone.
    pub(super) fn receive(&mut self) -> Result<Option<Value>> {
        if !self.catch_up()? {
            return Ok(None);
        }
        let answer = self.line.receive()?;
        for id in std::mem::take(&mut self.stray) {
            // A host that has just gone has no faults.
            let _ = self.send_end(id);
        }
        Ok(answer)
    }

    /// Takes the answers that nobody waits for; whether the host is still there.
    fn catch_up(&mut self) -> Result<bool> {
        while let Some(owed) = self.owed.front().copied() {
            let Some(late) = self.line.receive()? else { return Ok(false) };
            self.owed.pop_front();
            if owed == PendingReply::Fault {
                let begun = response::read(late).ok().and_then(|begun| begun["id"].as_u64());
                self.stray.extend(begun);
            }
        }
        Ok(true)
    }

    /// The same within `limit`; `WouldBlock` if it is not there by then, and may be asked for again.
    pub(super) fn receive_within(&mut self, limit: Duration) -> Result<Option<Value>> {
        self.within(limit, Self::receive)
    }

    fn within<T>(&mut self, limit: Duration, reading: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        // No time at all would be no limit.
        self.line.patience(Some(limit.max(LOOK)))?;
        let read = reading(self);
        self.line.patience(None)?;
        read
    }

    /// Nobody waits for the answer to the last question, to do `deed`, any more. A fault that begins all the same ends with
    /// the next question that is answered.
    pub(super) fn give_up(&mut self, deed: &HostCommand) {
        self.owed.push_back(if matches!(deed, HostCommand::Fault(_)) {
            PendingReply::Fault
        } else {
            PendingReply::Other
        });
    }
}

impl AsFd for HostChannel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_that_comes_too_late_is_nobodys() {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        let (mut talk, mut host) = (HostChannel::new(JsonSocket::new(ours)), JsonSocket::new(theirs));
        for question in 1..=2 {
            talk.send(&json!(question)).expect("there is room");
            let late = talk.receive_within(Duration::from_millis(5));
            assert_eq!(late.map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
            talk.give_up(&HostCommand::Status);
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
    fn a_fault_that_begins_too_late_is_ended() {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        let (mut talk, mut host) = (HostChannel::new(JsonSocket::new(ours)), JsonSocket::new(theirs));
        let fault = HostCommand::Fault(json!({ "kill": "web" }));
        for deed in [fault.clone(), fault, HostCommand::Status] {
            talk.send(&deed.to_json()).expect("there is room");
            talk.give_up(&deed);
        }
        talk.send(&HostCommand::Status.to_json()).expect("there is room");
        let refused = response::from_result(&Err(wavetank_plan::UserError::usage(
            "lab_fault",
            "there is none",
            "another",
        )));
        for answer in
            [response::ok(&json!({ "id": 7 })), refused, response::ok(&json!(1)), response::ok(&json!(2))]
        {
            host.receive().expect("readable");
            host.send(&answer).expect("there is room");
        }
        assert_eq!(talk.receive().expect("readable"), Some(response::ok(&json!(2))));
        let asked = host.receive().expect("readable").expect("there is more");
        assert_eq!(HostCommand::read(&asked), Ok(HostCommand::FaultEnd(7)));
        // Its answer is nobody's.
        talk.send(&HostCommand::Status.to_json()).expect("there is room");
        for answer in [3, 4] {
            host.send(&response::ok(&json!(answer))).expect("there is room");
        }
        assert_eq!(talk.receive().expect("readable"), Some(response::ok(&json!(4))));
    }

    #[test]
    fn a_question_that_does_not_fit_is_waited_for_no_longer_than_may_be() {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        ours.set_write_timeout(Some(Duration::from_millis(5))).expect("a limit can be set");
        let (mut talk, mut host) = (HostChannel::new(JsonSocket::new(ours)), JsonSocket::new(theirs));
        let mut refused = |question: &str| {
            let sent = talk.send(&json!(question)).map_err(|error| error.kind());
            assert_eq!(sent, Err(ErrorKind::WouldBlock), "{} bytes", question.len());
        };
        refused(&"x".repeat(4 << 20));
        host.patience(Some(Duration::from_millis(50))).expect("a limit can be set");
        host.receive().expect_err("half of it came");
        refused("what would be its rest");
    }

    #[test]
    fn a_question_of_which_nothing_was_sent_is_no_obstacle_to_the_next() {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        ours.set_write_timeout(Some(Duration::from_millis(5))).expect("a limit can be set");
        let mut full = ours.try_clone().expect("it can be shared");
        let (mut talk, mut host) = (HostChannel::new(JsonSocket::new(ours)), JsonSocket::new(theirs));
        let mut sent = 0;
        while full.write_all(b"1\n").is_ok() {
            sent += 1;
        }
        let refused = talk.send(&json!(2)).map_err(|error| error.kind());
        assert_eq!(refused, Err(ErrorKind::WouldBlock));
        for _ in 0..sent {
            assert_eq!(host.receive().expect("readable"), Some(json!(1)));
        }
        talk.send(&json!(3)).expect("there is room");
        assert_eq!(host.receive().expect("readable"), Some(json!(3)));
    }

    #[test]
    fn who_owes_much_is_asked_no_more_until_it_answers() {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        let (mut talk, mut host) = (HostChannel::new(JsonSocket::new(ours)), JsonSocket::new(theirs));
        let asked = (0..2 * OWED_MAX)
            .take_while(|_| talk.send(&json!("?")).map(|()| talk.give_up(&HostCommand::Status)).is_ok())
            .count();
        assert_eq!(asked, OWED_MAX);
        // It is told all the same what ends.
        let ends = (0..2 * OWED_AND_ENDS_MAX as u64).take_while(|id| talk.send_end(*id).is_ok()).count();
        assert_eq!(ends, OWED_AND_ENDS_MAX - OWED_MAX);
        for _ in 0..OWED_AND_ENDS_MAX {
            host.receive().expect("readable");
            host.send(&response::ok(&Value::Null)).expect("there is room");
        }
        talk.send(&json!("?")).expect("it owes nothing any more");
        host.send(&json!("!")).expect("there is room");
        assert_eq!(talk.receive().expect("readable"), Some(json!("!")));
    }
}
