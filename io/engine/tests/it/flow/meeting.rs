//! Tests users that wait for each other.

use wavetank_measure::RendezvousRelease;
use wavetank_plan::{Action, EngineChoice, Load, Plan, PopulationCurve, Rendezvous};
use wavetank_testkit::{TimingMismatch, expect_time, retry_timing};
use wavetank_units::Nanos;

use super::support::{engines, run};
use super::{Seen, get, journeys, ms, ok, plan, scenario, server, sessions};

/// `/in`, wait for others, `/out`.
pub(crate) fn through_doors(of: Option<u64>, wait: Nanos) -> wavetank_plan::Scenario {
    let doors = Rendezvous { place: 0, wait, of };
    let journey = vec![Action::Request(0), Action::Rendezvous(doors), Action::Request(1)];
    scenario(vec![get("/in", &[]), get("/out", &[])], journey)
}

pub(crate) fn with_doors(mut plan: Plan) -> Plan {
    plan.shared.rendezvous = vec!["doors".to_owned()];
    plan
}

/// Returns the time from the last `/in` to the first `/out`, and from the first to the last `/out`.
fn gaps(seen: &Seen) -> (Nanos, Nanos) {
    let seen = seen.lock().expect("no thread panics with it");
    let of = |prefix: &str| {
        let all = seen.iter().filter(|(_, path)| path.starts_with(prefix)).map(|&(at, _)| at);
        let all: Vec<_> = all.collect();
        (all[0], all[all.len() - 1])
    };
    let ((_, last_in), (first_out, last_out)) = (of("/in"), of("/out"));
    assert!(last_in <= first_out, "no user leaves before the last one has arrived");
    (first_out - last_in, last_out - first_out)
}

/// Twenty users that arrive within 400 ms are released together.
fn check_together(threads: u32, engine: EngineChoice) -> Result<(), TimingMismatch> {
    let (address, seen) = server(ok);
    let load = Load::Closed {
        users: PopulationCurve::ramp(0, 20, ms(400)).expect("a ramp"),
        sessions_each: Some(1),
    };
    // Longer than the last users take to arrive.
    let doors = through_doors(None, Nanos::from_secs(20));
    let plan = Plan { engine, ..plan(address, doors, vec![load, Load::Pause], threads) };
    let intervals = run(with_doors(plan));
    let (_, spread) = gaps(&seen);
    let journeys = journeys(&intervals);
    let [meeting] = journeys.meetings.as_slice() else { panic!("{:?}", journeys.meetings) };
    let RendezvousRelease { of, present, by_wait, sent, .. } = *meeting;
    assert_eq!((of, present, by_wait, sent), (20, 20, false, 20), "{threads} threads");
    let skew = meeting.skew().expect("all were sent");
    assert!(meeting.first_sent > ms(350), "{threads} threads: {meeting:?}");
    let counts = sessions(&intervals);
    assert_eq!((counts.offered, counts.started, counts.done), (20, 20, 20));
    let is_together = spread < ms(300) && skew < ms(300);
    expect_time(is_together, || format!("{threads} threads: {spread:?}, {meeting:?}"))
}

#[test]
fn all_users_of_a_phase_go_simultaneously_on_any_number_of_threads() {
    for engine in engines() {
        for threads in [1, 2, 7] {
            retry_timing(|| check_together(threads, engine));
        }
    }
}
