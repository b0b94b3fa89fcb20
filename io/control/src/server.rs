//! [`ControlServer`]: the run's side.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use wavetank_link::{BindError, Stop, accept, bind_private};
use wavetank_record::LiveDoc;
use wavetank_units::WATCHER_NICENESS;

use crate::folder::RunFolder;
use crate::messages::{ControlReply, ControlRequest};

/// Connections at a time; further ones are closed.
const CONNECTIONS_MAX: usize = 32;
/// Requests that wait for the run at a time.
const REQUESTS_MAX: usize = 32;
/// States that wait for a client that does not read. It misses later ones.
const STATES_MAX: usize = 8;
/// Longest request, in bytes.
const REQUEST_BYTES_MAX: u64 = 64 << 10;
/// A client sends its request, and reads the reply, within this time.
const CLIENT_MAX: Duration = Duration::from_secs(10);
/// How long the end of a run waits at most for clients that have not read its last state.
const LAST_STATE_MAX: Duration = Duration::from_secs(2);
/// The run replies within this time, or has ended.
const REPLY_MAX: Duration = Duration::from_secs(10);
/// The run reports its state within this time, or an earlier one is sent.
const STATE_MAX: Duration = Duration::from_secs(1);

/// A request that waits for the run's decision.
#[derive(Debug)]
pub struct PendingRequest {
    /// The request.
    pub request: ControlRequest,
    reply: SyncSender<ControlReply>,
}

impl PendingRequest {
    /// Replies to the client. A client that has left gets nothing.
    pub fn reply(self, reply: ControlReply) {
        let _ = self.reply.try_send(reply);
    }
}

/// Listens for requests to one run until it is dropped. Only processes of the same user, or of
/// root, can connect.
#[derive(Debug)]
pub struct ControlServer {
    requests: Receiver<PendingRequest>,
    watchers: Arc<Watchers>,
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl ControlServer {
    /// Listens in `folder` for requests to the run with this id.
    ///
    /// # Errors
    /// If the folder belongs to another user, its path is too long, or the system refuses.
    pub fn listen(folder: &RunFolder, id: &str) -> Result<Self, BindError> {
        let path = folder.socket(id);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let failed = |error| BindError::System(path.clone(), error);
        let listener = bind_private(folder.path(), &name)?;
        let stop = Arc::new(Stop::new().map_err(failed)?);
        let (sender, requests) = sync_channel(REQUESTS_MAX);
        let watchers = Arc::new(Watchers::default());
        let (until, to) = (Arc::clone(&stop), Arc::clone(&watchers));
        let open = Arc::new(AtomicUsize::new(0));
        let run = move || {
            while let Some(stream) = accept(&listener, &until) {
                let place = Place::take(&open);
                let connection = Connection { requests: sender.clone(), watchers: Arc::clone(&to) };
                if let Some(place) = place {
                    let serve = move || {
                        let _ = rustix::process::setpriority_process(None, WATCHER_NICENESS);
                        // A client that leaves early is no concern of the run.
                        let _ = connection.serve(stream);
                        drop(place);
                    };
                    // Without a thread the connection is closed.
                    let _ = std::thread::Builder::new().name("control-client".to_owned()).spawn(serve);
                }
            }
        };
        let thread = std::thread::Builder::new().name("control".to_owned()).spawn(run).map_err(failed)?;
        Ok(Self { requests, watchers, stop, thread: Some(thread), path })
    }

    /// Returns the next request, without waiting.
    pub fn next(&self) -> Option<PendingRequest> {
        self.requests.try_recv().ok()
    }

    /// Whether any client watches the run.
    pub fn is_watched(&self) -> bool {
        !self.watchers.lock().to.is_empty()
    }

    /// Sends a state to all clients that watch the run, without waiting for any.
    pub fn publish(&self, state: &LiveDoc) {
        let line: Arc<str> = ControlReply::State(Box::new(state.clone())).encode().into();
        let mut published = self.watchers.lock();
        let has_left = |sent| matches!(sent, Err(TrySendError::Disconnected(_)));
        published.to.retain(|watcher| !has_left(watcher.try_send(Arc::clone(&line))));
        published.latest = Some(line);
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        self.stop.stop();
        // Nothing replies to these any more, and their clients hear so.
        while self.next().is_some() {}
        // Clients that asked read the reply. Clients that watch read what was sent, and then the
        // end. The process may end after this.
        self.watchers.end(LAST_STATE_MAX);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Clients that watch the run, and the state that was published last.
#[derive(Debug, Default)]
struct Watchers {
    published: Mutex<Published>,
    /// Signalled when all of a client's states are written.
    written: Condvar,
}

#[derive(Debug, Default)]
struct Published {
    latest: Option<Arc<str>>,
    to: Vec<SyncSender<Arc<str>>>,
    /// Nothing more is published.
    is_over: bool,
    /// Connections that wait for a reply or write.
    writing: usize,
}

impl Watchers {
    fn lock(&self) -> MutexGuard<'_, Published> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client. After the end of the run, its sender is dropped.
    fn add(&self, sender: SyncSender<Arc<str>>) {
        let mut published = self.lock();
        if !published.is_over {
            published.to.push(sender);
        }
    }

    /// Sends nothing more, and waits at most `wait` until all that was sent is written.
    fn end(&self, wait: Duration) {
        let mut published = self.lock();
        published.is_over = true;
        published.to.clear();
        let is_writing = |published: &mut Published| published.writing > 0;
        // After that time a client that does not read loses the rest.
        let _ = self.written.wait_timeout_while(published, wait, is_writing);
    }
}

/// A connection that waits for a reply or writes. The end of the run waits for it.
struct Writing<'a>(&'a Watchers);

impl<'a> Writing<'a> {
    fn start(watchers: &'a Watchers) -> Self {
        watchers.lock().writing += 1;
        Self(watchers)
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.lock().writing -= 1;
        self.0.written.notify_all();
    }
}

/// A place among the connections.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Option<Self> {
        let place = Self(Arc::clone(open));
        (open.fetch_add(1, Ordering::AcqRel) < CONNECTIONS_MAX).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// One client.
struct Connection {
    requests: SyncSender<PendingRequest>,
    watchers: Arc<Watchers>,
}

impl Connection {
    fn serve(self, mut stream: UnixStream) -> std::io::Result<()> {
        rustix::io::ioctl_fionbio(&stream, false)?;
        stream.set_read_timeout(Some(CLIENT_MAX))?;
        stream.set_write_timeout(Some(CLIENT_MAX))?;
        let mut line = Vec::new();
        BufReader::new((&stream).take(REQUEST_BYTES_MAX)).read_until(b'\n', &mut line)?;
        let _writing = Writing::start(&self.watchers);
        match serde_json::from_slice(&line) {
            Ok(ControlRequest::Watch) => self.watch(stream),
            Ok(ControlRequest::Status) => send(&mut stream, &self.state()),
            Ok(request) => send(&mut stream, &self.ask(request, REPLY_MAX).encode()),
            Err(error) => {
                let message = format!("cannot read the request: {error}");
                let hint = "see docs/formats/control.md".to_owned();
                send(&mut stream, &ControlReply::Rejected { message, hint }.encode())
            }
        }
    }

    /// Returns the run's state as a line. A run that is busy before or after its load replies with
    /// the state that it published last.
    fn state(&self) -> Arc<str> {
        let reply = self.ask(ControlRequest::Status, STATE_MAX);
        let latest = || self.watchers.lock().latest.clone();
        let earlier = if matches!(reply, ControlReply::State(_)) { None } else { latest() };
        earlier.unwrap_or_else(|| reply.encode().into())
    }

    /// Passes `request` to the run and waits at most this long for its reply.
    fn ask(&self, request: ControlRequest, wait: Duration) -> ControlReply {
        let (reply, answers) = sync_channel(1);
        let sent = self.requests.try_send(PendingRequest { request, reply });
        let answer = sent.ok().and_then(|()| answers.recv_timeout(wait).ok());
        answer.unwrap_or_else(|| ControlReply::Rejected {
            message: "the run did not reply".to_owned(),
            hint: "check whether it has ended: wavetank runs list".to_owned(),
        })
    }

    fn watch(&self, mut stream: UnixStream) -> std::io::Result<()> {
        let (sender, states) = sync_channel(STATES_MAX);
        self.watchers.add(sender);
        // The state so far comes now, not with the next seal.
        send(&mut stream, &self.state())?;
        for line in states {
            send(&mut stream, &line)?;
        }
        Ok(())
    }
}

fn send(stream: &mut UnixStream, line: &str) -> std::io::Result<()> {
    stream.write_all(line.as_bytes())?;
    stream.write_all(b"\n")
}
