//! No text makes a reader panic, and what is read is shown so that it reads back.

use proptest::prelude::*;
use wavetank_plan::{Condition, ConnectTo, StatusSet, TargetUrl, parse_sources};
use wavetank_units::quantity::{
    format_grouped, parse_count, parse_duration, parse_rate, parse_share, parse_size, show_rate,
};
use wavetank_units::{AllowTarget, Nanos, UserError};

/// A reader's error has a message and a hint, each of one line, and leads to exit 2.
fn check<T>(text: &str, read: Result<T, UserError>) {
    if let Err(error) = read {
        assert!(!error.message.is_empty() && !error.hint.is_empty(), "{text:?}: {error}");
        assert_eq!(error.exit as u8, 2, "{text:?}: {error}");
    }
}

/// Every reader of this crate.
fn read_all(text: &str) {
    check(text, parse_duration(text));
    check(text, parse_count(text));
    check(text, parse_rate(text));
    check(text, parse_size(text));
    check(text, parse_share(text));
    check(text, Condition::parse(text));
    check(text, TargetUrl::parse(text));
    check(text, AllowTarget::parse(text));
    check(text, ConnectTo::parse(text));
    check(text, StatusSet::parse(text));
    check(text, parse_sources(text));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read_all(&text);
    }

    #[test]
    fn text_of_our_own_letters_is_read_or_refused(
        text in "[0-9.,_ /:%<>=!()a-zA-Z@\\[\\]µ≤-]{0,24}",
    ) {
        read_all(&text);
    }

    #[test]
    fn nearly_conditions_are_read_or_refused(
        text in "(p[0-9_.]{0,7}|done|failed_rate|errors|status|lost)(\\([a-z0-9. ]{0,6}\\))? ?[<>=!]{0,3} ?[0-9.]{0,20}(ms|s|%|/s|k|M|m)?( (in|for) [a-z0-9]{0,4}){0,2}",
    ) {
        read_all(&text);
    }

    #[test]
    fn durations_read_back(micros in 0_i64..1_000_000_000_000) {
        let length = Nanos::from_micros(micros);
        prop_assert_eq!(parse_duration(&format!("{micros}us")), Ok(length));
        let (s, us) = (micros / 1_000_000, micros % 1_000_000);
        prop_assert_eq!(parse_duration(&format!("{s}.{us:06}s")), Ok(length));
        prop_assert_eq!(parse_duration(&format!("{}m{}s{us}us", s / 60, s % 60)), Ok(length));
    }

    #[test]
    fn rates_are_exact(count in 1_u64..1_000_000, places in 0_u32..6) {
        let scale = 10_u64.pow(places);
        let width = places as usize;
        let text = format!("{}.{:0width$}/s", count / scale, count % scale);
        let text = if places == 0 { format!("{count}/s") } else { text };
        let rate = parse_rate(&text).expect(&text);
        // count / scale a second, as integers: rate.count × scale seconds = count × rate.per.
        let left = u128::from(rate.count) * u128::from(scale) * 1_000_000_000;
        let right = u128::from(count) * u128::from(rate.per.0.unsigned_abs());
        prop_assert_eq!(left, right, "{}", text);
    }

    #[test]
    fn shown_numbers_read_back_within_three_digits(count in 0_u64..1_000_000_000_000) {
        let shown = format_grouped(count).replace(',', "");
        prop_assert_eq!(parse_count(&shown).expect(&shown), count);
        let rate = count as f64 / 1_000.0;
        let shown = show_rate(rate).replace(',', "");
        let read = parse_rate(&shown).expect(&shown).as_per_second();
        prop_assert!((read - rate).abs() <= rate * 0.0051 + 1e-9, "{} {}", rate, shown);
    }
}
