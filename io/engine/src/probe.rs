//! [`Probe`]: one request outside every counter, with all its instants and the whole response.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_driver::{Clock, Driver, Epoll, Errno, Features, TlsClient, Uring};
use wavetank_journey::CompiledStep;
use wavetank_measure::ErrorClass;
use wavetank_plan::{Close, EngineChoice, HttpVersion, Plan};
use wavetank_units::Nanos;
use wavetank_wire::h1::{ResponseHead, ResponseSink, Version};

use crate::load_config::OutboundConfig;
use crate::single_user::{Connector, Handshake, RequestError, ResponseTimes, SingleConnection};
use crate::sources::SourcePorts;

/// The maximum number of body bytes that are kept; the rest is counted.
const BODY_KEPT_BYTES: usize = 1 << 20;

/// The most times that a request is repeated.
const REPEATS_MAX: u64 = 8;
/// How long a request is repeated.
const REPEATS_TIME: Nanos = Nanos::from_millis(20);

/// One request to the plan's first step, which may be repeated.
pub struct Probe<'a> {
    plan: &'a Plan,
    clock: Clock,
    way: OutboundConfig,
    /// Whether the shortest latency so far must be measured again.
    repeats: &'a dyn Fn(Nanos) -> bool,
}

/// A response, with instants on the clock that the probe was given.
#[derive(Clone, Debug)]
pub struct ProbeAnswer {
    /// The address that answered.
    pub address: SocketAddr,
    /// When connecting started.
    pub begun: Nanos,
    /// When the connection was established.
    pub connected: Nanos,
    /// When the proxy had opened a tunnel, if one was requested.
    pub tunnelled: Option<Nanos>,
    /// The result of the TLS handshake, if there was one.
    pub tls: Option<Handshake>,
    /// When the request was handed to the kernel.
    pub sent: Nanos,
    /// When the first byte of the response arrived.
    pub first_byte: Nanos,
    /// When the response was complete.
    pub complete: Nanos,
    /// Its status.
    pub status: u16,
    /// The request as sent.
    pub request: Vec<u8>,
    /// Status line and headers as received.
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
    /// The same request, sent again.
    pub repeated: ProbeRepeats,
}

/// The requests that repeated the first one on its connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeRepeats {
    /// How many were answered.
    pub done: u64,
    /// How many were not; the first ends them.
    pub failed: u64,
    /// The shortest time from sending to the whole response.
    pub latency: Option<Nanos>,
}

impl ProbeAnswer {
    /// Returns the shortest time from sending a request to its whole response.
    pub fn latency(&self) -> Nanos {
        let first = self.complete - self.sent;
        self.repeated.latency.map_or(first, |latency| latency.min(first))
    }
}

/// Why there was no response.
#[derive(Clone, Debug)]
pub struct ProbeFailure {
    /// The address that was tried.
    pub address: SocketAddr,
    /// Whether no connection was made to the address.
    pub unreached: bool,
    /// The class under which it would have been counted.
    pub class: ErrorClass,
    /// The kernel's error.
    pub errno: Option<Errno>,
    /// A description of the fault.
    pub detail: String,
    /// Whether the request was handed to the kernel.
    pub sent: bool,
    /// How long it took.
    pub waited: Nanos,
    /// The start of the received bytes, up to some KiB.
    pub seen: Vec<u8>,
}

impl<'a> Probe<'a> {
    /// Creates a probe for `plan` on its engine, with the TLS client if the plan uses TLS.
    ///
    /// If the plan has source addresses, the probe binds one of `ports`, as the load does. After
    /// earlier loads the kernel may have no free port left to choose from.
    pub const fn new(
        plan: &'a Plan,
        clock: Clock,
        features: Features,
        ports: SourcePorts,
        tls: Option<Arc<TlsClient>>,
    ) -> Self {
        Self { plan, clock, way: OutboundConfig { ports, features, tls }, repeats: &|_| false }
    }

    /// Sends the request again on the same connection, some times within milliseconds, while
    /// `repeats` returns true for the shortest latency so far.
    #[must_use]
    pub const fn repeated_while(mut self, repeats: &'a dyn Fn(Nanos) -> bool) -> Self {
        self.repeats = repeats;
        self
    }

    /// Connects, sends, and waits for the whole response, within the plan's timeouts.
    ///
    /// The probe gives up once `cancelled` returns true. It is checked often, and whenever a signal
    /// interrupts the wait.
    pub fn run(&self, cancelled: &dyn Fn() -> bool) -> Result<ProbeAnswer, ProbeFailure> {
        match self.plan.engine {
            EngineChoice::Uring => self.run_over::<Uring>(cancelled),
            EngineChoice::Epoll | EngineChoice::Auto => self.run_over::<Epoll>(cancelled),
        }
    }

    fn run_over<D: Driver>(&self, cancelled: &dyn Fn() -> bool) -> Result<ProbeAnswer, ProbeFailure> {
        let request = CompiledStep::new(&self.plan.scenarios[0].steps[0], self.plan, false)
            .expect("the plan's scenarios are compiled before the probe");
        let bytes = request.as_fixed().expect("a run of one URL always sends the same bytes");
        let mut caller = Connector::new(self.plan, self.clock, self.way.clone(), cancelled);
        let begun = self.clock.now();
        let deadline = begun.after(self.plan.http.timeout);
        let no = |broken| self.failed(broken, request.target, begun);
        let open_until = begun.after(self.plan.http.connect_timeout).min(deadline);
        let mut line: SingleConnection<D> = caller.open(request.target, open_until).map_err(no)?;
        let mut sink = Keep::new();
        let heard = caller.ask(&mut line, (bytes, request.head), deadline, &mut sink).map_err(no)?;
        let opened = line.opened.clone();
        let repeated = self.repeated(&caller, line, (bytes, request.head), &heard);
        Ok(ProbeAnswer {
            address: opened.address,
            begun: opened.begun,
            connected: opened.connected,
            tunnelled: opened.tunnelled,
            tls: opened.tls,
            sent: heard.sent,
            first_byte: heard.first_byte,
            complete: heard.complete,
            status: heard.answer.status,
            request: bytes.to_vec(),
            head: sink.head,
            version: sink.version,
            content_type: sink.content_type,
            location: sink.location,
            body: sink.body,
            body_bytes: heard.answer.body_bytes,
            repeated,
        })
    }

    /// Repeats the request that got `first`, and closes the connection.
    fn repeated<D: Driver>(
        &self,
        caller: &Connector<'_>,
        mut line: SingleConnection<D>,
        request: (&Arc<[u8]>, bool),
        first: &ResponseTimes,
    ) -> ProbeRepeats {
        let http = &self.plan.http;
        let (mut last, mut repeated) = (*first, ProbeRepeats::default());
        let (mut latency, until) = (first.complete - first.sent, first.complete.after(REPEATS_TIME));
        while http.keepalive
            && http.requests_per_connection.is_none_or(|most| line.served < most)
            && last.answer.keep_alive
            && !last.surplus
            && repeated.done < REPEATS_MAX
            && last.complete < until
            && (self.repeats)(latency)
            && !line.has_ended()
        {
            let deadline = self.clock.now().after(http.timeout);
            let Ok(heard) = caller.ask(&mut line, request, deadline, &mut Keep::new()) else {
                repeated.failed += 1;
                break;
            };
            latency = latency.min(heard.complete - heard.sent);
            repeated = ProbeRepeats { done: repeated.done + 1, latency: Some(latency), ..repeated };
            last = heard;
        }
        line.close(Close::Fin);
        repeated
    }

    fn failed(&self, broken: RequestError, target: u16, begun: Nanos) -> ProbeFailure {
        ProbeFailure {
            address: broken
                .address
                .unwrap_or(self.plan.connect_addresses(&self.plan.targets[usize::from(target)])[0]),
            unreached: broken.failure.is_unreached(),
            class: broken.failure.class,
            errno: broken.failure.errno,
            detail: broken.failure.message(),
            sent: broken.sent,
            waited: self.clock.now() - begun,
            seen: broken.seen,
        }
    }
}

/// Keeps the response.
struct Keep {
    head: Vec<u8>,
    version: HttpVersion,
    content_type: Option<String>,
    location: Option<String>,
    body: Vec<u8>,
}

impl Keep {
    const fn new() -> Self {
        Self {
            head: Vec::new(),
            version: HttpVersion::Http11,
            content_type: None,
            location: None,
            body: Vec::new(),
        }
    }
}

impl ResponseSink for Keep {
    fn head(&mut self, head: &ResponseHead<'_>) {
        self.head = head.raw.to_vec();
        self.version = match head.version {
            Version::Http10 => HttpVersion::Http10,
            Version::Http11 => HttpVersion::Http11,
            Version::Http2 => HttpVersion::Http2,
            Version::Http3 => HttpVersion::Http3,
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
