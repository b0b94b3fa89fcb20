//! Faults and pool changes in every form: how the record is composed, and how it is shown.

use crate::common;
use crate::support;

use common::{Second, plan};
use support::measured::{bare, record_of};
use support::{failed, golden, open};
use wavetank_measure::{ErrorClass, Ledger, TimeSeries, TimeSeriesBuilder};
use wavetank_plan::{Plan, PlannedEvent};
use wavetank_record::{
    EnvironmentDoc, EventKind, EventLine, ImpactOutcome, Number, RecoveryDoc, RunRecord, Status,
};
use wavetank_report::{HtmlSource, Language, html, markdown, text};
use wavetank_units::{Nanos, Sentence};

fn event(when: i64, host: &str, run: &str) -> PlannedEvent {
    PlannedEvent {
        when: Nanos::from_secs(when),
        host: host.to_owned(),
        run: run.to_owned(),
        undo: None,
        lasts: None,
    }
}

/// A plan of 40 s with five events on hosts.
fn eventful() -> Plan {
    let mut plan = plan(40);
    plan.events = vec![
        event(10, "app1", "fault kill serve"),
        event(20, "lb1", "fault drop 20% eth0"),
        event(30, "app<b>2", "systemctl stop app"),
        event(35, "app2", "fault pause serve"),
        event(100, "app2", "reboot"),
    ];
    plan
}

fn line(event: u16, kind: EventKind, at: i64, text: &str) -> EventLine {
    EventLine { event: Some(event), ..EventLine::new(Nanos::from_secs(at), kind, Sentence::quoted(text)) }
}

/// Clients notice the first fault but not the second. The third fails, the fourth cannot be
/// reverted, and the fifth is never reached.
fn lines() -> Vec<EventLine> {
    vec![
        line(0, EventKind::EventDone, 10, ""),
        line(0, EventKind::EventUndone, 15, ""),
        line(1, EventKind::EventDone, 20, ""),
        line(1, EventKind::EventUndone, 25, ""),
        line(2, EventKind::EventFailed, 30, "app2: systemctl stop app could not be done: no such program"),
        line(3, EventKind::EventDone, 35, ""),
        line(3, EventKind::EventStuck, 38, "app2: pause serve could not be reverted: it is gone"),
    ]
}

fn second(at: i64) -> Second {
    let second = Second::at(at);
    if (10..17).contains(&at) {
        second.done(60, 5).failed(40, ErrorClass::Reset, 5)
    } else {
        second.done(100, 5)
    }
}

fn record() -> RunRecord {
    let plan = eventful();
    let mut book = Ledger::new(&plan);
    for (event, from, until) in [(0, 10, Some(15)), (1, 20, Some(25)), (3, 35, None)] {
        book.event_began(event, Nanos::from_secs(from));
        if let Some(until) = until {
            book.event_ended(event, Nanos::from_secs(until));
        }
    }
    for at in 0..40 {
        book.add(&second(at).seal()).expect("it adds up");
    }
    record_of(&plan, &book, &EnvironmentDoc::default(), &lines())
}

#[test]
fn the_record_has_actions_and_observations() {
    let record = record();
    let outcomes: Vec<_> = record.impacts.iter().map(|impact| (impact.outcome, impact.recovery)).collect();
    assert_eq!(
        outcomes,
        [
            (ImpactOutcome::Undone, RecoveryDoc::After),
            (ImpactOutcome::Undone, RecoveryDoc::Unhurt),
            (ImpactOutcome::Failed, RecoveryDoc::Unknown),
            (ImpactOutcome::Stuck, RecoveryDoc::Unhurt),
            (ImpactOutcome::NotReached, RecoveryDoc::Unknown),
        ]
    );
    let first = &record.impacts[0];
    assert_eq!((first.what.as_str(), first.host.as_str()), ("kill serve", "app1"));
    assert_eq!((first.from_s, first.until_s), (Number(10.0), Some(Number(15.0))));
    assert_eq!((first.hurt_s, first.recovery_s), (Number(7.0), Some(Number(2.0))));
    let during = first.during.expect("there was load");
    assert_eq!((during.done, during.failed, during.failed_share), (300, 200, Number(0.4)));
    assert_eq!(first.before.expect("there was load").done_per_s, Number(100.0));
    assert!(record.impacts[2].why.contains("no such program"));
    let stored = RunRecord::from_json(&record.to_json()).expect("it was written by us");
    assert_eq!(stored.impacts, record.impacts);
}

#[test]
fn text_and_markdown_show_it() {
    let reported = RunRecord { impacts: record().impacts, ..open() };
    golden("impacts.txt", &text(&reported));
    golden("impacts.md", &markdown(&reported));
    let none = text(&open());
    assert!(!none.contains("events "), "{none}");
}

#[test]
fn the_first_page_names_what_was_done() {
    let first = |status: Status, language| {
        let mut record = RunRecord { impacts: record().impacts, ..failed() };
        record.verdict.status = status;
        let page = html(bare(&record), language);
        page.split("<section id=\"impacts\"").next().expect("the first page").to_owned()
    };
    let english = first(Status::Fail, Language::English);
    let reported = "Faults and events during the run: <code class=\"option\"><bdi>kill serve app1</bdi></code> (10\u{a0}s to 15\u{a0}s), \
                <code class=\"option\"><bdi>drop 20% eth0 lb1</bdi></code> (20\u{a0}s to 25\u{a0}s), <code class=\"option\"><bdi>pause serve app2</bdi></code> (from 35\u{a0}s). \
                That alone does not prove the cause";
    assert!(english.contains(reported), "{english}");
    assert!(!english.contains("reboot"), "what was never done is no cause: {english}");
    assert!(first(Status::Fail, Language::Chinese).contains("运行期间的故障与事件"));
    let passed = first(Status::Pass, Language::English);
    assert!(passed.contains("Faults and events during the run"), "{passed}");
    assert!(!passed.contains("does not prove the cause"), "nothing is to explain: {passed}");
}

fn course(plan: &Plan) -> TimeSeries {
    let mut maker = TimeSeriesBuilder::new(plan, 360);
    (0..40).for_each(|at| maker.add(&second(at).seal()));
    maker.finish()
}

#[test]
fn the_page_draws_bands_and_has_a_table() {
    let (plan, reported) = (eventful(), RunRecord { impacts: record().impacts, ..open() });
    let course = course(&plan);
    for (language, title, well) in [
        (Language::English, "Faults and events on hosts", "recovered 2 s after it was reverted"),
        (Language::Chinese, "主机上的故障与事件", "撤销 2 s 后恢复"),
    ] {
        let page = |record: &RunRecord| {
            let source = HtmlSource { plan: Some(&plan), course: Some(&course), ..bare(record) };
            html(source, language)
        };
        let page_reported = page(&reported);
        // Next to its name, below its own heading.
        let [event, stretch, before] = match language {
            Language::English => ["Event", "Time", "before"],
            Language::Chinese => ["事件", "时段", "之前"],
        };
        let head = format!("scope=\"col\">{event}</th><th class=\"\" scope=\"col\">{stretch}</th>");
        let cell = format!("</bdi></th><td class=\"short\">{before} (");
        assert!(page_reported.contains(&head) && page_reported.contains(&cell), "{page_reported}");
        for word in [title, well, "kill serve app1", "class=\"fault\"", "app&lt;b&gt;2", "no such program"] {
            assert!(page_reported.contains(word), "{word} is missing");
        }
        // Text in a column takes more room than an instant, and the table has little.
        let rows =
            page_reported.split("scope=\"row\"><bdi>kill serve app1</bdi></th><td class=\"short\">").skip(1);
        let instants = rows.filter_map(|row| row.split("<td class=").nth(1)?.split('>').next());
        assert_eq!(instants.collect::<Vec<_>>(), ["\"n\""; 3]);
        let rates = page_reported.split("id=\"rate\"").nth(1).expect("a chart of rates");
        let rates = rates.split("</figure>").next().expect("it ends");
        // Three faults took effect: two were reverted, and one was not, so it continues to the end.
        assert_eq!(rates.matches("<rect class=\"fault\"").count(), 3, "{rates}");
        assert!(rates.contains("<rect class=\"fault\" x=\"25%\" width=\"12.5%\""), "{rates}");
        assert!(!page_reported.contains("<b>2"));
        let plain = page(&open());
        assert!(!plain.contains("<rect class=\"fault\"") && !plain.contains(title));
    }
}
