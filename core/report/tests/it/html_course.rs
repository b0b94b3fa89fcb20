//! The page's charts: each is there if it has data, has its numbers as a table, and an hour of
//! twenty steps stays small.

use crate::common;
use crate::support;

use common::{phase, plan, with_warmup};
use support::measured::bare;
use support::open;
use wavetank_measure::{
    ErrorClass, HostSample, Interval, TargetSample, ThreadStats, TimeSeries, TimeSeriesBuilder,
};
use wavetank_plan::{Key, Plan, RequestPlan, Step};
use wavetank_record::{RunRecord, StepDoc};
use wavetank_report::{HtmlSource, Language, html, load_doc};
use wavetank_units::Nanos;

const COLUMNS_MAX: usize = 360;

/// A second of every step, its times spread by some arithmetic.
fn second(from: i64, phase: u16, steps: u16) -> Interval {
    let mut interval = Interval { from: Nanos::from_secs(from), len: Nanos::SECOND, ..Interval::default() };
    for step in 0..steps {
        let series = interval.step_mut(Key { phase, scenario: 0, step });
        let own = &mut series.counters;
        (own.offered, own.sent, own.done, own.errors[ErrorClass::Status as usize], own.dropped_by[0]) =
            (100, 99, 98, 1, 1);
        series.status.add(200, 98);
        series.status.add(503, 1);
        for value in 0..14_u64 {
            let spread = (from.unsigned_abs() * 7_919 + u64::from(step) * 104_729 + value * 31) % 997;
            series.response.record_n(1_000_000 + spread * 40_000, 7);
            series.service.record_n(900_000 + spread * 20_000, 7);
        }
    }
    interval.phase_mut(phase).lag.record_n(20_000 + from.unsigned_abs() % 7 * 1_000, 100);
    (interval.conns.opened, interval.conns.open, interval.users) = (3, 50, 50);
    interval.threads = vec![ThreadStats { busy_ns: 420_000_000, turns: 100, ..ThreadStats::default() }];
    interval
}

fn course(plan: &Plan, seconds: i64, steps: u16) -> TimeSeries {
    let mut maker = TimeSeriesBuilder::new(plan, COLUMNS_MAX);
    // Connections are opened before the load, in an interval shorter than a second.
    maker.add(&Interval { from: Nanos(-70_000_000), len: Nanos(70_000_000), ..Interval::default() });
    for at in 0..seconds {
        maker.add(&second(at, plan.phases.len() as u16 - 1, steps));
    }
    maker.finish()
}

fn page(
    record: &RunRecord,
    plan: &Plan,
    course: &TimeSeries,
    hosts: &[HostSample],
    target: &[TargetSample],
) -> String {
    let source = HtmlSource { plan: Some(plan), course: Some(course), hosts, target, ..bare(record) };
    html(source, Language::English)
}

#[test]
fn every_chart_has_a_description_and_its_numbers() {
    let plan = plan(90);
    let host = |at: i64| HostSample {
        at: Nanos::from_secs(at),
        mem_available_bytes: 1 << 30,
        cores: vec![(at as u64 * 40, at as u64 * 100), (at as u64 * 80, at as u64 * 100)],
        ..HostSample::default()
    };
    let hosts: Vec<_> = (0..90).map(host).collect();
    let target = [TargetSample { at: Nanos::from_secs(5), open: 7, ..TargetSample::default() }];
    let page = page(&open(), &plan, &course(&plan, 90, 1), &hosts, &target);
    let charts = [
        "rate",
        "heat",
        "errors",
        "statuses",
        "held",
        "busy",
        "lag",
        "host-cpu",
        "host-memory",
        "host-sockets",
    ];
    for chart in charts {
        let begin = page.find(&format!("id=\"{chart}\"")).unwrap_or_else(|| panic!("no chart {chart}"));
        let rest = &page[begin..];
        let table = rest.find("<details>").unwrap_or_else(|| panic!("{chart} has no table"));
        let rows = rest[table..].split("</details>").next().expect("it ends").matches("<tr>").count();
        assert!((2..=61).contains(&rows), "{chart} has {rows} rows");
        assert!(rest[..table].contains("role=\"img\""), "{chart} has no description for screen readers");
    }
    assert!(page.contains("One row in 2 of 90, and the last"), "rows that are left out are mentioned");
    let statuses = page.split("Numbers of “Answers per second, by status”").nth(1).expect("a table");
    assert!(
        statuses.split("</table>").next().is_some_and(|table| table.contains(">98/s<")),
        "a count, no rate"
    );
    assert!(
        page.contains("class=\"paper\""),
        "the page does not say that tables behind charts are not printed"
    );
    for word in ["CPUs of the generator's host were busy up to 60\u{a0}%", ">60 %<", ">80 %<"] {
        assert!(page.contains(word), "{word} is missing");
    }
}

#[test]
fn connections_of_one_request_each_are_not_drawn_as_none() {
    let plan = plan(20);
    // For each second: connections opened, connections closed, and connections open at its end.
    let drawn = |conns: fn(i64) -> [u64; 3]| {
        let mut maker = TimeSeriesBuilder::new(&plan, COLUMNS_MAX);
        for at in 0..20 {
            let mut interval = second(at, 0, 1);
            [interval.conns.opened, interval.conns.closed, interval.conns.open] = conns(at);
            maker.add(&interval);
        }
        let page = page(&open(), &plan, &maker.finish(), &[], &[]);
        assert!(page.contains("id=\"comings\""), "openings are drawn");
        page.contains("id=\"held\"")
    };
    assert!(!drawn(|_| [100, 100, 0]), "a line at nothing says that there were none");
    assert!(drawn(|_| [100, 100, 2]), "open connections are drawn");
    let killed = |at| match at {
        0 => [10, 0, 10],
        1..6 => [0, 0, 10],
        6 => [0, 10, 0],
        _ => [0, 0, 0],
    };
    assert!(
        drawn(killed),
        "a target that was gone most of the time says nothing of how long connections lived"
    );
    assert!(!drawn(|_| [0, 0, 0]), "no line is drawn if there never was one");
}

/// The first cells of the rows of the table behind the chart `id`.
fn instants(page: &str, id: &str) -> Vec<String> {
    let chart = page.split(&format!("id=\"{id}\"")).nth(1).expect("the chart is there");
    let table =
        chart.split("<tbody>").nth(1).and_then(|table| table.split("</tbody>").next()).expect("its table");
    let cell = |row: &str| {
        row.split("scope=\"row\">").nth(1).and_then(|cell| cell.split('<').next()).map(str::to_owned)
    };
    table.split("<tr>").filter_map(cell).collect()
}

#[test]
fn requests_begin_with_the_warmup() {
    let plan = with_warmup(plan(5), 2);
    let mut maker = TimeSeriesBuilder::new(&plan, COLUMNS_MAX);
    maker.add(&Interval { from: Nanos(-2_070_000_000), len: Nanos(70_000_000), ..Interval::default() });
    for at in -2..5 {
        maker.add(&second(at, u16::from(at >= 0), 1));
    }
    let page = page(&open(), &plan, &maker.finish(), &[], &[]);
    for chart in ["rate", "heat", "statuses", "lag"] {
        assert_eq!(instants(&page, chart), ["−2 s", "−1 s", "0 s", "1 s", "2 s", "3 s", "4 s"], "{chart}");
    }
    assert_eq!(instants(&page, "busy"), ["−2.07 s", "−2 s", "−1 s", "0 s", "1 s", "2 s", "3 s", "4 s"]);
    assert!(page.contains(">Warm-up<"), "the warm-up is not shaded");
}

/// The judged half of such a second counts requests only. A chart of connections would show a drop
/// to zero.
#[test]
fn a_warmup_during_judged_load_is_drawn_once() {
    let mut plan = with_warmup(plan(5), 1);
    plan.phases[0].start = Nanos::ZERO;
    let mut maker = TimeSeriesBuilder::new(&plan, COLUMNS_MAX);
    for at in 0..5 {
        let mut interval = second(at, 1, 1);
        if at == 0 {
            interval.merge(&second(at, 0, 1));
        }
        maker.add(&interval);
    }
    let course = maker.finish();
    assert_eq!(course.columns.iter().filter(|column| column.from == Nanos::ZERO).count(), 2, "{course:?}");
    let page = page(&open(), &plan, &course, &[], &[]);
    for chart in ["held", "busy"] {
        assert_eq!(instants(&page, chart), ["0 s", "1 s", "2 s", "3 s", "4 s"], "{chart}");
    }
}

/// Empty axes would mislead.
#[test]
fn where_nothing_was_answered_no_times_are_drawn() {
    let plan = plan(5);
    let charts = |answered: bool| {
        let mut maker = TimeSeriesBuilder::new(&plan, COLUMNS_MAX);
        for at in 0..5 {
            let mut interval = second(at, 0, 1);
            for step in interval.steps.iter_mut().filter(|_| !answered) {
                step.response = wavetank_measure::Histogram::default();
            }
            maker.add(&interval);
        }
        let page = page(&open(), &plan, &maker.finish(), &[], &[]);
        ["rate", "heat"].map(|chart| page.contains(&format!("id=\"{chart}\"")))
    };
    assert_eq!((charts(true), charts(false)), ([true, true], [true, false]));
    let whole = page(&open(), &plan, &course(&plan, 5, 1), &[], &[]);
    assert!(!whole.contains("alone: its rates"), "every column is as long as the others");
}

#[test]
fn a_drain_of_some_milliseconds_draws_no_fall() {
    let plan = plan(10);
    let mut maker = TimeSeriesBuilder::new(&plan, COLUMNS_MAX);
    for at in 0..10 {
        maker.add(&second(at, 0, 1));
    }
    maker.add(&Interval { from: Nanos::from_secs(10), len: Nanos(4_000_000), ..Interval::default() });
    let course = maker.finish();
    assert_eq!(course.columns.len(), 11, "the drain is a column of its own");
    let page = page(&open(), &plan, &course, &[], &[]);
    let done = page.split("Done: ").nth(1).unwrap_or_default();
    let shown: String = done.chars().take(60).collect();
    assert!(shown.contains("98") && !shown.contains("lowest 0/s"), "{shown}");
    assert!(page.contains("a row that starts at 10\u{a0}s, that row covers only 4.00\u{a0}ms"), "{page}");
}

/// Values that are counted in an unexpected place, or are not drawn, are explained next to the
/// chart.
#[test]
fn what_charts_leave_out_is_reported() {
    let shown = |change: &dyn Fn(&mut RunRecord, &mut Interval, i64)| {
        let (plan, mut record) = (plan(10), open());
        record.connections.peak = 50;
        let mut maker = TimeSeriesBuilder::new(&plan, COLUMNS_MAX);
        for at in 0..10 {
            let mut interval = second(at, 0, 1);
            change(&mut record, &mut interval, at);
            maker.add(&interval);
        }
        let mut end = Interval { from: Nanos::from_secs(10), len: Nanos(4_000_000), ..Interval::default() };
        change(&mut record, &mut end, 10);
        maker.add(&end);
        let page = page(&record, &plan, &maker.finish(), &[], &[]);
        let words = [
            "counted in the row in which it ended",
            "in between there were at most 51",
            "0 opened and 30 closed at its start and end",
            "exclude 7 requests that failed",
        ];
        words.map(|words| page.matches(words).count())
    };
    let check = |change: &dyn Fn(&mut RunRecord, &mut Interval, i64), expected: [usize; 4]| {
        assert_eq!(shown(change), expected);
    };
    check(&|_, _, _| {}, [0; 4]);
    let late = |_: &mut RunRecord, interval: &mut Interval, _| {
        interval.steps.iter_mut().for_each(|step| step.counters.late = 1);
    };
    check(&late, [2, 0, 0, 0]);
    check(&|record, _, _| record.connections.peak = 51, [0, 1, 0, 0]);
    // No chart shows open connections if connections live for one request.
    let short = |record: &mut RunRecord, interval: &mut Interval, _| {
        (record.connections.peak, interval.conns.open) = (51, 0);
    };
    check(&short, [0; 4]);
    // Next to the charts over time and to the table of times.
    check(&|record, _, _| record.failed_us.count = 7, [0, 0, 0, 2]);
    check(&|_, interval, at| interval.conns.closed = if at == 10 { 30 } else { 2 }, [0, 0, 1, 0]);
}

#[test]
fn an_hour_of_twenty_steps_stays_small() {
    let mut plan = plan(3_600);
    let step = |number: u16| {
        let request = RequestPlan { method: "GET".to_owned(), path: "/".into(), ..RequestPlan::default() };
        Step::plain(format!("GET /shop/page/{number}"), 0, request)
    };
    plan.scenarios[0].steps = (0..20).map(step).collect();
    let mut record = open();
    let one = record.steps[0].clone();
    record.steps = plan.scenarios[0]
        .steps
        .iter()
        .map(|step| StepDoc { name: step.name.clone(), ..one.clone() })
        .collect();
    let page = page(&record, &plan, &course(&plan, 3_600, 20), &[], &[]);
    assert_eq!(page.matches("class=\"spark\"").count(), 20, "a small line for each step");
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    println!("{} bytes", page.len());
}

/// Parallel phases do not add up to the run's length, and a warm-up in parallel to the load
/// precedes none of it.
#[test]
fn parallel_phases_are_reported_as_parallel() {
    let mut plan = plan(10);
    plan.phases = vec![phase("warm", 0, 2), phase("pay", 0, 10), phase("peak", 4, 6)];
    plan.phases[0].warmup = true;
    let text = load_doc(&plan, false).text;
    assert!(text.contains("peak: from 4 s on, ") && !text.contains("pay: from"), "{text}");
    assert!(text.ends_with("; in parallel to 2 s of warm-up"), "{text}");
    plan.phases = vec![phase("warm", -2, 2), phase("low", 0, 4), phase("high", 4, 6)];
    plan.phases[0].warmup = true;
    let text = load_doc(&plan, false).text;
    assert!(!text.contains(" on, ") && text.ends_with("; after 2 s of warm-up"), "{text}");
}

/// The planned rate is drawn with the rate done, but not if a warm-up runs in parallel.
#[test]
fn the_plan_of_a_warmup_during_the_load_is_not_drawn() {
    let mut plan = plan(10);
    plan.phases = vec![phase("warm", 0, 2), phase("main", 0, 10)];
    plan.phases[0].warmup = true;
    let mut maker = TimeSeriesBuilder::new(&plan, COLUMNS_MAX);
    (0..10).for_each(|at| maker.add(&second(at, 1, 1)));
    let page = page(&open(), &plan, &maker.finish(), &[], &[]);
    assert!(page.contains("Planned: 100/s throughout."), "{page}");
}
