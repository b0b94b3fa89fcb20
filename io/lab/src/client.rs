//! [`Client`]: a client of a lab's keeper.

use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::Value;
use wavetank_units::{Code, UserError, sentence};

use crate::LabFolder;
use crate::json_socket::JsonSocket;
use crate::response::{self, system};

/// A connection to the keeper of one lab. Faults started on it end with it.
#[derive(Debug)]
pub struct Client {
    line: JsonSocket,
    name: String,
}

impl Client {
    /// Connects to the keeper of the lab in `folder`.
    ///
    /// # Errors
    /// `lab_not_up` if no keeper is running, `lab_root` if this user is not permitted to connect.
    pub fn connect(folder: &LabFolder) -> Result<Self, UserError> {
        let name = folder.name().to_owned();
        match UnixStream::connect(folder.socket()) {
            Ok(stream) => Ok(Self { line: JsonSocket::new(stream), name }),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                let message = format!("lab `{name}` is not up: its keeper is not running");
                let hint = format!(
                    "check it with `wavetank lab status`; remove it with `wavetank lab down --lab {name}`"
                );
                Err(UserError::usage(Code::LabNotUp, message, hint))
            }
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(crate::refusals::no_root()),
            Err(error) => Err(system(&format!("the keeper of lab `{name}` cannot be reached"), &error)),
        }
    }

    /// Sends one request and waits for the answer.
    ///
    /// # Errors
    /// The error of the keeper or the host, or a keeper that has ended.
    pub fn request(&mut self, question: &Value) -> Result<Value, UserError> {
        let asked = self.put(question).and_then(|()| self.heard());
        self.answered(asked)
    }

    /// Like [`request`](Self::request) without a time limit, for a question that may take long to
    /// answer. If there is no answer after `a_while`, calls `report` once and continues waiting.
    ///
    /// # Errors
    /// Those of [`request`](Self::request).
    pub fn ask_polling(
        &mut self,
        question: &Value,
        a_while: Duration,
        report: impl FnOnce(),
    ) -> Result<Value, UserError> {
        let asked = self.put(question).and_then(|()| {
            self.line.patience(Some(a_while))?;
            let heard = self.heard();
            self.line.patience(None)?;
            match heard {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    report();
                    self.heard()
                }
                heard => heard,
            }
        });
        self.answered(asked)
    }

    /// Sends a request.
    fn put(&mut self, question: &Value) -> io::Result<()> {
        match self.line.send(question) {
            // A keeper that hung up before the request may have sent the reason.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }

    /// Waits for an answer.
    fn heard(&mut self) -> io::Result<Option<Value>> {
        loop {
            match self.line.receive() {
                // A signal that this process counts must not leave a question without its answer.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }

    /// Converts the result of a request: the answer, or the reason why there is none.
    fn answered(&self, asked: io::Result<Option<Value>>) -> Result<Value, UserError> {
        match asked {
            Ok(Some(value)) => response::read(value),
            Ok(None) => {
                let message = sentence!("the keeper of lab `{}` has ended", self.name);
                Err(UserError::refused(Code::LabKeeper, message, "run `wavetank lab down` to remove the lab"))
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                let message = sentence!("the keeper of lab `{}` does not answer", self.name);
                let hint =
                    format!("it may be stopped; run `wavetank lab down --lab {}` to end it", self.name);
                Err(UserError::refused(Code::LabSilent, message, hint))
            }
            Err(error) => {
                Err(system(&sentence!("cannot send a request to the keeper of lab `{}`", self.name), &error))
            }
        }
    }

    /// Sets the time limit for an answer; `None` waits forever.
    pub(crate) fn set_read_timeout(&self, limit: Duration) -> Result<(), UserError> {
        self.line
            .patience(Some(limit))
            .map_err(|error| system("cannot set the time limit of a socket", &error))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Asks a keeper that has already hung up after sending `words`.
    fn check(words: Option<UserError>, expected: &str) {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        let mut keeper = JsonSocket::new(theirs);
        if let Some(error) = words {
            keeper.send(&response::from_result(&Err(error))).expect("room for a few bytes");
        }
        drop(keeper);
        let mut client = Client { line: JsonSocket::new(ours), name: "shop".to_owned() };
        let reported = client.request(&json!({ "ask": "status" }));
        assert_eq!(reported.map_err(|error| error.code.as_str()), Err(expected));
    }

    #[test]
    fn last_words_are_read_and_silence_is_an_end() {
        check(Some(UserError::refused(Code::LabBusy, "too many talk", "try again")), "lab_busy");
        check(None, "lab_keeper");
    }

    /// Asks a keeper that answers only after the caller was notified of the wait.
    #[test]
    fn a_long_wait_is_reported_once() {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        let (waits, reported) = std::sync::mpsc::sync_channel(1);
        let keeper = std::thread::spawn(move || {
            let mut keeper = JsonSocket::new(theirs);
            let asked = keeper.receive().expect("a question");
            reported.recv().expect("the client waits");
            keeper.send(&response::from_result(&Ok(Value::Null))).expect("room for a few bytes");
            (asked, reported.recv().is_err())
        });
        let mut client = Client { line: JsonSocket::new(ours), name: "shop".to_owned() };
        let question = json!({ "ask": "run" });
        let report = || waits.send(()).expect("the keeper listens");
        assert_eq!(client.ask_polling(&question, Duration::from_millis(1), report), Ok(Value::Null));
        drop(waits);
        assert_eq!(keeper.join().expect("it only answers"), (Some(question), true));
    }
}
