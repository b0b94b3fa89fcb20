//! [`HostChannel`]: requests to a host and their answers, which arrive in the same order.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use serde_json::Value;

use crate::fault::FAULTS_MAX;
use crate::host::HostCommand;
use crate::json_socket::JsonSocket;
use crate::response;

/// Maximum number of pending answers of a host before it gets no more requests. Requests to a
/// stopped host stay in its socket.
const OWED_MAX: usize = 32;
/// The same including ends of faults, which are short, and are sent even to a host with many
/// pending answers.
const OWED_AND_ENDS_MAX: usize = OWED_MAX + FAULTS_MAX;
/// Time for checking whether a host with many pending answers has answered.
const LOOK: Duration = Duration::from_millis(1);

/// The keeper's end of the connection to a host. A requester may give up before the answer arrives.
/// The answer is skipped in that case.
#[derive(Debug)]
pub(super) struct HostChannel {
    line: JsonSocket,
    /// Pending answers that were given up, in order.
    owed: VecDeque<PendingReply>,
    /// Faults that started after their requester gave up. There are at most as many as pending
    /// answers.
    stray: Vec<u64>,
}

/// The subject of an answer that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PendingReply {
    /// A fault that no client knows: it is ended with the next answered request.
    Fault,
    Other,
}

impl HostChannel {
    pub(super) const fn new(line: JsonSocket) -> Self {
        Self { line, owed: VecDeque::new(), stray: Vec::new() }
    }

    /// Sends a request. Fails if the host is gone, or owes too many answers.
    pub(super) fn send(&mut self, question: &Value) -> Result<()> {
        self.send_if_owed_less(OWED_MAX, question)
    }

    /// Has the host end a fault, without waiting for the answer. Fails like [`send`](Self::send),
    /// but at a higher limit.
    pub(super) fn send_end(&mut self, id: u64) -> Result<()> {
        self.send_if_owed_less(OWED_AND_ENDS_MAX, &HostCommand::FaultEnd(id).to_json())?;
        self.owed.push_back(PendingReply::Other);
        Ok(())
    }

    fn send_if_owed_less(&mut self, most: usize, question: &Value) -> Result<()> {
        if self.owed.len() >= most {
            // A stopped host may have resumed since, and answered.
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

    /// Returns the answer to the last request, however long it takes; `None` if the host is gone.
    pub(super) fn receive(&mut self) -> Result<Option<Value>> {
        if !self.catch_up()? {
            return Ok(None);
        }
        let answer = self.line.receive()?;
        for id in std::mem::take(&mut self.stray) {
            // A host that has just ended has no faults.
            let _ = self.send_end(id);
        }
        Ok(answer)
    }

    /// Reads the answers that were given up. Returns whether the host still exists.
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

    /// Returns the same answer within `limit`. The error is `WouldBlock` if it has not arrived by
    /// then, and the call may be repeated.
    pub(super) fn receive_within(&mut self, limit: Duration) -> Result<Option<Value>> {
        self.within(limit, Self::receive)
    }

    fn within<T>(&mut self, limit: Duration, reading: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        // A zero timeout would mean no limit.
        self.line.patience(Some(limit.max(LOOK)))?;
        let read = reading(self);
        self.line.patience(None)?;
        read
    }

    /// Gives up on the answer to the last request, `action`. If a fault starts all the same, it
    /// ends with the next answered request.
    pub(super) fn give_up(&mut self, action: &HostCommand) {
        self.owed.push_back(if matches!(action, HostCommand::Fault(_)) {
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
        for action in [fault.clone(), fault, HostCommand::Status] {
            talk.send(&action.to_json()).expect("there is room");
            talk.give_up(&action);
        }
        talk.send(&HostCommand::Status.to_json()).expect("there is room");
        let refused = response::from_result(&Err(wavetank_units::UserError::usage(
            wavetank_units::Code::LabFault,
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
        // Its answer is skipped.
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
        // Ends of faults are sent all the same.
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
