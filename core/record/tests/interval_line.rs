//! Interval lines: what is written is read back exactly, and damaged bytes are refused, never fatal.

mod support;

use support::{Random, golden, interval};
use wavetank_measure::{Histogram, Interval};
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

/// Any reader of `HdrHistogram` V2 must see our buckets, counts and so our percentiles.
#[test]
fn others_can_read_the_histograms() {
    use base64::Engine as _;
    let mut interval = interval();
    let response = &mut interval.steps[0].response;
    *response = Histogram::default();
    let mut random = Random(11);
    for _ in 0..10_000 {
        response.record(random.magnitude(42));
    }
    let ours = response.clone();
    let text = line(interval, false).encode();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let v2 = value["series"][0]["times"]["response"]["v2"].as_str().unwrap();
    let bytes = base64::engine::general_purpose::STANDARD.decode(v2).unwrap();
    let theirs: hdrhistogram::Histogram<u64> =
        hdrhistogram::serialization::Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
    assert_eq!(theirs.len(), ours.count());
    for (quantile, q) in [(0.1, 10.0), (0.5, 50.0), (0.75, 75.0), (0.9, 90.0), (0.99, 99.0), (0.999, 99.9)] {
        let value = theirs.value_at_quantile(quantile);
        assert_eq!(Some(theirs.highest_equivalent(value).min(ours.max())), ours.percentile(q), "p{q}");
    }
}

#[test]
fn contradictions_are_refused() {
    let good = line(interval(), false).encode();
    for (from, to) in [
        ("\"v\":1", "\"v\":2"),
        ("\"len_ns\":1000000000", "\"len_ns\":-1"),
        ("\"from_ns\":3000000000", "\"from_ns\":9223372036854775807"),
        ("\"offered\":8", "\"offered\":18446744073709551615"),
        ("\"connect_refused\"", "\"connect_refuse\""),
        ("\"max_open\"", "\"max_opened\""),
        ("\"lag\"", "\"lagging\""),
        ("\"phase\":1,\"target\":0", "\"target\":0"),
        ("\"count\":5", "\"count\":6"),
        ("\"min\":88000", "\"min\":8800"),
        ("\"sum\":88000", "\"sum\":1"),
        ("\"v2\":\"HI", "\"v2\":\"HJ"),
        ("\"v2\":\"", "\"v2\":\"AA"),
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

/// Damaged bytes may be refused or, where the damage makes sense, accepted; but what is accepted encodes and
/// merges without a panic, because reading an archive does both.
#[test]
fn damaged_lines_never_panic() {
    let text = line(interval(), false).encode();
    let (mut accepted, mut refused) = (0, 0);
    for seed in 1..6_000 {
        let mut random = Random(seed);
        let mut bytes = text.clone().into_bytes();
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
