//! [`Clients`]: the keeper's clients, each in its own thread.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use wavetank_units::{Code, UserError, did_you_mean, sanitize};

use super::broadcast::{Answered, ask_all_within};
use super::host_link::{HostLink, SILENT};
use super::run_lock::RunLock;
use crate::fault::lasts;
use crate::host::HostCommand;
use crate::json_socket::JsonSocket;
use crate::{response, tagged_process};

/// Maximum number of simultaneous clients. A further one gets an error and is closed.
const CLIENTS_MAX: usize = 64;

/// Time limit for the status of all hosts together.
const STATUS_MAX: Duration = Duration::from_secs(2);

/// How much later than its sockets a process may end.
const GONE_WITHIN: Duration = Duration::from_secs(1);

/// The state that all clients share.
#[derive(Debug)]
pub(super) struct Clients {
    hosts: Vec<HostLink>,
    talking: AtomicUsize,
    turn: RunLock,
    /// The client that requested the end, if any.
    ending: Mutex<Option<JsonSocket>>,
    /// Wakes the keeper when the lab is to end.
    button: UnixStream,
    /// The process that the lab is for; the lab goes down when it ends.
    owner: Option<OwnedFd>,
}

/// The state of one client.
#[derive(Debug, Default)]
struct Session {
    /// Faults that end with the client: the host's index, and the fault's number there.
    faults: Vec<(usize, u64)>,
    /// Hosts that did not answer whether a fault started.
    doubtful: Vec<usize>,
    running: bool,
}

impl Clients {
    pub(super) fn new(hosts: Vec<HostLink>, button: UnixStream, owner: Option<OwnedFd>) -> Self {
        // After a run its faults are undone in one host after the other, and each of them may be
        // stopped.
        let patience = hosts.iter().map(|host| host.patience).sum();
        let (talking, turn) = (AtomicUsize::new(0), RunLock::new(patience));
        Self { hosts, talking, turn, ending: Mutex::new(None), button, owner }
    }

    pub(super) const fn owner(&self) -> Option<&OwnedFd> {
        self.owner.as_ref()
    }

    pub(super) fn hosts(&self) -> &[HostLink] {
        &self.hosts
    }

    /// Returns the first client that requested the end; `None` if it was a signal.
    pub(super) fn shutdown_requester(&self) -> Option<JsonSocket> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Serves a new client in a separate thread.
    pub(super) fn serve_client(clients: &Arc<Self>, stream: UnixStream) {
        if clients.talking.fetch_add(1, Ordering::Relaxed) >= CLIENTS_MAX {
            clients.talking.fetch_sub(1, Ordering::Relaxed);
            // The client may already be gone.
            let _ = JsonSocket::new(stream).send(&response::from_result(&Err(too_many())));
            return;
        }
        let shared = Arc::clone(clients);
        let talk = move || {
            shared.talk(JsonSocket::new(stream));
            shared.talking.fetch_sub(1, Ordering::Relaxed);
        };
        if std::thread::Builder::new().name("client".to_owned()).spawn(talk).is_err() {
            // The stream was closed with the thread that could not start, so the client reads an
            // end.
            clients.talking.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn talk(&self, mut line: JsonSocket) {
        let mut session = Session::default();
        while let Ok(Some(message)) = line.receive() {
            if message["ask"] == "down" {
                self.end(line);
                break;
            }
            let result = self.answer(&message, &mut session);
            if line.send(&response::from_result(&result)).is_err() {
                break;
            }
        }
        if session.running {
            self.turn.begin_cleanup();
        }
        // Restarting services would only delay the end of a lab that goes down. The owner's end is
        // visible a moment later than the closing of its socket.
        let mends = !session.faults.is_empty() || !session.doubtful.is_empty();
        if mends && self.owner.as_ref().is_some_and(|owner| tagged_process::ended(owner, GONE_WITHIN)) {
            return;
        }
        // However the client ended, its faults are undone, the last one first. The undo of a later
        // command may depend on an earlier one.
        let mut silent = Vec::new();
        for (place, id) in session.faults.into_iter().rev() {
            // A stopped host is waited for only once; further requests are queued.
            if silent.contains(&place) {
                self.hosts[place].end_fault_async(id);
                continue;
            }
            // A dead host has no faults, and a fault that ended by itself needs no end.
            let ended = self.hosts[place].request(&HostCommand::FaultEnd(id));
            if ended.is_err_and(|error| error.code == SILENT) {
                silent.push(place);
            }
        }
        for place in session.doubtful.into_iter().filter(|place| !silent.contains(place)) {
            // A fault that started late ends when the host answers. Otherwise it ends with the next
            // request to that host.
            let _ = self.hosts[place].request(&HostCommand::Status);
        }
        if session.running {
            self.turn.release();
        }
    }

    /// Stores the first requester of the end, and wakes the keeper.
    fn end(&self, line: JsonSocket) {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(line);
        // The other end is open as long as the keeper waits. Afterwards no wake-up is needed.
        let _ = (&self.button).write_all(b"!");
    }

    fn answer(&self, message: &Value, session: &mut Session) -> Result<Value, UserError> {
        match message["ask"].as_str().unwrap_or_default() {
            "status" => Ok(self.status()),
            "host" => self.host(message)?.1.request(&HostCommand::Say(message["say"].clone())),
            "fault" => {
                let (place, host) = self.host(message)?;
                let begun = host.request(&HostCommand::Fault(message["what"].clone()));
                if begun.as_ref().is_err_and(|error| error.code == SILENT)
                    && !session.doubtful.contains(&place)
                {
                    session.doubtful.push(place);
                }
                let begun = begun?;
                let ends = message["keep"] != true && lasts(&message["what"]);
                if let (Some(id), true) = (begun["id"].as_u64(), ends) {
                    session.faults.push((place, id));
                }
                Ok(begun)
            }
            "fault_end" => {
                let (place, host) = self.host(message)?;
                let id = message["id"].as_u64().unwrap_or_default();
                let ended = host.request(&HostCommand::FaultEnd(id));
                // A host that may not have received it gets the request again when the client is
                // gone.
                if !ended.as_ref().is_err_and(|error| error.code == SILENT) {
                    session.faults.retain(|fault| *fault != (place, id));
                }
                ended
            }
            "run" => self.begin_run(session),
            _ => Err(UserError::refused(
                Code::LabMessage,
                "the keeper does not know this request",
                "run `wavetank lab down`, then `wavetank lab up`",
            )),
        }
    }

    fn begin_run(&self, session: &mut Session) -> Result<Value, UserError> {
        if session.running {
            return Ok(Value::Null);
        }
        if !self.turn.try_acquire() {
            let hint = "wait until it ends, or bring up another lab: wavetank lab up FILE --lab NAME";
            return Err(UserError::refused(Code::LabBusy, "another run uses this lab", hint));
        }
        session.running = true;
        // A stopped host may have resumed since, and started an abandoned fault. The first request
        // ends that fault, and its end is complete when the second one is answered.
        for _ in 0..2 {
            ask_all_within(&self.hosts, &HostCommand::Status, STATUS_MAX);
        }
        Ok(Value::Null)
    }

    fn host(&self, message: &Value) -> Result<(usize, &HostLink), UserError> {
        let name = message["host"].as_str().unwrap_or_default();
        let found = self.hosts.iter().enumerate().find(|(_, host)| host.name == name);
        found.ok_or_else(|| host_unknown(name, self.hosts.iter().map(|host| host.name.as_str())))
    }

    fn status(&self) -> Value {
        let one = |(host, answered): (&HostLink, Answered)| {
            let HostLink { name, process, .. } = host;
            match answered {
                Some(Ok(reported)) => {
                    json!({ "name": name, "pid": process.pid, "services": reported["services"] })
                }
                Some(Err(error)) => json!({ "name": name, "dead": error.message }),
                None => json!({ "name": name, "pid": process.pid, "silent": true }),
            }
        };
        let answers = ask_all_within(&self.hosts, &HostCommand::Status, STATUS_MAX);
        let hosts: Vec<Value> = self.hosts.iter().zip(answers).map(one).collect();
        json!({ "running": self.turn.is_taken(), "hosts": hosts })
    }
}

/// The error for a client beyond the limit.
fn too_many() -> UserError {
    let message = format!("{CLIENTS_MAX} commands are already connected to this lab");
    UserError::refused(Code::LabBusy, message, "try again when one of them has ended")
}

/// The error for an unknown host; `names` are the existing ones.
pub(crate) fn host_unknown<'n>(name: &str, names: impl Iterator<Item = &'n str> + Clone) -> UserError {
    let hint = match did_you_mean(name, names.clone()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("it has {}", names.collect::<Vec<_>>().join(", ")),
    };
    UserError::usage(Code::LabHost, format!("the lab has no host `{}`", sanitize(name)), hint)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, sync_channel};

    use super::*;
    use crate::TaggedProcess;

    /// Longer than any answer takes.
    const LONG: Duration = Duration::from_secs(20);

    /// The other end of a host's connection.
    struct Host {
        /// Holding this lock keeps the host from answering.
        still: Arc<Mutex<()>>,
        /// The requests it received.
        reported: Receiver<HostCommand>,
    }

    /// Returns a lab of `hosts` hosts, each of which may take `patience` for an answer.
    fn lab(hosts: usize, patience: Duration) -> (Arc<Clients>, Vec<Host>) {
        let (button, _other_end) = UnixStream::pair().expect("sockets can be made");
        let (links, hosts) = (1..=hosts).map(|number| host(number, patience)).unzip();
        (Arc::new(Clients::new(links, button, None)), hosts)
    }

    /// A host that answers every request as a fault that has started.
    fn host(number: usize, patience: Duration) -> (HostLink, Host) {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        let process = TaggedProcess::for_pid(std::process::id()).expect("this process is there");
        let (report, reported) = sync_channel(64);
        let still = Arc::new(Mutex::new(()));
        let gate = Arc::clone(&still);
        std::thread::spawn(move || {
            let mut line = JsonSocket::new(theirs);
            while let Ok(Some(asked)) = line.receive() {
                // The test may have stopped reading.
                let _ = report.send(HostCommand::read(&asked).expect("a host knows it"));
                drop(gate.lock());
                let _ = line.send(&response::ok(&json!({ "id": 7 })));
            }
        });
        (HostLink::new(&format!("app{number}"), process, patience, ours), Host { still, reported })
    }

    fn join(clients: &Arc<Clients>) -> JsonSocket {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        Clients::serve_client(clients, theirs);
        JsonSocket::new(ours)
    }

    /// Returns the keeper's answer to a question, or the error code.
    fn ask(line: &mut JsonSocket, question: &Value) -> Result<Value, &'static str> {
        line.send(question).expect("the keeper listens");
        let reported = line.receive().expect("readable").expect("before the end");
        response::read(reported).map_err(|error| error.code.as_str())
    }

    #[test]
    fn one_client_too_many_is_refused_with_a_reason() {
        let (clients, _) = lab(0, LONG);
        let mut talking: Vec<JsonSocket> = (0..CLIENTS_MAX).map(|_| join(&clients)).collect();
        let reported = join(&clients).receive().expect("readable").expect("before the end");
        assert_eq!(response::read(reported).map_err(|error| error.code.as_str()), Err("lab_busy"));
        // The other clients are not affected.
        let reported = ask(&mut talking[0], &json!({ "ask": "status" }));
        assert_eq!(reported, Ok(json!({ "running": false, "hosts": [] })));
    }

    #[test]
    fn the_next_run_waits_for_all_hosts_that_stand_still() {
        // Longer than stalls of the machine, and longer than a waiting run adds to the patience for
        // one host.
        let (clients, hosts) = lab(3, Duration::from_millis(1_500));
        let mut first = join(&clients);
        assert_eq!(ask(&mut first, &json!({ "ask": "run" })), Ok(Value::Null));
        for host in ["app1", "app2", "app3"] {
            let begun = ask(&mut first, &json!({ "ask": "fault", "host": host, "what": "kill" }));
            assert_eq!(begun, Ok(json!({ "id": 7 })));
        }
        let _still: Vec<_> = hosts.iter().map(|host| host.still.lock()).collect();
        drop(first);
        assert_eq!(ask(&mut join(&clients), &json!({ "ask": "run" })), Ok(Value::Null));
    }

    #[test]
    fn what_a_host_began_too_late_is_ended_for_the_next_run() {
        let (clients, hosts) = lab(1, Duration::from_millis(20));
        let run = || {
            let mut line = join(&clients);
            assert_eq!(ask(&mut line, &json!({ "ask": "run" })), Ok(Value::Null));
            line
        };
        let mut first = run();
        let still = hosts[0].still.lock();
        let fault = json!({ "ask": "fault", "host": "app1", "what": "kill" });
        assert_eq!(ask(&mut first, &fault), Err(SILENT.as_str()));
        drop(first);
        // After this run, there are no requests to the host any more.
        drop(run());
        drop(still);
        let _third = run();
        let reported = || std::iter::from_fn(|| hosts[0].reported.recv_timeout(LONG).ok());
        let asked: Vec<HostCommand> =
            reported().filter(|action| *action != HostCommand::Status).take(2).collect();
        assert_eq!(asked, [HostCommand::Fault(json!("kill")), HostCommand::FaultEnd(7)]);
    }
}
