//! [`Probe`]: one request outside every counter, with all its instants and the whole answer.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_driver::{
    Clock, ConnId, Dial, DialTls, Driver, Ended, Epoll, Errno, Event, Features, Secured, Setup, Tls,
    TlsClient, Uring,
};
use wavetank_journey::StepWork;
use wavetank_measure::ErrorClass;
use wavetank_pace::Share;
use wavetank_plan::{Close, EngineChoice, HttpVersion, Nanos, Plan};
use wavetank_wire::h1::{Eof, Fault, Limits, ResponseHead, ResponseReader, ResponseSink, Version};

use crate::failure::{self, Failure};
use crate::sources::{SourcePorts, Sources};

/// Most of the body that is kept; the rest is counted.
const BODY_KEPT_BYTES: usize = 1 << 20;

/// Tuples the probe tries, where it has its own: somebody else may have taken a few, but not all.
const TUPLES_TRIED_MAX: u32 = 16;
/// How long at most nobody asks whether the probe was cancelled.
const LOOK_AROUND: Nanos = Nanos::from_millis(50);
/// Most of an answer's beginning that is kept for showing what was wrong with it.
const SEEN_BYTES_MAX: usize = 4_096;
/// First bytes of a record of TLS that holds an alert (RFC 8446 §5.1).
const ALERT: u8 = 21;
const TLS_MAJOR: u8 = 3;

/// One request to the plan's first step.
pub struct Probe<'a> {
    plan: &'a Plan,
    clock: Clock,
    features: Features,
    ports: SourcePorts,
    tls: Option<Arc<TlsClient>>,
}

/// An answer, with instants on the clock the probe was given.
#[derive(Clone, Debug)]
pub struct ProbeAnswer {
    /// The address that answered.
    pub address: SocketAddr,
    /// When connecting began.
    pub begun: Nanos,
    /// When the connection was there.
    pub connected: Nanos,
    /// What the TLS handshake came to, where there was one.
    pub tls: Option<ProbeTls>,
    /// When the request was handed to the kernel.
    pub sent: Nanos,
    /// When the first byte of the answer came.
    pub first_byte: Nanos,
    /// When the answer was complete.
    pub complete: Nanos,
    /// Its status.
    pub status: u16,
    /// The request as sent.
    pub request: Vec<u8>,
    /// Status line and headers as they came.
    pub head: Vec<u8>,
    /// Version of the status line.
    pub version: HttpVersion,
    /// Value of Content-Type.
    pub content_type: Option<String>,
    /// Value of Location.
    pub location: Option<String>,
    /// The body, up to a mebibyte.
    pub body: Vec<u8>,
    /// Bytes of the whole body.
    pub body_bytes: u64,
}

/// A TLS handshake.
#[derive(Clone, Debug)]
pub struct ProbeTls {
    /// When it was complete.
    pub secured: Nanos,
    /// What was agreed on.
    pub agreed: Secured,
    /// The target's certificate chain as DER, its own first.
    pub certificates: Vec<Vec<u8>>,
}

/// Why there was no answer.
#[derive(Clone, Debug)]
pub struct ProbeFailure {
    /// The address that was tried.
    pub address: SocketAddr,
    /// The class it would have counted under.
    pub class: ErrorClass,
    /// What the kernel said.
    pub errno: Option<Errno>,
    /// What was wrong, in words.
    pub detail: String,
    /// Whether the request was handed to the kernel.
    pub sent: bool,
    /// How long it took.
    pub waited: Nanos,
    /// The beginning of what came, up to some KiB.
    pub seen: Vec<u8>,
}

impl<'a> Probe<'a> {
    /// A probe for `plan`, on its engine, with our side of TLS if the plan speaks it. With source addresses in the
    /// plan it binds one of `ports`, as the load does: the kernel may have none to choose from where loads have been.
    pub const fn new(
        plan: &'a Plan,
        clock: Clock,
        features: Features,
        ports: SourcePorts,
        tls: Option<Arc<TlsClient>>,
    ) -> Self {
        Self { plan, clock, features, ports, tls }
    }

    /// Connect, send, and wait for the whole answer, within the plan's timeouts; given up once `cancelled`
    /// says so, which is asked often and whenever a signal interrupts the wait.
    pub fn run(&self, cancelled: &dyn Fn() -> bool) -> Result<ProbeAnswer, ProbeFailure> {
        match self.plan.engine {
            EngineChoice::Uring => self.run_over::<Uring>(cancelled),
            EngineChoice::Epoll | EngineChoice::Auto => self.run_over::<Epoll>(cancelled),
        }
    }

    fn run_over<D: Driver>(&self, cancelled: &dyn Fn() -> bool) -> Result<ProbeAnswer, ProbeFailure> {
        let driver = D::new(&Setup { features: self.features, sockets: 1, ..Setup::small(self.clock) });
        match &self.tls {
            None => self.run_on(driver, cancelled),
            Some(client) => {
                let over = |inner| Tls::wrap(inner, Some(Arc::clone(client)), None);
                self.run_on(driver.map(over), cancelled)
            }
        }
    }

    fn run_on<D: Driver>(
        &self,
        driver: Result<D, Errno>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<ProbeAnswer, ProbeFailure> {
        let request = StepWork::new(&self.plan.scenarios[0].steps[0], self.plan, false)
            .expect("the plan's scenarios were compiled before it is probed");
        let bytes = request.as_fixed().expect("a run of one URL sends the same always");
        let address = self.plan.targets[usize::from(request.target)].addresses[0];
        let begun = self.clock.now();
        let mut attempt = Attempt {
            clock: self.clock,
            address,
            begun,
            deadline: begun.after(self.plan.http.timeout),
            sent: false,
            cancelled,
            seen: Vec::new(),
        };
        let mut driver = driver.map_err(|errno| attempt.no(failure::of_connect(errno)))?;
        let open_until = begun.after(self.plan.http.connect_timeout).min(attempt.deadline);
        let mut sources = Sources::new(self.plan, &self.ports, Share::WHOLE, 0);
        let name = self.plan.name_of_target()[usize::from(request.target)];
        let tls = name.map(|name| DialTls { name, session: 0 });
        let conn = attempt.open(&mut driver, &mut sources, (request.target, tls), open_until)?;
        let connected = self.clock.now();
        let tls = match self.plan.targets[usize::from(request.target)].server_name {
            Some(_) => Some(attempt.secure(&mut driver, conn, open_until)?),
            None => None,
        };
        let sent = self.clock.now();
        // Where it fails, an answer may have come before; if not, the end is told.
        attempt.sent = driver.send_shared(conn, bytes).is_ok();
        let mut reader = ResponseReader::new(Limits::default());
        reader.expect(request.head);
        let mut sink = Keep {
            head: Vec::new(),
            version: HttpVersion::Http11,
            content_type: None,
            location: None,
            body: Vec::new(),
        };
        let (status, body_bytes, first_byte) = attempt.answer(&mut driver, conn, &mut reader, &mut sink)?;
        let complete = self.clock.now();
        driver.close(conn, Close::Fin);
        Ok(ProbeAnswer {
            address,
            begun,
            connected,
            tls,
            sent,
            first_byte,
            complete,
            status,
            request: bytes.to_vec(),
            head: sink.head,
            version: sink.version,
            content_type: sink.content_type,
            location: sink.location,
            body: sink.body,
            body_bytes,
        })
    }
}

/// One try, with what its failure would have to tell.
struct Attempt<'a> {
    clock: Clock,
    address: SocketAddr,
    begun: Nanos,
    deadline: Nanos,
    sent: bool,
    cancelled: &'a dyn Fn() -> bool,
    /// The beginning of what came.
    seen: Vec<u8>,
}

impl Attempt<'_> {
    /// Connect; by another tuple if the one turns out to be somebody else's.
    fn open<D: Driver>(
        &mut self,
        driver: &mut D,
        sources: &mut Sources,
        (target, tls): (u16, Option<DialTls>),
        until: Nanos,
    ) -> Result<ConnId, ProbeFailure> {
        let mut refused = Errno(libc::EADDRNOTAVAIL);
        for _ in 0..TUPLES_TRIED_MAX {
            let Some(route) = sources.next(target, self.begun) else { break };
            self.address = route.to;
            let dialed = driver.connect(&Dial { from: route.from, tls, ..Dial::plain(route.to) });
            match dialed.map_or_else(|errno| Ok(Err(errno)), |conn| self.connect(driver, conn, until))? {
                Ok(conn) => return Ok(conn),
                Err(errno) => refused = errno,
            }
            if !route.tuple.is_owned() || !matches!(refused.0, libc::EADDRNOTAVAIL | libc::EADDRINUSE) {
                break;
            }
        }
        let failure = match refused {
            // It was accepted and reset before we looked.
            Errno(libc::ECONNRESET) if tls.is_some() => failure::of_handshake(Ended::Broken(refused), driver),
            _ => failure::of_connect(refused),
        };
        Err(self.no(failure))
    }

    fn no(&self, failure: Failure) -> ProbeFailure {
        let detail = match (failure.errno, failure.detail) {
            (Some(errno), _) => errno.to_string(),
            (None, Some(detail)) => detail.into_owned(),
            (None, None) => failure.class.name().replace('_', " "),
        };
        let waited = self.clock.now() - self.begun;
        ProbeFailure {
            address: self.address,
            class: failure.class,
            errno: failure.errno,
            detail,
            sent: self.sent,
            waited,
            seen: self.seen.clone(),
        }
    }

    fn event<D: Driver>(&self, driver: &mut D, until: Nanos, late: &Failure) -> Result<Event, ProbeFailure> {
        loop {
            if let Some(event) = driver.next() {
                return Ok(event);
            }
            if (self.cancelled)() {
                return Err(self.no(Failure::detailed(ErrorClass::Other, "interrupted")));
            }
            if self.clock.now() >= until {
                return Err(self.no(late.clone()));
            }
            // A signal that comes between the question and the sleep interrupts nothing.
            let look_again = self.clock.now().after(LOOK_AROUND);
            driver.wait(until.min(look_again)).map_err(|errno| self.no(failure::of_connect(errno)))?;
        }
    }

    /// Wait for `conn`, or for what the kernel has against it.
    fn connect<D: Driver>(
        &self,
        driver: &mut D,
        conn: ConnId,
        until: Nanos,
    ) -> Result<Result<ConnId, Errno>, ProbeFailure> {
        loop {
            match self.event(driver, until, &Failure::of(ErrorClass::ConnectTimeout))? {
                Event::Connected(id) if id == conn => return Ok(Ok(conn)),
                Event::ConnectFailed(id, errno) if id == conn => return Ok(Err(errno)),
                _ => {}
            }
        }
    }

    fn secure<D: Driver>(
        &self,
        driver: &mut D,
        conn: ConnId,
        until: Nanos,
    ) -> Result<ProbeTls, ProbeFailure> {
        loop {
            match self.event(driver, until, &failure::HANDSHAKE_TIMEOUT)? {
                Event::Secured(id) if id == conn => {
                    let secured = self.clock.now();
                    let agreed =
                        driver.secured(conn).expect("a connection that was secured agreed on something");
                    return Ok(ProbeTls { secured, agreed, certificates: driver.peer_certificates(conn) });
                }
                Event::Ended(id, how) if id == conn => {
                    return Err(self.no(failure::of_handshake(how, driver)));
                }
                _ => {}
            }
        }
    }

    fn answer<D: Driver>(
        &mut self,
        driver: &mut D,
        conn: ConnId,
        reader: &mut ResponseReader,
        sink: &mut Keep,
    ) -> Result<(u16, u64, Nanos), ProbeFailure> {
        let mut first_byte = None;
        loop {
            match self.event(driver, self.deadline, &Failure::of(ErrorClass::RequestTimeout))? {
                Event::Received(id, len) if id == conn => {
                    let first_byte = *first_byte.get_or_insert_with(|| self.clock.now());
                    let room = SEEN_BYTES_MAX.saturating_sub(self.seen.len()).min(len);
                    self.seen.extend_from_slice(&driver.received(len)[..room]);
                    let progress = reader
                        .read(driver.received(len), sink)
                        .map_err(|fault| self.no(self.of_fault(fault)))?;
                    if let Some(answer) = progress.answer {
                        return Ok((answer.status, answer.body_bytes, first_byte));
                    }
                }
                Event::Ended(id, how) if id == conn => {
                    return match (how, reader.eof(), first_byte) {
                        (Ended::Eof, Eof::Complete(answer), Some(first_byte)) => {
                            Ok((answer.status, answer.body_bytes, first_byte))
                        }
                        _ => Err(self.no(failure::of_end(how, driver))),
                    };
                }
                _ => {}
            }
        }
    }
}

impl Attempt<'_> {
    /// What a fault of the answer means. An alert in TLS (RFC 8446 §6) is the answer of a port that speaks TLS
    /// to one who does not.
    fn of_fault(&self, fault: Fault) -> Failure {
        match self.seen[..] {
            [ALERT, TLS_MAJOR, ..] => {
                Failure::detailed(ErrorClass::Protocol, "the answer is an alert in TLS, and no HTTP")
            }
            _ => failure::of_fault(fault),
        }
    }
}

/// Keeps the answer.
struct Keep {
    head: Vec<u8>,
    version: HttpVersion,
    content_type: Option<String>,
    location: Option<String>,
    body: Vec<u8>,
}

impl ResponseSink for Keep {
    fn head(&mut self, head: &ResponseHead<'_>) {
        self.head = head.raw.to_vec();
        self.version = match head.version {
            Version::Http10 => HttpVersion::Http10,
            Version::Http11 => HttpVersion::Http11,
        };
        let text = |name| head.header(name).map(|value| String::from_utf8_lossy(value).into_owned());
        self.content_type = text("content-type");
        self.location = text("location");
    }

    fn body(&mut self, bytes: &[u8]) {
        let room = BODY_KEPT_BYTES - self.body.len();
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}
