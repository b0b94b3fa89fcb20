//! [`Condition`]: `SUBJECT OP VALUE [in PHASE] [for WINDOW]`, everywhere the same.

mod foreign;
mod host;
mod host_pattern;
mod parse;
mod scale;
mod subject;
mod value;
mod value_kind;

pub use host::HostGauge;
pub use host_pattern::{THIS_HOST, matches_host};
pub use subject::{ERROR_CLASSES, PART_NAMES};

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

/// One condition as written, with the text kept for reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// The condition as the user wrote it, with white space folded.
    pub text: String,
    /// The measured quantity.
    pub subject: Subject,
    /// How it is compared.
    pub op: Op,
    /// With what: a time, a count, a rate, a share, bytes or a link's rate, as the subject allows.
    pub value: Value,
    /// Only this phase.
    pub phase: Option<String>,
    /// Judged on every window of this length, sliding by one second.
    pub window: Option<Nanos>,
}

/// Comparison of a measured value with a given one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Op {
    /// Returns the operator as users write it.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }

    /// Whether `left OP right`.
    #[expect(clippy::needless_pass_by_value, reason = "numbers, which are copied")]
    pub fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterEqual => left >= right,
        }
    }
}

/// The right-hand side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// A length of time.
    Time(Nanos),
    /// A bare count.
    Count(f64),
    /// Per second.
    PerSecond(f64),
    /// A share: 0.01 is 1 %.
    Share(f64),
    /// Bytes of memory.
    Bytes(f64),
    /// Bits per second on a link.
    BitsPerSecond(f64),
}

/// The left-hand side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Subject {
    /// A percentile (99.9) of a part's histogram, optionally of one step.
    Percentile(f64, LatencyPart, Option<String>),
    /// The mean of a part.
    Mean(LatencyPart, Option<String>),
    /// The minimum of a part.
    Min(LatencyPart, Option<String>),
    /// The maximum of a part.
    Max(LatencyPart, Option<String>),
    /// `offered sent done failed late dropped`, optionally of one step. The value decides whether
    /// it is a count, a share or a rate.
    Requests(RequestCounter, Option<String>),
    /// `errors(CLASS)`; the class's name as in `docs/measuring.md`.
    Errors(String),
    /// `status(CODE)`.
    Status(u16),
    /// `opened`: connections opened.
    Opened,
    /// `connections failed`: connections that could not be opened.
    ConnectionsFailed,
    /// `users`: virtual users at each seal.
    Users,
    /// `in_flight`: the number of open requests at the end of each interval.
    InFlight,
    /// `held`: connections open at each seal.
    Held,
    /// `lost`: connections ended although the plan still wanted them.
    Lost,
    /// `messages_in`: messages received.
    MessagesIn,
    /// `messages_out`: messages sent.
    MessagesOut,
    /// `pings_lost`: pings without an answer so far.
    PingsLost,
    /// `check(NAME)`: requests that failed the check of that name.
    Check(String),
    /// `count(NAME)`: requests that a step's `count` of that name counted.
    Count(String),
    /// `skew(NAME)`: from the first to the last request that left the rendezvous together.
    Skew(String),
    /// `cpu(HOST)` and similar: a gauge of the hosts with names that match the pattern.
    Host(HostGauge, String),
}

impl Subject {
    /// The step the subject is about, if it names one.
    pub fn step(&self) -> Option<&str> {
        match self {
            Self::Percentile(_, _, step)
            | Self::Mean(_, step)
            | Self::Min(_, step)
            | Self::Max(_, step)
            | Self::Requests(_, step) => step.as_deref(),
            _ => None,
        }
    }
}

/// Which counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestCounter {
    /// Intended by the plan.
    Offered,
    /// First byte handed to the kernel.
    Sent,
    /// Full answer as expected.
    Done,
    /// Any error class.
    Failed,
    /// Begun after the late tolerance.
    Late,
    /// Never sent.
    Dropped,
}

/// A part of a request's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LatencyPart {
    /// complete − intended.
    Response,
    /// complete − sent.
    Service,
    /// sent − begun.
    Wait,
    /// begun − intended.
    Lag,
    /// Connection set-up.
    Connect,
    /// TLS handshake.
    Tls,
    /// Greeting of a protocol.
    Hello,
    /// Round trip of a ping.
    Ping,
    /// first byte − sent.
    Ttfb,
    /// complete − first byte.
    Transfer,
    /// Time of failed requests.
    Failed,
}
