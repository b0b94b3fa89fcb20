//! The text of `wavetank plan`: every width, every shape of a plan, and untrusted text.

use wavetank_capacity::size::Setting;
use wavetank_record::{
    AmountDoc, ForecastDoc, LackDoc, Number, OutlookDoc, PhaseForecastDoc, ScenarioForecastDoc,
    StepForecastDoc, TimelineDoc,
};
use wavetank_report::forecast_text;

fn known(count: u64) -> AmountDoc {
    AmountDoc { least: count, expected: Some(count), most: Some(count) }
}

fn phase(name: &str, start: f64, end: f64) -> PhaseForecastDoc {
    PhaseForecastDoc {
        name: name.to_owned(),
        kind: "rate".to_owned(),
        load: "500/s evenly".to_owned(),
        start_s: Number(start),
        end_s: Some(Number(end)),
        sessions: known(15_000),
        arrivals: "even".to_owned(),
        requests: known(75_000),
        requests_per_s_max: Some(Number(2_500.0)),
        sessions_per_s_max: Some(Number(500.0)),
        connections: known(15_000),
        connections_per_s_max: Some(Number(500.0)),
        max_open: 30_000,
        max_open_why: "rate × 1m00s, the longest a session may take".to_owned(),
        ..PhaseForecastDoc::default()
    }
}

fn condition(expr: &str, outlook: &str, why: &str) -> OutlookDoc {
    OutlookDoc {
        expr: expr.to_owned(),
        kind: "threshold".to_owned(),
        outlook: outlook.to_owned(),
        why: why.to_owned(),
        hint: "something else".to_owned(),
    }
}

fn doc() -> ForecastDoc {
    ForecastDoc {
        name: "shop".to_owned(),
        targets: vec!["http://127.0.0.1:8080/".to_owned()],
        summary: vec![
            "30,000 sessions (15,000 + 15,000).".to_owned(),
            "Ends at 1m00s; open sessions are cut off.".to_owned(),
        ],
        scenarios: vec![ScenarioForecastDoc {
            name: "buyer".to_owned(),
            connection: "session".to_owned(),
            steps: vec![StepForecastDoc {
                name: "GET /".to_owned(),
                requests: known(30_000),
                request_bytes: Some(93),
            }],
            ..ScenarioForecastDoc::default()
        }],
        phases: vec![phase("one", 0.0, 30.0), phase("two", 30.0, 60.0)],
        timeline: TimelineDoc {
            from_s: Number(0.0),
            every_s: Number(1.0),
            sessions_per_s: vec![Number(500.0); 60],
            requests_per_s: vec![None; 60],
            users: (0..60).collect(),
            held: Vec::new(),
        },
        lacking: vec![LackDoc {
            code: "no_files".to_owned(),
            message: "too few files".to_owned(),
            hint: "ulimit -n".to_owned(),
        }],
        conditions: vec![
            condition("p99 < 1s", "open", ""),
            condition("cpu(lb1) < 96%", "undecided", "lb1 is not sampled"),
            condition("memory(lb1) < 1GB", "undecided", "lb1 is not sampled"),
            condition("in_flight > 1k", "unreachable", "500/s × 1 s answers = 500"),
        ],
        settings: vec![
            Setting { name: "drain", value: "0s".to_owned(), given: true, why: String::new() },
            Setting { name: "seed", value: "1".to_owned(), given: false, why: String::new() },
        ],
        ..ForecastDoc::default()
    }
}

/// No line is wider than requested, none ends in blanks, and the text contains these parts in this
/// order.
#[track_caller]
fn check(doc: &ForecastDoc, columns: usize, mentions: &[&str]) {
    let text = forecast_text(doc, columns);
    for line in text.lines() {
        assert!(line.chars().count() <= columns.max(40), "{columns}: {line}\n{text}");
        assert!(!line.ends_with(' ') && !line.chars().any(char::is_control), "{columns}: {line:?}");
    }
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut at = 0;
    for mention in mentions {
        let found = words[at..].find(mention).unwrap_or_else(|| panic!("`{mention}` at {columns}:\n{text}"));
        at += found + mention.len();
    }
}

#[test]
fn every_width_has_every_part() {
    let mentions = [
        "shop",
        "30,000 sessions (15,000 + 15,000).",
        "sessions that arrive",
        "500/s",
        "users",
        "├one",
        "├two",
        "phases",
        "75,000 requests",
        "buyer GET /",
        "93 B each",
        "missing too few files",
        "hint: ulimit -n",
        "`cpu(lb1) < 96%` and `memory(lb1) < 1GB` will stay undecided: lb1 is not sampled",
        "`in_flight > 1k` cannot be reached: 500/s × 1 s answers = 500",
        "threshold p99 < 1s",
        "given drain 0s",
        "defaults seed 1",
    ];
    for columns in [40, 60, 80, 100, 120, 160] {
        check(&doc(), columns, &mentions);
    }
    check(&doc(), 0, &["shop"]);
}

#[test]
fn strange_plans_are_reported_too() {
    // An empty plan, a plan that never ends, and more than can be shown.
    check(&ForecastDoc::default(), 80, &[]);
    let mut endless = doc();
    endless.timeline = TimelineDoc::default();
    endless.phases[0].end_s = None;
    check(&endless, 80, &["0s to its last session"]);
    let mut many = doc();
    many.phases = (0..500).map(|at| phase(&format!("a-long-name-of-a-phase-{at}"), 0.0, 60.0)).collect();
    check(&many, 80, &["and 494 more phases", "and 460 more phases"]);
    // Names from outside cannot contain control characters for the terminal.
    let mut wild = doc();
    wild.name = "a\u{1b}[2Jb".to_owned();
    wild.phases[0].name = "\u{7}bell\n".to_owned();
    wild.conditions[3].expr = "x\u{1b}]0;".to_owned();
    check(&wild, 80, &["bell"]);
}
