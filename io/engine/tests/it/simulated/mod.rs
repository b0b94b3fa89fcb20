//! Tests load threads without sockets, threads and real seconds: one thread runs on a driver with
//! scripted peers and a clock that moves only while it waits. What these tests expect is exact.

mod chaos;
mod control;
mod driver;
mod holds;
mod pace;
mod peer;
mod rendezvous;
mod timeouts;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use wavetank_engine::{Command, run_here};
use wavetank_measure::{ConnCounts, ErrorClass, Interval};
use wavetank_plan::{Load, Plan};
use wavetank_units::Nanos;

use control::Control;
use driver::SimulatedDriver;
use peer::{Accept, Peer, Reply};

/// Messages and commands that may wait; more than a turn has.
const WAITING_MAX: usize = 4_096;

/// Runs the plan on one simulated thread. Returns its intervals.
fn run(peer: &Peer, plan: Plan) -> Vec<Interval> {
    run_with(peer, plan, Vec::new()).0
}

/// The same with commands at instants of the run's clock. Returns the logged lines, too.
fn run_with(peer: &Peer, plan: Plan, planned: Vec<(Nanos, Command)>) -> (Vec<Interval>, Vec<String>) {
    let plan = Arc::new(Plan { threads: 1, ..plan });
    let (sender, commands) = sync_channel(WAITING_MAX);
    let (messages, receiver) = sync_channel(WAITING_MAX);
    let control = Rc::new(RefCell::new(Control::new(receiver, sender, planned)));
    let driver = SimulatedDriver::new(peer.clone(), Rc::clone(&control));
    run_here(driver, &plan, false, commands, messages).expect("the driver does not fail");
    let mut control = control.borrow_mut();
    control.hear(Nanos::MAX);
    (std::mem::take(&mut control.intervals), std::mem::take(&mut control.logged))
}

/// Returns a plan of `loads` for [`Peer::ADDRESS`], one after the other.
fn plan(scenario: wavetank_plan::Scenario, loads: Vec<Load>) -> Plan {
    crate::flow::plan(Peer::ADDRESS, scenario, loads, 1)
}

fn conns(intervals: &[Interval]) -> ConnCounts {
    let mut all = ConnCounts::default();
    for interval in intervals {
        all.merge(&interval.conns);
    }
    all
}

/// Returns offered and successful requests.
fn offered(intervals: &[Interval]) -> (u64, u64) {
    let series = intervals.iter().flat_map(|interval| &interval.steps);
    series.fold((0, 0), |sum, series| (sum.0 + series.counters.offered, sum.1 + series.counters.done))
}

/// Returns the requests that failed with this class.
fn failed(intervals: &[Interval], class: ErrorClass) -> u64 {
    let series = intervals.iter().flat_map(|interval| &interval.steps);
    series.map(|series| series.counters.errors[class as usize]).sum()
}
