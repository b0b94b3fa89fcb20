//! [`ScrapeServer`]: the endpoint that Prometheus scrapes.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wavetank_driver::Clock;
use wavetank_units::{Code, Nanos, UserError};

use crate::output_thread::{spawn, wait};
use crate::prometheus_text::{TextFormat, encode_text};
use crate::snapshot::Snapshot;

/// Longest request that is read.
const REQUEST_MAX: usize = 8 * 1024;
/// Headers of a request that are read.
const HEADERS_MAX: usize = 64;
/// Time limit for one scrape. Others wait meanwhile.
const SCRAPE_MAX: Nanos = Nanos::from_secs(2);
/// Pause after a connection that could not be accepted.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// How long the end of a run waits for a last scrape.
const LAST_SCRAPE_MAX: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// The endpoint with its thread. It loses no interval: counters count from the start of the run.
#[derive(Debug)]
pub(crate) struct ScrapeServer {
    latest: Arc<Mutex<Option<Arc<Snapshot>>>>,
    /// The thread ends when this is closed.
    open: Option<UnixStream>,
    ended: Receiver<()>,
}

impl ScrapeServer {
    /// Answers on `listener`.
    ///
    /// # Errors
    /// If this host starts no more threads or opens no more files.
    pub(crate) fn start(listener: TcpListener) -> Result<Self, UserError> {
        let refused = |error: std::io::Error| {
            let message = format!("cannot start the endpoint of --metrics prometheus: {error}");
            UserError::refused(
                Code::HostCannot,
                message,
                "look at `ulimit -a` and the limits of the container",
            )
        };
        listener.set_nonblocking(true).map_err(refused)?;
        let (open, closed) = UnixStream::pair().map_err(refused)?;
        let latest = Arc::new(Mutex::new(None));
        let board = Arc::clone(&latest);
        let ended = spawn(None, move || serve(&listener, &closed, &board))?;
        Ok(Self { latest, open: Some(open), ended })
    }

    /// Replaces what is scraped.
    pub(crate) fn give(&self, snapshot: &Arc<Snapshot>) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(snapshot));
    }

    /// No snapshot follows. The latest one may still be scraped once.
    pub(crate) fn close(&mut self) {
        self.open = None;
    }

    /// Waits for the last scrape, at most `limit`.
    pub(crate) fn wait(&self, limit: Duration) {
        wait(&self.ended, limit);
    }
}

/// Answers scrapes until `closed` is closed, and then the last one if there were any before.
fn serve(listener: &TcpListener, closed: &UnixStream, latest: &Mutex<Option<Arc<Snapshot>>>) {
    let mut was_scraped = false;
    loop {
        let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(closed, PollFlags::IN)];
        // A signal may interrupt the wait: it is repeated.
        let _ = poll(&mut ready, None);
        if !ready[1].revents().is_empty() {
            break;
        }
        match listener.accept() {
            Ok((stream, _)) => was_scraped |= answer(stream, latest).unwrap_or(false),
            // The client has gone, or this process has no file left: the loop must not spin.
            Err(_) => drop(poll(&mut [PollFd::new(closed, PollFlags::IN)], Some(&PAUSE))),
        }
    }
    let is_waiting = |listener: &TcpListener| {
        poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&LAST_SCRAPE_MAX)).is_ok_and(|ready| ready > 0)
    };
    while was_scraped && is_waiting(listener) {
        let Ok((stream, _)) = listener.accept() else { break };
        if answer(stream, latest).unwrap_or(false) {
            break;
        }
    }
}

/// Answers one request. Returns whether it was a scrape.
fn answer(mut stream: TcpStream, latest: &Mutex<Option<Arc<Snapshot>>>) -> std::io::Result<bool> {
    stream.set_nonblocking(false)?;
    let Some(request) = read_request(&mut stream)? else {
        respond(&mut stream, "400 Bad Request", "text/plain", "the request is not HTTP/1\n", true)?;
        return Ok(false);
    };
    let has_body = request.method != "HEAD";
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        respond(&mut stream, "405 Method Not Allowed", "text/plain", "use GET\n", true)?;
        return Ok(false);
    }
    if request.path != "/metrics" {
        respond(&mut stream, "404 Not Found", "text/plain", "the metrics are at /metrics\n", has_body)?;
        return Ok(false);
    }
    let snapshot = latest.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let text = encode_text(&snapshot.unwrap_or_default(), request.format);
    respond(&mut stream, "200 OK", request.format.content_type(), &text, has_body)?;
    Ok(has_body)
}

/// What is asked for.
struct ScrapeRequest {
    method: String,
    path: String,
    format: TextFormat,
}

/// Reads the head of a request; `None` if it is malformed, too long or too slow.
fn read_request(stream: &mut TcpStream) -> std::io::Result<Option<ScrapeRequest>> {
    let clock = Clock::starting_now();
    let mut bytes = Vec::new();
    let mut chunk = [0; 1024];
    loop {
        let left = SCRAPE_MAX - clock.now();
        if left <= Nanos::ZERO || bytes.len() > REQUEST_MAX {
            return Ok(None);
        }
        stream.set_read_timeout(Some(Duration::from_nanos(left.0.unsigned_abs())))?;
        let read = stream.read(&mut chunk)?;
        if read == 0 {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk[..read]);
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(&bytes) {
            Ok(httparse::Status::Partial) => {}
            Ok(httparse::Status::Complete(_)) => {
                let accept = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case("accept"));
                let accept = accept.map(|header| String::from_utf8_lossy(header.value).into_owned());
                let path = parsed.path.unwrap_or_default();
                return Ok(Some(ScrapeRequest {
                    method: parsed.method.unwrap_or_default().to_owned(),
                    path: path.split('?').next().unwrap_or_default().to_owned(),
                    format: TextFormat::accepted(&accept.unwrap_or_default()),
                }));
            }
            Err(_) => return Ok(None),
        }
    }
}

fn respond(
    stream: &mut TcpStream,
    status: &str,
    content_type: &str,
    body: &str,
    has_body: bool,
) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let text = if has_body { head + body } else { head };
    let (clock, mut rest) = (Clock::starting_now(), text.as_bytes());
    while !rest.is_empty() {
        let left = SCRAPE_MAX - clock.now();
        if left <= Nanos::ZERO {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(Duration::from_nanos(left.0.unsigned_abs())))?;
        let written = stream.write(rest)?;
        rest = &rest[written..];
    }
    Ok(())
}
