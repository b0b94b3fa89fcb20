//! Bytes of each format.

use wavetank_metrics::{
    ALL, BOUNDS_NS, Kind, Snapshot, StatsdEncoder, TextFormat, encode_influx, encode_json_lines, encode_otlp,
    encode_otlp_proto, encode_remote_write, encode_text,
};

use crate::support::snapshot;

/// The lines of `text` without buckets, each with its line feed.
fn without_buckets(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.contains("_bucket{")).collect()
}

#[test]
fn prometheus_text_is_exact() {
    let text = encode_text(&snapshot(417), TextFormat::Prometheus);
    let labels = r#"run="7f",phase="main",step="GET /a b""#;
    let expected = format!(
        "# HELP wavetank_requests_done_total Requests with a complete response as expected.\n\
         # TYPE wavetank_requests_done_total counter\n\
         wavetank_requests_done_total{{{labels}}} 417\n\
         # HELP wavetank_requests_open Requests that are offered and not resolved yet.\n\
         # TYPE wavetank_requests_open gauge\n\
         wavetank_requests_open{{{labels}}} 2\n\
         # HELP wavetank_response_seconds Response time from the intended start.\n\
         # TYPE wavetank_response_seconds histogram\n\
         wavetank_response_seconds_sum{{{labels}}} 100.001\n\
         wavetank_response_seconds_count{{{labels}}} 2\n"
    );
    assert_eq!(without_buckets(&text), expected);
    let buckets: Vec<&str> = text.lines().filter(|line| line.contains("_bucket{")).collect();
    assert_eq!(buckets.len(), BOUNDS_NS.len() + 1);
    assert_eq!(buckets[0], format!(r#"wavetank_response_seconds_bucket{{{labels},le="0.000065535"}} 0"#));
    // 1 ms is below 2^20 ns, and 100 s is above every bound.
    assert_eq!(buckets[8], format!(r#"wavetank_response_seconds_bucket{{{labels},le="0.001048575"}} 1"#));
    assert_eq!(buckets[7].rsplit(' ').next(), Some("0"));
    assert_eq!(buckets[40].rsplit(' ').next(), Some("1"));
    assert_eq!(buckets[41], format!(r#"wavetank_response_seconds_bucket{{{labels},le="+Inf"}} 2"#));
}

#[test]
fn openmetrics_names_families_and_units_and_ends() {
    let text = without_buckets(&encode_text(&snapshot(1), TextFormat::OpenMetrics));
    assert!(text.contains("# TYPE wavetank_requests_done counter\nwavetank_requests_done_total{"), "{text}");
    assert!(text.contains("# UNIT wavetank_response_seconds seconds\n"), "{text}");
    assert!(text.ends_with("} 2\n# EOF\n"), "{text}");
    assert_eq!(encode_text(&Snapshot::default(), TextFormat::OpenMetrics), "# EOF\n");
}

#[test]
fn influx_lines_are_exact() {
    let tags = r"phase=main,run=7f,step=GET\ /a\ b";
    assert_eq!(
        encode_influx(&snapshot(417)),
        [
            format!("wavetank_requests_done_total,{tags} value=417i 1700000001000000000\n"),
            format!("wavetank_requests_open,{tags} value=2 1700000001000000000\n"),
            format!("wavetank_response_seconds,{tags} count=2i,sum=100.001 1700000001000000000\n"),
        ]
    );
}

#[test]
fn statsd_sends_differences_from_what_was_sent() {
    let mut encoder = StatsdEncoder::default();
    let open = "wavetank.requests_open.main.GET__a_b:2|g\n";
    let done = |grown: u64| format!("wavetank.requests_done.main.GET__a_b:{grown}|c\n");
    assert_eq!(encoder.encode(&snapshot(10)), [done(10), open.to_owned()]);
    // It was not sent.
    assert_eq!(encoder.encode(&snapshot(12)), [done(12), open.to_owned()]);
    encoder.commit();
    assert_eq!(encoder.encode(&snapshot(15)), [done(3), open.to_owned()]);
    encoder.commit();
    assert_eq!(encoder.encode(&snapshot(15)), [open.to_owned()]);
    // Another run counts from 0, with the same names.
    let other = Snapshot { run: "80".to_owned(), ..snapshot(4) };
    assert_eq!(encoder.encode(&other), [done(4), open.to_owned()]);
}

#[test]
fn json_lines_are_one_object_each() {
    let text = encode_json_lines(&snapshot(417));
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        lines[0],
        serde_json::json!({
            "time": "2023-11-14T22:13:21Z", "elapsed_s": 1.0, "metric": "wavetank_requests_done_total",
            "type": "counter", "labels": {"run": "7f", "phase": "main", "step": "GET /a b"}, "value": 417,
        })
    );
    assert_eq!((&lines[2]["count"], &lines[2]["sum"]), (&2.into(), &100.001.into()));
    assert_eq!(lines[2]["buckets"][8], serde_json::json!([0.001_048_575, 1]));
}

#[test]
fn otlp_is_cumulative_and_has_counts_as_strings() {
    let body: serde_json::Value = serde_json::from_str(&encode_otlp(&snapshot(417))).expect("JSON");
    let resource = &body["resourceMetrics"][0];
    assert_eq!(resource["resource"]["attributes"][1]["value"]["stringValue"], "7f");
    let metrics = resource["scopeMetrics"][0]["metrics"].as_array().expect("a list");
    let sum = &metrics[0];
    assert_eq!((&sum["name"], &sum["sum"]["isMonotonic"]), (&"wavetank_requests_done".into(), &true.into()));
    let point = &sum["sum"]["dataPoints"][0];
    assert_eq!((&point["asInt"], &point["timeUnixNano"]), (&"417".into(), &"1700000001000000000".into()));
    let histogram = &metrics[2]["histogram"]["dataPoints"][0];
    let counts = histogram["bucketCounts"].as_array().expect("a list");
    assert_eq!(counts.len(), histogram["explicitBounds"].as_array().expect("a list").len() + 1);
    let places: Vec<_> = (0..counts.len()).filter(|&place| counts[place] != "0").collect();
    assert_eq!((places, &metrics[2]["unit"]), (vec![8, 41], &"s".into()));
}

/// Fields of a protobuf message: number, and bytes or the value of a fixed or variable number.
/// Written for this test alone, from the encoding's description.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                break;
            }
        }
        value
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let length = match key % 8 {
            0 => {
                fields.push((key / 8, varint(&mut bytes).to_le_bytes().to_vec()));
                continue;
            }
            1 => 8,
            2 => varint(&mut bytes) as usize,
            other => panic!("wire type {other}"),
        };
        fields.push((key / 8, bytes[..length].to_vec()));
        bytes = &bytes[length..];
    }
    fields
}

#[test]
fn remote_write_has_sorted_labels_and_milliseconds() {
    let body = encode_remote_write(&snapshot(417)).expect("it is small");
    let plain = snap::raw::Decoder::new().decompress_vec(&body).expect("Snappy");
    let series = fields(&plain);
    // A counter, a gauge, and a histogram with its bounds, infinity, sum and count.
    assert_eq!(series.len(), 2 + BOUNDS_NS.len() + 3);
    let first = fields(&series[0].1);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    let labels: Vec<_> = first.iter().filter(|(number, _)| *number == 1).collect();
    let labels: Vec<_> = labels
        .iter()
        .map(|(_, label)| fields(label).iter().map(|(_, part)| text(part)).collect::<Vec<_>>().join("="))
        .collect();
    assert_eq!(labels, ["__name__=wavetank_requests_done_total", "phase=main", "run=7f", "step=GET /a b"]);
    let sample = fields(&first[4].1);
    assert_eq!(sample[0].1, 417_f64.to_le_bytes());
    assert_eq!(sample[1].1, 1_700_000_001_000_u64.to_le_bytes());
}

#[test]
fn otlp_in_protobuf_has_the_same_content() {
    let body = encode_otlp_proto(&snapshot(417));
    let all = |bytes: &[u8], number: u64| -> Vec<Vec<u8>> {
        fields(bytes).into_iter().filter(|field| field.0 == number).map(|field| field.1).collect()
    };
    let one = |bytes: &[u8], number: u64| -> Vec<u8> {
        let found = all(bytes, number);
        assert_eq!(found.len(), 1, "field {number} of {:?}", fields(bytes));
        found.into_iter().next().expect("there is one")
    };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    let pairs = |bytes: &[u8], number: u64| -> Vec<(String, String)> {
        let pair = |bytes: &Vec<u8>| (text(&one(bytes, 1)), text(&one(&one(bytes, 2), 1)));
        all(bytes, number).iter().map(pair).collect()
    };
    let owned = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let resource = one(&body, 1);
    let instance = [owned("service.name", "wavetank"), owned("service.instance.id", "7f")];
    assert_eq!(pairs(&one(&resource, 1), 1), instance);
    let scope = one(&resource, 2);
    assert_eq!(text(&one(&one(&scope, 1), 1)), "wavetank");
    let metrics = all(&scope, 2);
    let names: Vec<String> = metrics.iter().map(|metric| text(&one(metric, 1))).collect();
    assert_eq!(names, ["wavetank_requests_done", "wavetank_requests_open", "wavetank_response_seconds"]);
    let sum = one(&metrics[0], 7);
    let flags = (one(&sum, 2), one(&sum, 3));
    assert_eq!(flags, (2_u64.to_le_bytes().to_vec(), 1_u64.to_le_bytes().to_vec()), "cumulative, rising");
    let point = one(&sum, 1);
    assert_eq!(one(&point, 6), 417_i64.to_le_bytes());
    assert_eq!(one(&point, 3), 1_700_000_001_000_000_000_u64.to_le_bytes());
    let labels = [owned("run", "7f"), owned("phase", "main"), owned("step", "GET /a b")];
    assert_eq!(pairs(&point, 7), labels);
    assert_eq!(one(&one(&one(&metrics[1], 5), 1), 4), 2_f64.to_le_bytes());
    let histogram = one(&metrics[2], 9);
    let times = one(&histogram, 1);
    assert_eq!(
        (one(&times, 4), one(&times, 5)),
        (2_u64.to_le_bytes().to_vec(), 100.001_f64.to_le_bytes().to_vec())
    );
    // Numbers of a fixed length are packed.
    let counts: Vec<u64> = one(&times, 6)
        .chunks_exact(8)
        .map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight")))
        .collect();
    assert_eq!((counts.len(), one(&times, 7).len()), (BOUNDS_NS.len() + 1, 8 * BOUNDS_NS.len()));
    let places: Vec<_> = (0..counts.len()).filter(|&place| counts[place] != 0).collect();
    assert_eq!(places, [8, 41]);
    assert_eq!(text(&one(&metrics[2], 3)), "s");
}

#[test]
fn metrics_have_valid_names_and_units() {
    for metric in ALL {
        let valid = metric.base.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        assert!(valid && metric.base.starts_with("wavetank_"), "{metric:?}");
        assert!(metric.base.ends_with(metric.unit) && metric.help.ends_with('.'), "{metric:?}");
        assert!(metric.kind != Kind::Histogram || metric.unit == "seconds", "{metric:?}");
        assert_eq!(ALL.iter().filter(|other| other.base == metric.base).count(), 1, "{metric:?}");
    }
}
