//! Names of phases and steps are arbitrary text. No text changes the structure of an output.

use proptest::prelude::*;
use wavetank_metrics::{
    Family, Point, Snapshot, StatsdEncoder, TextFormat, Value, encode_influx, encode_json_lines, encode_text,
};

use crate::support::metric;

fn one(step: &str) -> Snapshot {
    let labels = vec![("run", "7f".to_owned()), ("step", step.to_owned())];
    let points = vec![Point { labels, value: Value::Count(5) }];
    Snapshot {
        families: vec![Family { metric: metric("wavetank_requests_done"), points }],
        ..Snapshot::default()
    }
}

/// Reads a label value up to its closing quote, as the format's description says, and returns it
/// with what follows.
fn unescaped(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return (value, &text[at + 1..]),
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, other @ ('\\' | '"'))) => value.push(other),
                other => panic!("unknown escape {other:?} in {text}"),
            },
            char => value.push(char),
        }
    }
    panic!("no closing quote in {text}");
}

/// Whether the character at `at` is escaped by an odd number of backslashes before it.
fn is_escaped(line: &str, at: usize) -> bool {
    line[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

proptest! {
    #[test]
    fn label_values_survive_the_text_format(step in "(?s).{1,40}") {
        for (format, lines) in [(TextFormat::Prometheus, 3), (TextFormat::OpenMetrics, 4)] {
            let text = encode_text(&one(&step), format);
            prop_assert_eq!(text.matches('\n').count(), lines, "{}", &text);
            let sample = text.split('\n').nth(2).unwrap_or_default();
            let rest = sample.strip_prefix("wavetank_requests_done_total{run=\"7f\",step=\"").unwrap_or_default();
            let (value, after) = unescaped(rest);
            prop_assert_eq!(&value, &step);
            prop_assert_eq!(after, "} 5");
        }
    }

    #[test]
    fn any_text_is_one_tag_of_one_line(step in "(?s).{1,40}|[ ,=\\\\\n\"]{1,20}") {
        let lines = encode_influx(&one(&step));
        prop_assert_eq!(lines.len(), 1);
        let line = &lines[0];
        prop_assert_eq!(line.matches('\n').count(), 1);
        for (separator, count) in [(' ', 2), (',', 2), ('=', 3)] {
            let plain = line.match_indices(separator).filter(|(at, _)| !is_escaped(line, *at)).count();
            prop_assert_eq!(plain, count, "{:?} in {}", separator, line);
        }
    }

    #[test]
    fn any_text_is_one_part_of_a_statsd_name(step in "(?s).{1,40}") {
        let lines = StatsdEncoder::default().encode(&one(&step));
        prop_assert_eq!(lines.len(), 1);
        let name = lines[0].strip_suffix(":5|c\n").unwrap_or_default();
        prop_assert_eq!(name.split('.').count(), 3);
        prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)));
    }

    #[test]
    fn any_text_survives_json(step in "(?s).{1,40}") {
        let text = encode_json_lines(&one(&step));
        prop_assert_eq!(text.matches('\n').count(), 1);
        let line: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        prop_assert_eq!(&line["labels"]["step"], &serde_json::Value::from(step));
    }
}
