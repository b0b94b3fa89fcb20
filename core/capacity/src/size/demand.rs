//! [`LoadDemand`]: how much load there is at its highest, whatever it was asked in.

use wavetank_units::quantity::{format_compact, format_grouped};
use wavetank_units::{Code, Nanos, Rate, UserError};

use super::result::show_length;
use super::{PerSecond, Quantity, SizingResult};
use wavetank_plan::constants::OPEN_RATE_PER_S;

/// More connections than anything in sight has; keeps every product exact.
pub const CONNECTIONS_MAX: u64 = 1_000_000_000_000;

/// The highest load. The three numbers of connections are related by Little's law: simultaneous
/// connections = new connections per second × the time each is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadDemand {
    /// Requests a second.
    pub requests: PerSecond,
    /// Simultaneous connections.
    pub connections: u64,
    /// Whether a file holds them: its requests follow from their number.
    pub held: bool,
    /// New connections a second while it lasts, because others end.
    pub opens: PerSecond,
    /// New connections a second at the highest, those before the load included.
    pub opening: PerSecond,
    /// Simultaneous open requests.
    pub in_flight: u64,
    /// The exchange of one request and its response.
    pub exchange: TransactionProfile,
    /// How long it lasts, where that is known.
    pub length: Option<Nanos>,
    /// The numbers as they were asked, and those that follow from them.
    pub asked: Vec<SizingResult>,
    /// Worth knowing.
    pub notes: Vec<String>,
}

/// The traffic of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionProfile {
    /// From a request's first byte to its answer's last.
    pub service: Nanos,
    /// Whether the user gave the service time.
    pub service_given: bool,
    /// Bytes of one request, inside TLS.
    pub request_bytes: u64,
    /// Bytes of one answer with its head, inside TLS.
    pub answer_bytes: u64,
    /// Clients speak TLS.
    pub tls: bool,
    /// The side that closes connections, and how.
    pub closing: CloseSide,
}

/// The side that closes a connection, and how. It determines which side keeps it in `TIME_WAIT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseSide {
    /// The client, orderly.
    Client,
    /// The client, by a reset: neither side keeps the connection.
    Reset,
    /// The server, as with `Connection: close`.
    Server,
}

/// The options that define the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// `-r`: requests a second.
    pub rate: Option<Rate>,
    /// `-c`: simultaneous connections.
    pub connections: Option<u64>,
    /// `--hold`: how long each connection is kept.
    pub hold: Option<Nanos>,
    /// `--requests-per-connection`, or 1 of `--no-keepalive`.
    pub each: Option<u64>,
    /// `--open-rate`.
    pub open_rate: Option<Rate>,
    /// `-d`.
    pub duration: Option<Nanos>,
    /// `-n`.
    pub requests: Option<u64>,
}

impl LoadDemand {
    /// Computes the demand from options.
    ///
    /// # Errors
    /// Options that are not sufficient, contradict each other, or overflow.
    pub fn from_options(words: &LoadOptions, exchange: TransactionProfile) -> Result<Self, UserError> {
        let mut demand = match (words.rate, words.connections) {
            (None, None) => return Err(nothing(words)),
            (Some(rate), None) => arriving(words, PerSecond::from_rate(rate), exchange),
            (rate, Some(connections)) => kept(words, rate.map(PerSecond::from_rate), connections, exchange)?,
        };
        if demand.connections > CONNECTIONS_MAX {
            let message = format!("{} connections are out of range", format_grouped(demand.connections));
            return Err(UserError::usage(
                Code::Overflow,
                message,
                "a trillion at most; fewer, or for a shorter time",
            ));
        }
        demand.flight()?;
        demand.total(words)?;
        Ok(demand)
    }

    fn ask(&mut self, what: &'static str, value: Quantity, formula: impl Into<String>) {
        self.asked.push(SizingResult { role: None, what, value, formula: formula.into() });
    }

    /// Sets the simultaneous open requests, which are never more than the connections.
    fn flight(&mut self) -> Result<(), UserError> {
        let service = self.exchange.service;
        let wanted = self.requests.count_in(service);
        self.in_flight = wanted.min(self.connections);
        if self.requests.is_zero() {
            return Ok(());
        }
        let (rate, connections) = (self.requests.show(), format_grouped(self.connections));
        if wanted <= self.connections {
            let formula = format!("{rate} × {} service", show_length(service));
            self.ask("in_flight", Quantity::Count(self.in_flight), formula);
            return Ok(());
        }
        let longest = Nanos(per(u128::from(self.connections), self.requests));
        if self.exchange.service_given {
            return Err(UserError::usage(
                Code::Conflict,
                format!(
                    "{rate} at {} each keep {} connections busy, and there are {connections}",
                    show_length(service),
                    format_grouped(wanted)
                ),
                format!("-c {wanted} or more, or answers within {}", show_length(longest)),
            ));
        }
        self.exchange.service = longest;
        self.ask("in_flight", Quantity::Count(self.in_flight), "every connection is busy all the time");
        self.notes.push(format!(
            "{rate} over {connections} connections needs each response within {}",
            show_length(longest)
        ));
        Ok(())
    }

    /// Sets the totals if the length or the number of requests is given.
    fn total(&mut self, words: &LoadOptions) -> Result<(), UserError> {
        let by_count = words.requests.map(|count| (count, Nanos(per(u128::from(count), self.requests))));
        if by_count.is_some() && self.requests.is_zero() {
            let hint = "-r sets their rate";
            return Err(UserError::usage(Code::Conflict, "-n means nothing without -r", hint));
        }
        self.length = match (words.duration, by_count) {
            (Some(length), Some((_, own))) => Some(length.min(own)),
            (length, own) => length.or(own.map(|(_, own)| own)),
        };
        let Some(length) = self.length else { return Ok(()) };
        self.ask(
            "length",
            Quantity::Length(length),
            if words.duration == Some(length) { "" } else { "-n ÷ -r" },
        );
        if !self.requests.is_zero() {
            let formula = format!("{} × {}", self.requests.show(), show_length(length));
            self.ask("requests_in_all", Quantity::Count(self.requests.count_in(length)), formula);
        }
        Ok(())
    }
}

/// `-r` without `-c`: as many connections as it takes.
fn arriving(words: &LoadOptions, requests: PerSecond, exchange: TransactionProfile) -> LoadDemand {
    let each = words.each.or(words.hold.map(|_| 1));
    let opens = each.map_or(PerSecond::ZERO, |each| requests.part(each));
    let (connections, formula) = if let Some(hold) = words.hold {
        (opens.count_in(hold), format!("{} × {}", opens.show(), show_length(hold)))
    } else {
        let formula = format!("{} × {} service", requests.show(), show_length(exchange.service));
        (requests.count_in(exchange.service).max(1), formula)
    };
    // A connection with one request that is kept for this time waits for its response all that
    // time.
    let service = match words.hold {
        Some(hold) if each == Some(1) && !exchange.service_given => hold,
        _ => exchange.service,
    };
    let mut demand =
        LoadDemand::new(requests, connections, opens, TransactionProfile { service, ..exchange });
    demand.opening = opens.max(opening(words, connections));
    demand.ask("requests_per_s", Quantity::PerSecond(requests), "");
    if let Some(each) = each {
        let formula = format!("{} ÷ {} on each connection", requests.show(), requests_word(each));
        demand.ask("opens_per_s", Quantity::PerSecond(opens), formula);
    }
    demand.ask("connections", Quantity::Count(connections), formula);
    demand
}

/// `-c`: this number of connections is kept.
fn kept(
    words: &LoadOptions,
    rate: Option<PerSecond>,
    connections: u64,
    exchange: TransactionProfile,
) -> Result<LoadDemand, UserError> {
    let by_hold = words.hold.map(|hold| PerSecond::per(u128::from(connections), hold));
    let requests = match (rate, words.each, by_hold) {
        (Some(rate), Some(each), Some(opens)) => {
            agree(words, rate, each, opens)?;
            rate
        }
        (Some(rate), ..) => rate,
        (None, Some(each), Some(opens)) => opens.times(u128::from(each)),
        (None, Some(_), None) => {
            let hint = "-r sets how many are sent, --hold how long a connection is kept";
            let message = "requests on each connection mean nothing without -r or --hold";
            return Err(UserError::usage(Code::Conflict, message, hint));
        }
        (None, None, _) => PerSecond::ZERO,
    };
    let by_each = words.each.map(|each| requests.part(each));
    let opens = by_hold.or(by_each).unwrap_or_default();
    let mut demand = LoadDemand::new(requests, connections, opens, exchange);
    demand.opening = opens.max(opening(words, connections));
    demand.ask("connections", Quantity::Count(connections), "");
    let formula = match (rate, words.each) {
        (None, Some(each)) => format!("{} × {}", opens.show(), requests_word(each)),
        _ => String::new(),
    };
    demand.ask("requests_per_s", Quantity::PerSecond(requests), formula);
    if let Some(hold) = words.hold {
        let formula = format!("{} ÷ {}", format_grouped(connections), show_length(hold));
        demand.ask("opens_per_s", Quantity::PerSecond(opens), formula);
    } else if let Some(each) = words.each {
        let formula = format!("{} ÷ {} on each connection", requests.show(), requests_word(each));
        demand.ask("opens_per_s", Quantity::PerSecond(opens), formula);
    }
    if !requests.is_zero() {
        let gap = Nanos(per(u128::from(connections), requests));
        let formula = format!("{} ÷ {}", format_grouped(connections), requests.show());
        demand.ask("each_sends_every", Quantity::Length(gap), formula);
    }
    let ahead = Nanos(per(u128::from(connections), demand.opening));
    let formula = format!("{} ÷ {} (--open-rate)", format_grouped(connections), demand.opening.show());
    demand.ask("opening_takes", Quantity::Length(ahead), formula);
    Ok(demand)
}

impl LoadDemand {
    pub(super) fn new(
        requests: PerSecond,
        connections: u64,
        opens: PerSecond,
        exchange: TransactionProfile,
    ) -> Self {
        Self {
            requests,
            connections,
            held: false,
            opens,
            opening: opens,
            in_flight: requests.count_in(exchange.service).min(connections),
            exchange,
            length: None,
            asked: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// New connections a second while a pool fills.
fn opening(words: &LoadOptions, connections: u64) -> PerSecond {
    let wanted = words.open_rate.unwrap_or(Rate::per_second(OPEN_RATE_PER_S));
    PerSecond::from_rate(wanted).min(PerSecond::per(u128::from(connections), Nanos::SECOND))
}

/// Checks that the rate, the requests per connection, and connections ÷ their time agree if all are
/// given.
fn agree(words: &LoadOptions, rate: PerSecond, each: u64, opens: PerSecond) -> Result<(), UserError> {
    let product = opens.times(u128::from(each));
    // Each was rounded up by a millionth at most.
    let apart = product.as_f64() - rate.as_f64();
    if apart.abs() <= 1e-6 * each as f64 + 1e-6 {
        return Ok(());
    }
    let (connections, hold) = (words.connections.unwrap_or(0), words.hold.unwrap_or_default());
    let message = format!(
        "-c {}, --hold {} and {} on each are {}, and -r says {}",
        format_compact(connections),
        show_length(hold),
        requests_word(each),
        product.show(),
        rate.show()
    );
    Err(UserError::usage(Code::Conflict, message, "leave one of the four out: it follows from the others"))
}

fn nothing(words: &LoadOptions) -> UserError {
    let message = match words.hold {
        Some(hold) => format!("--hold {} sets how long, but no option sets how much", show_length(hold)),
        None => "no option sets the load".to_owned(),
    };
    let hint = "-r 10k/s, -c 1M, both, or an experiment file: wavetank size -r 1M/s -c 1M --hold 100s";
    UserError::usage(Code::NoLoad, message, hint)
}

fn requests_word(count: u64) -> String {
    if count == 1 { "1 request".to_owned() } else { format!("{} requests", format_grouped(count)) }
}

/// How long `count` take at `flow`, in nanoseconds, rounded up.
fn per(count: u128, flow: PerSecond) -> i64 {
    let seconds = count as f64 / flow.as_f64().max(f64::MIN_POSITIVE);
    // `as` saturates.
    (seconds * 1e9).ceil() as i64
}
