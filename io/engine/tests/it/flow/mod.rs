//! Tests the flow of sessions on real load threads: rendezvous, first and last steps, and the
//! assignment of rows.

pub(crate) mod chaos;
pub(crate) mod meeting;
mod rows;
use crate::support;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use support::plain_plan;
use wavetank_driver::Clock;
use wavetank_measure::{Interval, JourneyCounters, SessionCounts};
use wavetank_plan::{
    Action, ConnectionOwner, Escape, Expr, Hole, Load, Phase, Plan, PopulationCurve, RequestPlan, Scenario,
    ScenarioMix, Step, Template, TemplatePart,
};
use wavetank_units::Nanos;

/// The requested paths, and when they arrived.
type Seen = Arc<Mutex<Vec<(Nanos, String)>>>;

/// Responds to every request with the status that `answer` returns for its path, until the process
/// ends.
fn server(answer: fn(&str) -> u16) -> (SocketAddr, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let seen = Seen::default();
    let all = Arc::clone(&seen);
    let clock = Clock::starting_now();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, seen) = (stream.expect("a connection"), Arc::clone(&all));
            std::thread::spawn(move || serve(stream, &seen, clock, answer));
        }
    });
    (address, seen)
}

fn serve(stream: TcpStream, seen: &Seen, clock: Clock, answer: fn(&str) -> u16) {
    let mut writer = stream.try_clone().expect("a second handle");
    let mut reader = BufReader::new(stream);
    let mut path = None;
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap_or(0) > 0 {
        let first = path.get_or_insert_with(|| line.split(' ').nth(1).expect("a path").to_owned());
        if line == "\r\n" {
            let head = format!("HTTP/1.1 {} So\r\nContent-Length: 0\r\n\r\n", answer(first));
            seen.lock().expect("no thread panics with it").push((clock.now(), std::mem::take(first)));
            path = None;
            if writer.write_all(head.as_bytes()).is_err() {
                return;
            }
        }
        line.clear();
    }
}

pub(crate) fn ok(_: &str) -> u16 {
    200
}

pub(crate) const fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

/// Returns the paths of `seen` with this prefix, in order of arrival.
fn paths(seen: &Seen, prefix: &str) -> Vec<String> {
    let seen = seen.lock().expect("no thread panics with it");
    seen.iter().map(|(_, path)| path.clone()).filter(|path| path.starts_with(prefix)).collect()
}

/// Returns a step that requests `path` followed by `values`, separated by dashes.
pub(crate) fn get(path: &str, values: &[Expr]) -> Step {
    let mut template = Template::from(path);
    for value in values {
        template.push_fixed(b"-");
        template.pieces.push(TemplatePart::Hole(Hole { value: value.clone(), escape: Escape::Path }));
    }
    let request = RequestPlan { method: "GET".to_owned(), path: template, ..RequestPlan::default() };
    Step::plain(format!("GET {path}"), 0, request)
}

pub(crate) fn scenario(steps: Vec<Step>, journey: Vec<Action>) -> Scenario {
    Scenario { journey, ..Scenario::from_steps("flow", ConnectionOwner::User, steps) }
}

/// Returns a plan of `loads` of `scenario`, one after the other, on `threads` threads.
pub(crate) fn plan(address: SocketAddr, scenario: Scenario, loads: Vec<Load>, threads: u32) -> Plan {
    let mut plan = plain_plan(address);
    plan.threads = threads;
    plan.scenarios = vec![scenario];
    let base = plan.phases.remove(0);
    let mut start = Nanos::ZERO;
    for load in loads {
        let length = match &load {
            Load::Open { rate, .. } => rate.length(),
            other => other.levels().map_or(ms(200), PopulationCurve::length),
        };
        let connections = load.levels().map_or(50, PopulationCurve::max);
        plan.phases.push(Phase {
            name: format!("phase {}", plan.phases.len()),
            start,
            length: Some(length),
            connections,
            mix: ScenarioMix::one(0),
            load,
            open_before: false,
            max_open: 1_000,
            ..base.clone()
        });
        start = start.after(length);
    }
    plan
}

pub(crate) fn users(count: u64, millis: i64, sessions_each: Option<u64>) -> Load {
    Load::Closed { users: PopulationCurve::constant(count, Some(ms(millis))), sessions_each }
}

/// Returns the session counters of the whole run; its gauges are those at the end.
pub(crate) fn journeys(intervals: &[Interval]) -> JourneyCounters {
    assert_eq!(left_open(intervals), 0, "no session is left: {:?}", intervals.last());
    let all = merged(intervals);
    for series in &all.sessions {
        series.check().expect("sessions add up");
    }
    all
}

/// Returns the number of sessions that were cut.
pub(crate) fn left_open(intervals: &[Interval]) -> u64 {
    intervals.last().expect("an interval").journeys.sessions.iter().map(|series| series.open).sum()
}

/// The same if some sessions may have been cut.
pub(crate) fn merged(intervals: &[Interval]) -> JourneyCounters {
    let mut all = JourneyCounters::default();
    for interval in intervals {
        all.merge(&interval.journeys);
    }
    all
}

/// Sessions of all phases.
pub(crate) fn sessions(intervals: &[Interval]) -> SessionCounts {
    let mut all = SessionCounts::default();
    journeys(intervals).sessions.iter().for_each(|series| all.merge(&series.counts));
    all
}
