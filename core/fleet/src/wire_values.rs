//! Values of other crates in messages: their encoding, and the limits within which the machines can
//! compute with them.

/// Most nanoseconds of an instant, before or after zero: 36 years. The sum of several stays within
/// 64 bits.
const INSTANT_MAX: i64 = 1 << 60;
/// Most indices in one turn of a share. A host divides its share further.
const TURN_MAX: u64 = 1 << 32;

/// A number of an interval that no run can reach.
pub(crate) const INTERVAL_MAX: u64 = 1 << 56;

/// An instant or length in nanoseconds.
pub(crate) mod instant {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use wavetank_units::Nanos;

    use super::INSTANT_MAX;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
    pub(crate) fn serialize<S: Serializer>(value: &Nanos, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(value.0)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
        let value = i64::deserialize(deserializer)?;
        if (-INSTANT_MAX..=INSTANT_MAX).contains(&value) {
            Ok(Nanos(value))
        } else {
            Err(D::Error::custom(format!("{value} ns is beyond any run")))
        }
    }
}

/// An instant that may be missing.
pub(crate) mod optional_instant {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use wavetank_units::Nanos;

    #[derive(Serialize, Deserialize)]
    struct Wrapped(#[serde(with = "super::instant")] Nanos);

    #[expect(clippy::ref_option, reason = "the signature that serde requires")]
    pub(crate) fn serialize<S: Serializer>(value: &Option<Nanos>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Wrapped).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Nanos>, D::Error> {
        Ok(Option::<Wrapped>::deserialize(deserializer)?.map(|Wrapped(value)| value))
    }
}

/// A share as `[first, width, of]`.
pub(crate) mod partition {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
    use wavetank_pace::Partition;

    use super::TURN_MAX;

    pub(crate) fn serialize<S: Serializer>(value: &Partition, serializer: S) -> Result<S::Ok, S::Error> {
        (value.first, value.width, value.of).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Partition, D::Error> {
        let (first, width, of) = <(u64, u64, u64)>::deserialize(deserializer)?;
        let is_part = first.checked_add(width).is_some_and(|end| end <= of);
        if is_part && (1..=TURN_MAX).contains(&of) {
            Ok(Partition { first, width, of })
        } else {
            Err(D::Error::custom(format!("[{first},{width},{of}] is not a share")))
        }
    }
}

/// Shares of which some are missing.
pub(crate) mod optional_partitions {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use wavetank_pace::Partition;

    #[derive(Serialize, Deserialize)]
    struct Wrapped(#[serde(with = "super::partition")] Partition);

    pub(crate) fn serialize<S: Serializer>(
        value: &[Option<Partition>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(value.iter().map(|share| share.map(Wrapped)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Option<Partition>>, D::Error> {
        let shares = Vec::<Option<Wrapped>>::deserialize(deserializer)?;
        Ok(shares.into_iter().map(|share| share.map(|Wrapped(share)| share)).collect())
    }
}

/// A rate as `[count, per_ns]`.
pub(crate) mod rate {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
    use wavetank_units::{Nanos, Rate};

    pub(crate) fn serialize<S: Serializer>(value: &Rate, serializer: S) -> Result<S::Ok, S::Error> {
        (value.count, value.per.0).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
        let (count, per) = <(u64, i64)>::deserialize(deserializer)?;
        if (1..=super::INSTANT_MAX).contains(&per) {
            Ok(Rate { count, per: Nanos(per) })
        } else {
            Err(D::Error::custom(format!("a rate per {per} ns")))
        }
    }
}
