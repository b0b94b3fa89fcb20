//! [`RunResult`]: the JSON of a run (`wavetank.run/1`), read by path, with the checks that every
//! run must pass.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;

use crate::retry_timing::{TimingMismatch, expect_time};
use crate::truth::Truth;

/// Every documented error class.
const CLASSES: [&str; 17] = [
    "dns",
    "connect_refused",
    "connect_timeout",
    "connect_unreachable",
    "no_source_address",
    "no_files",
    "tls",
    "reset",
    "closed_early",
    "request_timeout",
    "protocol",
    "status",
    "login",
    "check",
    "body_limit",
    "data",
    "other",
];

/// The JSON object of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    value: Value,
}

impl RunResult {
    /// The share of the offered requests that were sent late.
    pub fn late_share(&self) -> f64 {
        self.count("requests.late") as f64 / self.count("requests.offered").max(1) as f64
    }

    /// Takes the object; panics if it is not a `wavetank.run/1`.
    #[track_caller]
    pub fn new(value: Value) -> Self {
        assert_eq!(value["schema"], "wavetank.run/1", "not a run: {value:#}");
        Self { value }
    }

    /// The whole object.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the value at `path`, e.g. `requests.offered`; null if there is none.
    pub fn at(&self, path: &str) -> &Value {
        path.split('.').fold(&self.value, |value, name| &value[name])
    }

    /// The count at `path`; panics if there is none.
    #[track_caller]
    pub fn count(&self, path: &str) -> u64 {
        self.at(path).as_u64().unwrap_or_else(|| panic!("no count at {path}: {self}"))
    }

    /// Returns the count at `path`, or 0 if it is missing (classes that did not occur).
    pub fn count_or_zero(&self, path: &str) -> u64 {
        self.at(path).as_u64().unwrap_or(0)
    }

    /// The number at `path`; panics if there is none.
    #[track_caller]
    pub fn number(&self, path: &str) -> f64 {
        self.at(path).as_f64().unwrap_or_else(|| panic!("no number at {path}: {self}"))
    }

    /// The text at `path`; panics if there is none.
    #[track_caller]
    pub fn text(&self, path: &str) -> &str {
        self.at(path).as_str().unwrap_or_else(|| panic!("no text at {path}: {self}"))
    }

    /// The time at `path`, which is in microseconds.
    #[track_caller]
    pub fn time(&self, path: &str) -> Duration {
        Duration::from_secs_f64(self.number(path) / 1e6)
    }

    /// The verdict's status.
    #[track_caller]
    pub fn status(&self) -> &str {
        self.text("verdict.status")
    }

    /// Panics unless the counters obey `docs/measuring.md` §2 and §3.
    #[track_caller]
    pub fn conserved(&self) -> &Self {
        let request = |name: &str| self.count(&format!("requests.{name}"));
        let resolved = request("done") + request("failed") + request("dropped") + request("open");
        assert_eq!(request("offered"), resolved, "offered = done + failed + dropped + open: {self}");
        let classes: u64 = self.named("errors", &CLASSES);
        assert_eq!(classes, request("failed"), "the classes sum to failed: {self}");
        let reasons = ["max_open", "no_source_address", "no_files", "no_memory", "behind"];
        assert_eq!(
            self.named("dropped_by", &reasons),
            request("dropped"),
            "the reasons sum to dropped: {self}"
        );
        let wire = |name: &str| self.count(&format!("wire.{name}"));
        let parts = request("sent") + wire("retried") + wire("redirected") + wire("resources");
        assert_eq!(wire("sent"), parts, "wire.sent = sent + retried + redirected + resources: {self}");
        self.response_complete();
        self.connections_conserved();
        self.parts_sum_up();
        self.sessions_conserved();
        self
    }

    /// Checks that sessions add up, and so do the scopes of the run's result.
    #[track_caller]
    fn sessions_conserved(&self) {
        let session = |name: &str| self.count(&format!("sessions.{name}"));
        let ended = session("done") + session("failed") + session("dropped") + session("open");
        assert_eq!(session("offered"), ended, "sessions: offered = done + failed + dropped + open: {self}");
        let began = session("started") + session("dropped");
        assert_eq!(session("offered"), began, "sessions: offered = started + dropped: {self}");
        let sum = |scope: &str, what: &str| -> u64 {
            let parts = self.at(scope).as_array().map_or(&[][..], Vec::as_slice);
            parts.iter().filter_map(|part| part.pointer(what)?.as_u64()).sum()
        };
        for name in ["offered", "sent", "done", "failed", "dropped", "open"] {
            let (whole, pointer) = (self.count(&format!("requests.{name}")), format!("/requests/{name}"));
            for scope in ["phases", "scenarios", "steps"] {
                assert_eq!(sum(scope, &pointer), whole, "{name} of all {scope} is that of the run: {self}");
            }
        }
        for scope in ["phases", "scenarios"] {
            assert_eq!(sum(scope, "/sessions/done"), session("done"), "sessions of all {scope}: {self}");
        }
    }

    /// If every request was done, response = lag + wait + service exactly, and therefore also their
    /// sums.
    #[track_caller]
    fn parts_sum_up(&self) {
        let done = self.count("requests.done");
        let is_partial = done != self.count("requests.offered") || self.count("wire.retried") > 0;
        // Messages without an answer have a lag, and no response time.
        if done == 0 || is_partial || self.count_or_zero("wire.one_way") > 0 {
            return;
        }
        let sum = |series: &str| {
            assert_eq!(self.count(&format!("{series}.count")), done, "each request has a {series}: {self}");
            self.number(&format!("{series}.mean")) * done as f64
        };
        let (whole, parts) = (sum("response_us"), sum("lag_us") + sum("wait_us") + sum("service_us"));
        // Means are printed from whole nanoseconds, so only the last bits of the floats may differ.
        let off = (whole - parts).abs();
        assert!(off <= 0.001 + whole * 1e-9, "response {whole} µs, lag + wait + service {parts} µs: {self}");
    }

    /// Checks that the response time contains the done and the timed-out requests. It also contains
    /// those open at the end, except if the program was killed, because their waiting time is then
    /// unknown.
    #[track_caller]
    fn response_complete(&self) {
        let count = |path: &str| self.count_or_zero(path);
        let timeouts = count("errors.connect_timeout") + count("errors.request_timeout");
        let reasons = self.at("verdict.reasons").as_array();
        let killed = reasons.is_some_and(|reasons| reasons.iter().any(|reason| reason == "lost"));
        let open = if killed {
            count("response_us.censored").saturating_sub(timeouts)
        } else {
            count("requests.open")
        };
        // Messages without an answer have no response time.
        let held = count("requests.done") - count("wire.one_way") + timeouts + open;
        assert_eq!(count("response_us.count"), held, "response holds done and censored: {self}");
        assert_eq!(count("response_us.censored"), timeouts + open, "timeouts and open are censored: {self}");
        assert!(open <= count("requests.open"), "at most the open requests are censored: {self}");
        let notes = self.at("notes").as_array();
        let said =
            notes.is_some_and(|notes| notes.iter().any(|note| note.to_string().contains("as they waited")));
        assert!(!said || open == count("requests.open"), "a note contains a false statement: {self}");
    }

    #[track_caller]
    fn connections_conserved(&self) {
        let connection = |name: &str| self.count(&format!("connections.{name}"));
        let (opened, opening) = (connection("opened"), connection("opening"));
        assert_eq!(connection("offered"), opened + connection("failed") + opening, "connections: {self}");
        let ended = connection("closed") + connection("lost") + connection("open");
        assert_eq!(opened, ended, "opened = closed + lost + open: {self}");
    }

    /// The sum of a map of counts; panics on a name that is not among `names`.
    #[track_caller]
    fn named(&self, path: &str, names: &[&str]) -> u64 {
        let map = self.at(path).as_object().unwrap_or_else(|| panic!("no map at {path}: {self}"));
        for name in map.keys() {
            assert!(names.contains(&name.as_str()), "{path}.{name} is not a documented name: {self}");
        }
        map.values().map(|count| count.as_u64().unwrap_or_else(|| panic!("no count in {path}: {self}"))).sum()
    }

    /// All requests on the wire: load, warm-up and probe.
    #[track_caller]
    pub fn sent_total(&self) -> u64 {
        self.count("wire.sent") + self.count_or_zero("warmup.wire.sent") + self.count("setup.sent")
    }

    /// Panics unless the target's count equals the run's count of sent requests.
    #[track_caller]
    pub fn agrees_with(&self, truth: &Truth) -> &Self {
        let sent = self.sent_total();
        assert_eq!(
            truth.requests, sent,
            "the target's count = wire.sent + warmup.wire.sent + setup.sent: {self}"
        );
        assert_eq!(truth.malformed, 0, "the target could read every request: {self}");
        self
    }

    /// Off unless the time at `path` is within max(2 %, 1 ms) of `expected`.
    #[track_caller]
    pub fn check_time(&self, path: &str, expected: Duration) -> Result<(), TimingMismatch> {
        let found = self.time(path);
        let tolerance = expected.mul_f64(0.02).max(Duration::from_millis(1));
        expect_time(found.abs_diff(expected) <= tolerance, || {
            format!("{path} is {found:?}, the closed form says {expected:?} ± {tolerance:?}\n{self}")
        })
    }

    /// Returns a complaint unless the time at `path` is in `range`.
    #[track_caller]
    pub fn within(&self, path: &str, range: RangeInclusive<Duration>) -> Result<(), TimingMismatch> {
        let found = self.time(path);
        expect_time(range.contains(&found), || format!("{path} is {found:?}, must be in {range:?}\n{self}"))
    }
}

impl fmt::Display for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.value)
    }
}
