//! `HdrHistogram`'s two formats: the log by its own reader, the distribution by its rules.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use wavetank_measure::Histogram;
use wavetank_record::RunRecord;
use wavetank_report::{IntervalLog, LatencySeries, StepSelector, percentile_text};

use crate::exports::made::{intervals, plan, response};
use crate::support::golden;

/// The log of the example run.
fn log(names: [&str; 2], of: LatencySeries, step: Option<&str>, by_step: bool) -> String {
    let plan = plan(names);
    let record = RunRecord {
        id: "7f3a21".to_owned(),
        version: "0.1.0".to_owned(),
        started_at: "2026-11-21T19:00:00Z".to_owned(),
        ..RunRecord::default()
    };
    let step = step.map(|word| StepSelector::find(&plan, word).expect("the plan has it"));
    let mut bytes = Vec::new();
    let mut log =
        IntervalLog::new(&record, &plan, (of, step), by_step, &mut bytes).expect("memory takes all");
    for one in intervals() {
        log.add(&one).expect("memory takes all");
    }
    log.finish().expect("memory takes all");
    String::from_utf8(bytes).expect("UTF-8")
}

/// Tag, start, and histogram of each line, as the library reads them.
fn read(log: &str) -> Vec<(Option<String>, f64, Hdr<u64>)> {
    let mut lines = Vec::new();
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        let LogEntry::Interval(line) = entry.expect("every line is understood") else { continue };
        let bytes = STANDARD.decode(line.encoded_histogram()).expect("base64");
        let histogram = Deserializer::new().deserialize(&mut bytes.as_slice()).expect("V2, deflated");
        let tag = line.tag().map(|tag| tag.as_str().to_owned());
        lines.push((tag, line.start_timestamp().as_secs_f64(), histogram));
    }
    lines
}

#[track_caller]
fn check_same(read: &Hdr<u64>, ours: &Histogram) {
    assert_eq!(read.len(), ours.count());
    let theirs =
        read.iter_recorded().map(|one| (Histogram::index(one.value_iterated_to()), one.count_at_value()));
    assert!(theirs.eq(ours.iter()), "every bucket has the same count");
}

#[test]
fn the_log_is_read_by_the_librarys_own_reader() {
    let log = log(["GET /a", "GET /b"], LatencySeries::Response, None, false);
    let lines = read(&log);
    assert_eq!(lines.iter().map(|(_, from, _)| *from).collect::<Vec<_>>(), [0.0, 1.0, 2.0], "no warm-up");
    let mut sum = Hdr::<u64>::new_with_bounds(1, Histogram::HIGHEST, 2).expect("the layout's bounds");
    for (_, _, one) in &lines {
        sum.add(one).expect("one layout");
    }
    check_same(&sum, &response());
    let head: Vec<_> = log.lines().take(5).collect();
    assert_eq!(head[0], "#[Histogram log format version 1.3]");
    assert_eq!(head[2], "#[StartTime: 1795287600.000 (seconds since epoch), 2026-11-21T19:00:00Z]");
    assert!(head[4].starts_with("\"StartTimestamp\""), "{head:?}");
}

#[test]
fn each_step_has_its_tag() {
    let lines = read(&log(["GET /a, b", "GET /a\tb"], LatencySeries::Service, None, true));
    let tags: Vec<_> = lines.iter().take(2).map(|(tag, ..)| tag.clone().unwrap_or_default()).collect();
    assert_eq!(tags, ["GET_/a__b", "GET_/a_b"]);
    assert_eq!(lines.len(), 6);
    for (number, (_, _, theirs)) in lines.iter().enumerate() {
        check_same(theirs, &intervals()[1 + number / 2].steps[number % 2].service);
    }
    let same = read(&log(["a b", "a,b"], LatencySeries::Response, None, true));
    assert_ne!(same[0].0, same[1].0, "two steps never share a tag");
}

#[test]
fn one_step_alone() {
    let lines = read(&log(["a", "b"], LatencySeries::Response, Some("b"), false));
    assert_eq!(lines.len(), 3);
    lines
        .iter()
        .zip(&intervals()[1..])
        .for_each(|((_, _, theirs), ours)| check_same(theirs, &ours.steps[1].response));
    let lag = read(&log(["a", "b"], LatencySeries::Lag, None, false));
    assert_eq!(lag.iter().map(|(_, _, one)| one.len()).collect::<Vec<_>>(), [96, 96, 96]);
    let missing = StepSelector::find(&plan(["login", "cart"]), "logn").expect_err("there is none");
    assert_eq!((missing.code.as_str(), missing.hint.as_str()), ("step_unknown", "did you mean `login`?"));
    let twice = StepSelector::find(&plan(["same", "same"]), "same").expect_err("there are two");
    assert_eq!(twice.code, "step_ambiguous");
}

/// Value, percentile and count of each line of a distribution, as plotters read it: every line with
/// four or three numbers.
fn points(text: &str) -> Vec<[f64; 3]> {
    let numbers =
        |line: &str| -> Option<Vec<f64>> { line.split_whitespace().map(|word| word.parse().ok()).collect() };
    let rows = text.lines().filter_map(numbers).filter(|row| row.len() >= 3);
    rows.map(|row| [row[0], row[1], row[2]]).collect()
}

#[test]
fn the_distribution_follows_its_rules() {
    let times = response();
    let text = percentile_text(&times);
    golden("distribution.hgrm", &text);
    let points = points(&text);
    let [first, last] = [points[0], points[points.len() - 1]];
    assert_eq!(vec![first[1], last[1], last[2]], vec![0.0, 1.0, times.count() as f64]);
    for pair in points.windows(2) {
        assert!(pair[0][0] <= pair[1][0] && pair[0][1] <= pair[1][1] && pair[0][2] <= pair[1][2], "{pair:?}");
    }
    for [value, percentile, count] in points {
        assert!(count >= (percentile * times.count() as f64).floor(), "this many are no larger");
        let nearest = times.percentile(percentile * 100.0).expect("it is not empty") as f64 / 1e6;
        assert!((value - nearest).abs() <= nearest * 0.008 + 0.001, "{value} at {percentile}, not {nearest}");
    }
}

#[test]
fn one_value_and_none() {
    let mut one = Histogram::default();
    one.record(1_000_000);
    assert_eq!(points(&percentile_text(&one)), [[1.004, 0.0, 1.0], [1.004, 1.0, 1.0]]);
    let none = percentile_text(&Histogram::default());
    assert!(points(&none).is_empty() && none.contains("Total count    =            0"), "{none}");
}
