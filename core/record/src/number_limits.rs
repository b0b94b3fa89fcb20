//! [`check_number_limits`]: checks that no number of a stored object is larger than any run can
//! produce.
//!
//! Bytes from outside may contain any number that JSON can write. Adding, scaling or rounding one
//! near the end of its range overflows. All numbers are therefore checked once when they are read,
//! so that later code need not handle them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::DecodeError;

/// Whole numbers up to here are exact in every JSON reader: 9 × 10^15 requests, bytes, or
/// microseconds (285 years).
const NUMBER_MAX: f64 = 9_007_199_254_740_992.0;
/// Nanoseconds, under keys that end in `_ns`: 36 years. Two of them still add up.
const NANOS_MAX: f64 = 1_152_921_504_606_846_976.0;
/// Limit of seconds (keys that end in `_s`) and of rates per second: 272 years, which fit into 64
/// bits as nanoseconds.
const SECONDS_MAX: f64 = 8_589_934_592.0;
/// Keys of numbers that are not used in computations: a seed, and a calendar instant in nanoseconds
/// since 1970, which is larger than any length of time.
const NOT_COUNTED_WITH: [&str; 2] = ["seed", "unix_ns"];

/// Looks at all numbers of `json`.
///
/// # Errors
/// Where one is beyond any run: which, and under which key.
pub(crate) fn check_number_limits(json: &[u8]) -> Result<(), DecodeError> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    Numbers("").deserialize(&mut reader).map_err(|error| DecodeError::json(&error))
}

/// A value, under this key.
#[derive(Clone, Copy)]
struct Numbers<'k>(&'k str);

impl Numbers<'_> {
    fn check<E: Error>(self, number: f64, shown: &dyn fmt::Display) -> Result<(), E> {
        let most = match self.0 {
            key if NOT_COUNTED_WITH.contains(&key) => return Ok(()),
            key if key.ends_with("_ns") => NANOS_MAX,
            key if key.ends_with("_s") => SECONDS_MAX,
            _ => NUMBER_MAX,
        };
        if number.abs() <= most {
            return Ok(());
        }
        Err(E::custom(format_args!("`{}` is {shown}: a number beyond any run", self.0)))
    }
}

impl<'de> DeserializeSeed<'de> for Numbers<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Numbers<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.check(number as f64, &number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.check(number as f64, &number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.check(number, &number)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        while values.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(key) = fields.next_key::<Cow<'_, str>>()? {
            fields.next_value_seed(Numbers(&key))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, refused: Option<&str>) {
        let reported = check_number_limits(json.as_bytes()).err().map(|error| error.to_string());
        assert_eq!(reported.is_some(), refused.is_some(), "{json}: {reported:?}");
        assert!(reported.unwrap_or_default().contains(refused.unwrap_or_default()), "{json}");
    }

    #[test]
    fn numbers_beyond_any_run_are_named() {
        check(r#"{"a":1,"b":[-2,3.5,null,true,"18446744073709551615"],"seed":18446744073709551615}"#, None);
        // A response of `wavetank serve` from 2026.
        check(r#"{"open":0,"monotonic_ns":89690556199611,"unix_ns":1795383192418412163}"#, None);
        check(r#"{"at_ns":-1152921504606846976,"n":9007199254740992,"took_s":8589934592}"#, None);
        check(r#"{"a":{"sent":18446744073709551615}}"#, Some("`sent` is 18446744073709551615"));
        check(r#"{"b":[[1,9007199254740994]]}"#, Some("`b` is 9007199254740994: a number beyond any run"));
        check(r#"{"mean":-1e308}"#, Some("`mean` is -1"));
        check(r#"{"at_ns":9223372036854775807}"#, Some("`at_ns`"));
        check(r#"{"duration_s":1e10}"#, Some("`duration_s` is 1"));
    }
}
