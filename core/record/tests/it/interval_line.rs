//! Interval lines: written values are read back exactly, and damaged bytes are refused, never
//! fatal.

use crate::support;

use support::{Random, golden, interval};
use wavetank_measure::{Interval, PhaseSeries};
use wavetank_record::IntervalLine;

fn line(interval: Interval, checkpoint: bool) -> IntervalLine {
    IntervalLine { agent: "local".to_owned(), epoch: 1, seq: 7, checkpoint, interval }
}

/// Encoding and decoding gives the same value again, and the same bytes again.
fn check(line: &IntervalLine) {
    let text = line.encode();
    assert!(!text.contains('\n'), "a line has no newline inside");
    let again = IntervalLine::decode(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(&again, line);
    assert_eq!(again.encode(), text);
}

#[test]
fn the_line_is_as_described() {
    let text =
        format!("{}\n{}\n", line(interval(), false).encode(), line(Interval::default(), true).encode());
    golden("interval.jsonl", &text);
    check(&line(interval(), false));
    check(&line(Interval::default(), true));
}

#[test]
fn random_intervals_come_back_exactly() {
    for seed in 1..300 {
        let interval = Random(seed).interval();
        eprintln!("seed {seed}");
        check(&line(interval, seed % 2 == 0));
    }
}

/// Reading without times gives everything else, with the same checks.
#[test]
fn counts_are_read_without_times() {
    for seed in 1..100 {
        let whole = line(Random(seed).interval(), seed % 2 == 0);
        let text = whole.encode();
        let read =
            IntervalLine::decode_counts(text.as_bytes()).unwrap_or_else(|error| panic!("{seed}: {error}"));
        let mut expected = whole;
        let interval = &mut expected.interval;
        for step in &mut interval.steps {
            (step.response, step.service) = Default::default();
        }
        interval
            .phases
            .iter_mut()
            .for_each(|it| *it = PhaseSeries { phase: it.phase, ..PhaseSeries::default() });
        for target in &mut interval.targets {
            (target.connect, target.tls, target.hello, target.ping) = Default::default();
        }
        assert_eq!(read, expected, "seed {seed}");
        let broken = text.replacen("\"conns\"", "\"conn\"", 1);
        assert!(IntervalLine::decode_counts(broken.as_bytes()).is_err());
        assert!(IntervalLine::decode_counts(&text.as_bytes()[..text.len() - 1]).is_err());
    }
}

/// Lines of version 1 had histograms in another form: they are read as ever.
#[test]
fn lines_of_version_1_are_read() {
    let old = include_str!("support/interval_v1.jsonl");
    let read: Vec<_> = old.lines().map(|text| IntervalLine::decode(text.as_bytes()).unwrap()).collect();
    assert_eq!(read, [line(interval(), false), line(Interval::default(), true)]);
    let broken = old.lines().next().unwrap().replacen("\"v2\":\"HI", "\"v2\":\"HJ", 1);
    let error = IntervalLine::decode(broken.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("layout"), "{error}");
}

/// A thousand responses a second fill 250 buckets. In base64 they would be half of the lines of a
/// long run.
#[test]
fn a_bucket_takes_little_more_than_a_character() {
    let (mut interval, mut random) = (Interval::default(), Random(3));
    let response = &mut interval.step_mut(wavetank_plan::Key::default()).response;
    for _ in 0..1_000 {
        // About as wide as a log-normal of sigma 0.5.
        let sum: u64 = (0..6).map(|_| random.below(1_000)).sum();
        response.record((1e6 * (sum as f64 / 1_400.0).exp()) as u64);
    }
    let (buckets, ours) = (response.iter().count(), response.clone());
    let text = line(interval, false).encode();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let length = value["series"][0]["times"]["response"]["buckets"].as_str().unwrap().len();
    assert!(buckets > 150 && length < buckets + buckets / 4, "{length} characters for {buckets} buckets");
    assert_eq!(IntervalLine::decode(text.as_bytes()).unwrap().interval.steps[0].response, ours);
}

/// Service times are stored as differences from the response times, unless that is longer.
#[test]
fn service_times_are_shown_next_to_response_times() {
    fn check_service(of: impl Fn(u64, u64) -> (u64, u64), at_most: usize) {
        let (mut interval, mut random) = (Interval::default(), Random(5));
        let step = interval.step_mut(wavetank_plan::Key::default());
        for number in 0..1_000 {
            let (response, service) = of(number, 1_000_000 + random.below(9_000_000));
            step.response.record(response);
            step.service.record(service);
        }
        let text = line(interval.clone(), false).encode();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let reported = &value["series"][0]["times"]["service"];
        let length = |name: &str| reported[name].as_str().map(str::len);
        let length = length("differences").or(length("buckets")).unwrap();
        assert!(length <= at_most, "{length} characters: {reported}");
        check(&line(interval, false));
    }
    check_service(|_, time| (time, time), 0);
    check_service(|number, time| (time + 300 * (number % 7), time), 150);
    check_service(|number, time| (time, time - if number == 4 { 900_000 } else { 0 }), 10);
    check_service(|number, time| (time + if number == 4 { 1 << 41 } else { 0 }, time), 10);
    check_service(|_, time| (time + 50_000_000, time), 500);
}

/// Memory of lines read before does not show in what is read next, not even after a damaged one.
#[test]
fn the_same_memory_serves_for_every_line() {
    let mut reader = IntervalLine::default();
    for seed in 1..300 {
        let wanted = line(Random(seed).interval(), seed % 2 == 0);
        let text = wanted.encode();
        reader.decode_again(text.as_bytes()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(reader, wanted, "seed {seed}");
        if seed % 5 == 0 {
            assert!(reader.decode_again(&text.as_bytes()[..text.len() / 2]).is_err());
            let broken = text.replace("\"buckets\":\"", "\"buckets\":\" ");
            assert!(reader.decode_again(broken.as_bytes()).is_err() || broken == text);
        }
    }
}

#[test]
fn contradictions_are_refused() {
    let good = line(interval(), false).encode();
    for (from, to) in [
        ("\"v\":2", "\"v\":3"),
        ("\"v\":2", "\"v\":0"),
        ("\"len_ns\":1000000000", "\"len_ns\":-1"),
        ("\"from_ns\":3000000000", "\"from_ns\":9223372036854775807"),
        ("\"from_ns\":3000000000", "\"from_ns\":-4611686018427387904"),
        ("\"len_ns\":1000000000", "\"len_ns\":4611686018427387904"),
        ("\"seq\":7", "\"seq\":18446744073709551615"),
        ("\"offered\":8", "\"offered\":18446744073709551615"),
        ("\"connect_refused\"", "\"connect_refuse\""),
        ("\"max_open\"", "\"max_opened\""),
        ("\"lag\"", "\"lagging\""),
        ("\"phase\":1,\"target\":0", "\"target\":0"),
        ("\"count\":5", "\"count\":6"),
        ("\"min\":88000", "\"min\":8800"),
        ("\"sum\":88000", "\"sum\":1"),
        ("\"buckets\":\"", "\"buckets\":\" "),
        ("\"buckets\":\"", "\"differences\":\""),
        ("\"buckets\":\"", "\"buckets\":\"!"),
        ("\"buckets\":\"", "\"buckets\":\"~"),
        ("\"buckets\"", "\"bucket\""),
    ] {
        assert!(good.contains(from), "the test no longer damages anything: {from}");
        let bad = good.replacen(from, to, 1);
        assert!(IntervalLine::decode(bad.as_bytes()).is_err(), "{from} → {to}");
    }
}

/// A torn write leaves a prefix of the line: none of them may read as a line.
#[test]
fn no_prefix_of_a_line_is_a_line() {
    let text = line(interval(), false).encode();
    for end in 0..text.len() {
        assert!(IntervalLine::decode(&text.as_bytes()[..end]).is_err(), "{end}");
    }
}

/// Damaged bytes may be refused or, if the damage makes sense, accepted. Accepted data must encode
/// and merge without a panic, because reading an archive does both.
#[test]
fn damaged_lines_never_panic() {
    let mut foreign = Interval::default();
    let step = foreign.step_mut(wavetank_plan::Key::default());
    for number in 0..40 {
        step.response.record(1_000_000 + number * 9_000);
        step.service.record(1_000_000 + number * 9_000 - number / 20 % 2 * (number % 4 / 3) * 9_000);
    }
    let foreign = line(foreign, false).encode();
    assert!(foreign.contains("\"differences\""), "the test no longer damages any other: {foreign}");
    let texts = [line(interval(), false).encode(), foreign];
    let (mut accepted, mut refused) = (0, 0);
    for seed in 1..6_000 {
        let mut random = Random(seed);
        let mut bytes = texts[seed as usize % 2].clone().into_bytes();
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &mut random);
        }
        let read = std::panic::catch_unwind(|| IntervalLine::decode(&bytes));
        match read.unwrap_or_else(|_| panic!("seed {seed}: {}", String::from_utf8_lossy(&bytes))) {
            Ok(line) => {
                accepted += 1;
                let mut sum = interval();
                sum.merge(&line.interval);
                sum.merge(&line.interval);
                assert!(IntervalLine::decode(line.encode().as_bytes()).is_ok(), "seed {seed}");
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 500 && accepted > 50, "{refused} refused, {accepted} accepted");
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len() as u64) as usize;
    match random.below(6) {
        0 => bytes[at] = random.next() as u8,
        1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes.truncate(at),
        3 => bytes.insert(at, b"0123456789\",:{}[]-.eA"[random.below(21) as usize]),
        4 => drop(bytes.remove(at)),
        _ => {
            let piece: Vec<u8> = bytes[at..].iter().take(random.below(40) as usize).copied().collect();
            bytes.splice(at..at, piece);
        }
    }
}
