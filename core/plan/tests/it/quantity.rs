//! Tables of what quantities people write and what they read back.

use wavetank_units::quantity::{
    parse_count, parse_count_positive, parse_duration, parse_duration_positive, parse_rate,
    parse_rate_positive, parse_share, parse_size, show_link, show_rate, show_request_rate, show_share,
    show_size,
};
use wavetank_units::{ExitCode, Nanos, UserError};

/// Every valid row parses to its value. Every invalid row has its code, and its error contains the
/// text and the hint.
fn check<T: PartialEq + std::fmt::Debug>(
    parse: impl Fn(&str) -> Result<T, UserError>,
    good: &[(&str, T)],
    bad: &[(&str, &str, &str)],
) {
    for (text, expected) in good {
        assert_eq!(parse(text).as_ref(), Ok(expected), "{text}");
    }
    for (text, code, hint) in bad {
        let error = parse(text).expect_err(text);
        assert_eq!(error.code, *code, "{text}: {error}");
        assert_eq!(error.exit, ExitCode::Usage, "{text}");
        assert!(error.message.contains(&format!("`{text}`")), "{text}: {error}");
        assert!(error.hint.contains(hint), "{text}: {error} should hint {hint}");
    }
}

#[test]
fn durations() {
    let ms = Nanos::from_millis;
    check(
        parse_duration,
        &[
            ("0s", ms(0)),
            ("30s", ms(30_000)),
            ("250ms", ms(250)),
            ("1.5s", ms(1_500)),
            ("1m30s", ms(90_000)),
            ("1m 30s", ms(90_000)),
            ("2 m 05 s", ms(125_000)),
            ("1h30m", ms(5_400_000)),
            ("2d", ms(172_800_000)),
            ("100us", Nanos(100_000)),
            ("0.1µs", Nanos(100)),
            ("0.000000001s", Nanos(1)),
            ("007s", ms(7_000)),
            (" 3s ", ms(3_000)),
        ],
        &[
            ("30", "unit_missing", "30s? (wrk and ab mean seconds)"),
            ("5000", "unit_missing", "5s = 5000ms? (JMeter"),
            ("1m30", "unit_missing", "30"),
            ("10M", "unit_unknown", "M is a million; 10m is 10 minutes"),
            ("5sec", "unit_unknown", "5s"),
            ("5S", "unit_unknown", "5s"),
            ("5min", "unit_unknown", "5m"),
            ("2weeks", "unit_unknown", "14d"),
            ("100ns", "unit_unknown", "1000 ns are 1us"),
            ("5x", "unit_unknown", "us, ms, s, m, h or d"),
            ("30s1m", "unit_order", "1m30s"),
            ("30s30s", "unit_order", "1m30s"),
            ("-5s", "negative", "cannot be negative"),
            ("", "not_a_number", "30s"),
            ("soon", "not_a_number", "30s"),
            ("s", "not_a_number", "30s"),
            (".5s", "not_a_number", "30s"),
            ("1.s", "not_a_number", "30s"),
            ("1.2.3s", "not_a_number", "30s"),
            ("1,5s", "not_a_number", "15s"),
            ("0.0001us", "not_whole", "1.5us"),
            ("11000d", "overflow", "30s"),
            ("99999999999999999999s", "overflow", "30s"),
            ("9999999999999999999d", "overflow", "30s"),
            ("0.00000000000000000000001s", "overflow", "30s"),
        ],
    );
    check(parse_duration_positive, &[("1us", Nanos(1_000))], &[("0s", "zero", "more than zero")]);
}

#[test]
fn counts() {
    check(
        parse_count,
        &[
            ("0", 0),
            ("50", 50),
            ("10k", 10_000),
            ("1M", 1_000_000),
            ("3.48M", 3_480_000),
            ("2G", 2_000_000_000),
            ("0.5k", 500),
            ("10 k", 10_000),
        ],
        &[
            ("1m", "unit_unknown", "1m is one minute; 1M is a million"),
            ("5K", "unit_unknown", "5k"),
            ("1e6", "unit_unknown", "1M"),
            ("25e3", "unit_unknown", "25k"),
            ("10/s", "unit_unknown", "no time in it"),
            ("10s", "unit_unknown", "no unit or ends in k, M or G"),
            ("1.5", "not_whole", "a count is whole"),
            ("-5", "negative", "cannot be negative"),
            ("10,000", "not_a_number", "10000"),
            ("10_000", "not_a_number", "10000"),
            ("ten", "not_a_number", "500, 10k or 1M"),
            ("99999999999G", "overflow", "1M"),
            ("18446744073709551616", "overflow", "1M"),
        ],
    );
    check(
        parse_count_positive,
        &[("1", 1)],
        &[("0", "zero", "more than zero"), ("0k", "zero", "more than zero")],
    );
}

#[test]
fn rates_are_exact_fractions() {
    let exact = |text: &str| parse_rate(text).map(|rate| (rate.count, rate.per));
    let s = Nanos::from_secs;
    check(
        exact,
        &[
            ("500/s", (500, s(1))),
            ("5k/s", (5_000, s(1))),
            ("1.5k/s", (1_500, s(1))),
            ("0.5/s", (1, s(2))),
            ("0.3/s", (3, s(10))),
            ("7/min", (7, s(60))),
            ("100/h", (100, s(3_600))),
            ("0/s", (0, s(1))),
            ("1M/s", (1_000_000, s(1))),
            ("50 k/s", (50_000, s(1))),
        ],
        &[
            ("500", "unit_missing", "500/s?"),
            ("5k", "unit_missing", "5k/s?"),
            ("500rps", "unit_missing", "500/s"),
            ("5krps", "unit_missing", "5k/s"),
            ("90rpm", "unit_missing", "90/min"),
            ("5m", "unit_missing", "5M/s"),
            ("5K/s", "unit_unknown", "5k/s"),
            ("5m/s", "unit_unknown", "5M/s"),
            ("500req/s", "unit_unknown", "500/s"),
            ("500/sec", "unit_unknown", "500/s"),
            ("500/m", "unit_unknown", "500/min"),
            ("500/1s", "unit_unknown", "500/s"),
            ("500/ms", "unit_unknown", "per s, min or h"),
            ("500/d", "unit_unknown", "per s, min or h"),
            ("-1/s", "negative", "cannot be negative"),
            ("/s", "not_a_number", "500/s"),
            ("2G/s", "overflow", "500/s"),
            ("0.0000000000000000001/h", "overflow", "500/s"),
        ],
    );
    check(
        parse_rate_positive,
        &[],
        &[("0/s", "zero", "more than zero"), ("0.0/min", "zero", "more than zero")],
    );
}

#[test]
fn sizes() {
    check(
        parse_size,
        &[
            ("0B", 0),
            ("512B", 512),
            ("1.5kB", 1_500),
            ("16KiB", 16_384),
            ("2MB", 2_000_000),
            ("1MiB", 1_048_576),
            ("3GB", 3_000_000_000),
            ("1GiB", 1_073_741_824),
        ],
        &[
            ("12", "unit_missing", "12B?"),
            ("12Gb", "unit_unknown", "Gb is gigabit; GB?"),
            ("12Mb", "unit_unknown", "Mb is megabit; MB?"),
            ("12kb", "unit_unknown", "kB?"),
            ("12KB", "unit_unknown", "12kB"),
            ("12k", "unit_unknown", "12kB"),
            ("12m", "unit_unknown", "12MB"),
            ("12T", "unit_unknown", "GiB"),
            ("1.5B", "not_whole", "512B"),
            ("-1B", "negative", "cannot be negative"),
            ("99999999999999999GiB", "overflow", "1MiB"),
        ],
    );
}

#[test]
fn shares() {
    check(
        parse_share,
        &[("1%", 0.01), ("0%", 0.0), ("100%", 1.0), ("0.01%", 0.0001), ("50 %", 0.5)],
        &[
            ("1", "unit_missing", "1%?"),
            ("0.5", "unit_missing", "0.5%?"),
            ("1 percent", "unit_missing", "1%?"),
            ("1e400", "unit_missing", "looks like 1% or 0.01%"),
            ("150", "unit_missing", "looks like 1% or 0.01%"),
            ("150%", "overflow", "0% to 100%"),
            ("-1%", "negative", "cannot be negative"),
            ("some%", "not_a_number", "1% or 0.01%"),
        ],
    );
}

#[test]
fn links_are_shown_with_three_digits() {
    let links: &[(f64, &str)] = &[
        (0.0, "0 bit/s"),
        (400.0, "400 bit/s"),
        (999_960.0, "1.00 Mbit/s"),
        (1_234_567.0, "1.23 Mbit/s"),
        (1e8, "100 Mbit/s"),
        (2e9, "2.00 Gbit/s"),
        (2e12, "2.00 Tbit/s"),
    ];
    for (bits_per_s, text) in links {
        assert_eq!(show_link(*bits_per_s), *text, "{bits_per_s}");
    }
}

#[test]
fn rates_and_sizes_are_shown_with_their_unit() {
    let rates: &[(f64, &str)] = &[
        (0.0, "0/s"),
        (0.5, "0.5/s"),
        (0.01667, "1/min"),
        (0.0999, "0.1/s"),
        (1.0 / 3_600.0, "1/h"),
        (0.5 / 3_600.0, "0.5/h"),
        (7.0, "7/s"),
        (12.42, "12.4/s"),
        (999.4, "999/s"),
        (999.6, "1,000/s"),
        (9_981.4, "9,981/s"),
        (1e6, "1,000,000/s"),
    ];
    for (rate, text) in rates {
        assert_eq!(show_rate(*rate), *text, "{rate}");
        assert_eq!(show_request_rate(*rate), text.replace('/', " req/"), "{rate}");
    }
    let sizes: &[(u64, &str)] = &[
        (0, "0 B"),
        (999, "999 B"),
        (1_300, "1.3 kB"),
        (12_400, "12.4 kB"),
        (124_000, "124 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (5_000_000_000, "5.0 GB"),
        (7_000_000_000_000, "7.0 TB"),
    ];
    for (bytes, text) in sizes {
        assert_eq!(show_size(*bytes), *text, "{bytes}");
    }
    let shares: &[(f64, &str)] = &[
        (0.0, "0 %"),
        (0.000_001, "< 0.01 %"),
        (0.000_2, "0.02 %"),
        (0.015, "1.5 %"),
        (0.12345, "12.3 %"),
        (0.999_4, "99.9 %"),
        (26_998.0 / 27_000.0, "99.99 %"),
        (0.999_999_9, "99.99 %"),
        (1.0, "100 %"),
    ];
    for (share, text) in shares {
        assert_eq!(show_share(*share), *text, "{share}");
    }
}
