//! Events start at their times, in the order of each host, and are reverted at their ends or at the
//! end of the run.

use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use wavetank_plan::PlannedEvent;
use wavetank_units::{Nanos, UserError};

use super::{EventExecutor, EventRunner, EventUpdate};

/// The orders an executor received, in order.
type Reported = Arc<Mutex<Vec<String>>>;

/// Does not come to an end before the run does.
const LONG: &str = "long";

/// Records its orders. It fails to start an event called `broken` and to revert one called `stuck`.
/// With one called [`LONG`] it waits for the end of the run.
struct Scribe(Reported, Arc<Barrier>);

impl Scribe {
    fn note(&self, what: String) {
        self.0.lock().expect("no thread panics while holding it").push(what);
    }
}

impl EventExecutor for Scribe {
    fn begin(&mut self, event: &PlannedEvent) -> Result<u64, UserError> {
        self.note(format!("{} {}", event.run, event.host));
        if event.run == LONG {
            self.1.wait();
        }
        if event.run == "broken" {
            Err(UserError::refused(wavetank_units::Code::Conflict, "it is broken", ""))
        } else {
            Ok(7)
        }
    }

    fn end(&mut self, event: &PlannedEvent, id: u64) -> Result<(), UserError> {
        assert_eq!(id, 7);
        self.note(format!("undo {} {}", event.run, event.host));
        if event.run == "stuck" {
            Err(UserError::refused(wavetank_units::Code::Conflict, "it is stuck", ""))
        } else {
            Ok(())
        }
    }
}

fn event(when: i64, run: &str, lasts: Option<i64>) -> PlannedEvent {
    PlannedEvent {
        when: Nanos::from_secs(when),
        host: "app1".to_owned(),
        run: run.to_owned(),
        undo: Some("back".to_owned()),
        lasts: lasts.map(Nanos::from_secs),
    }
}

/// Turns over `events` at each of `seconds`, ends, and compares the executor's orders and the
/// updates with the expected ones.
fn check(events: &[PlannedEvent], seconds: &[i64], reported: &[&str], heard: &[&str]) {
    let (log, ended) = (Reported::default(), Arc::new(Barrier::new(2)));
    let (scribe, end) = (Arc::clone(&log), Arc::clone(&ended));
    let executors =
        move || Ok(Box::new(Scribe(Arc::clone(&scribe), Arc::clone(&end))) as Box<dyn EventExecutor>);
    let mut runner = EventRunner::new(events, &executors).expect("there are hands");
    let mut news = Vec::new();
    let wait = Duration::from_secs(10);
    let is_long = |news: &[EventUpdate]| match news.last() {
        Some(EventUpdate::Begun { event, .. }) => events[usize::from(*event)].run == LONG,
        _ => false,
    };
    for &second in seconds {
        let now = Nanos::from_secs(second);
        news.extend(runner.turn(now));
        // All orders are completed before the next second.
        while runner.is_busy() && !is_long(&news) {
            news.extend(runner.wait(wait, now));
        }
    }
    runner.end();
    let end = Nanos::from_secs(100);
    news.extend(runner.turn(end));
    if is_long(&news) {
        ended.wait();
    }
    while !runner.is_over() {
        news.extend(runner.wait(wait, end));
    }
    assert_eq!(*log.lock().expect("no thread panics while holding it"), reported);
    let line = |one: &EventUpdate| match one {
        EventUpdate::Begun { event, at } => format!("{event} begun {at}"),
        EventUpdate::Done { event, at } => format!("{event} done {at}"),
        EventUpdate::Failed { event, at, why } => format!("{event} failed {at}: {}", why.message),
        EventUpdate::Undone { event, at } => format!("{event} undone {at}"),
        EventUpdate::Stuck { event, at, why } => format!("{event} stuck {at}: {}", why.message),
    };
    assert_eq!(news.iter().map(line).collect::<Vec<_>>(), heard);
}

#[test]
fn what_lasts_for_a_time_is_taken_back_then() {
    let heard = ["0 begun 2.00 s", "0 done 2.00 s", "0 undone 5.00 s"];
    check(&[event(2, "a", Some(3))], &[0, 1, 2, 3, 4, 5, 6], &["a app1", "undo a app1"], &heard);
}

#[test]
fn what_lasts_is_taken_back_at_the_end() {
    let heard = ["0 begun 2.00 s", "0 done 2.00 s", "0 undone 100 s"];
    check(&[event(2, "a", None)], &[1, 2, 3], &["a app1", "undo a app1"], &heard);
}

#[test]
fn what_was_done_last_is_taken_back_first() {
    let heard = [
        "0 begun 2.00 s",
        "0 done 2.00 s",
        "1 begun 3.00 s",
        "1 done 3.00 s",
        "1 undone 100 s",
        "0 undone 100 s",
    ];
    // The last one is done by the run's end, or is still being done.
    for last in ["b", LONG] {
        let reported = ["a app1", &format!("{last} app1"), &format!("undo {last} app1"), "undo a app1"];
        check(&[event(2, "a", None), event(3, last, None)], &[2, 3], &reported, &heard);
    }
}

#[test]
fn what_has_no_undo_is_left() {
    let lasting = PlannedEvent { undo: None, ..event(2, "a", None) };
    check(&[lasting], &[2, 3], &["a app1"], &["0 begun 2.00 s", "0 done 2.00 s"]);
    let fault = PlannedEvent { undo: None, ..event(2, "fault kill app", None) };
    let heard = ["0 begun 2.00 s", "0 done 2.00 s", "0 undone 100 s"];
    check(&[fault], &[2, 3], &["fault kill app app1", "undo fault kill app app1"], &heard);
}

#[test]
fn what_is_not_reached_is_not_done() {
    check(&[event(20, "a", None)], &[1, 2], &[], &[]);
}

#[test]
fn what_fails_is_reported_and_not_reverted() {
    let heard = ["0 begun 1.00 s", "0 failed 1.00 s: it is broken"];
    check(&[event(1, "broken", Some(1))], &[1, 2, 3], &["broken app1"], &heard);
    let heard = ["0 begun 1.00 s", "0 done 1.00 s", "0 stuck 2.00 s: it is stuck"];
    check(&[event(1, "stuck", Some(1))], &[1, 2, 3], &["stuck app1", "undo stuck app1"], &heard);
}
