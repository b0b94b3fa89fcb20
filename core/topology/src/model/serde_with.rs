//! The serialised form of values of other crates in a [`Lab`](super::Lab). Times are nanoseconds,
//! positions are four numbers, and networks have their usual notation. Those crates keep their
//! types independent of any format.

/// A [`wavetank_units::Nanos`] as a number.
pub(super) mod nanos {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use wavetank_units::Nanos;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands in a reference")]
    pub(in crate::model) fn serialize<S: Serializer>(time: &Nanos, to: S) -> Result<S::Ok, S::Error> {
        time.0.serialize(to)
    }

    pub(in crate::model) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Nanos, D::Error> {
        i64::deserialize(from).map(Nanos)
    }
}

/// An `Option` of [`wavetank_units::Nanos`] as a number or nothing.
pub(super) mod nanos_option {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use wavetank_units::Nanos;

    #[expect(clippy::ref_option, reason = "serde hands in a reference")]
    pub(in crate::model) fn serialize<S: Serializer>(time: &Option<Nanos>, to: S) -> Result<S::Ok, S::Error> {
        time.map(|time| time.0).serialize(to)
    }

    pub(in crate::model) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Nanos>, D::Error> {
        Option::<i64>::deserialize(from).map(|time| time.map(Nanos))
    }
}

/// A [`wavetank_grammar::Span`] as line, column, first byte and byte after the last.
pub(super) mod place {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use wavetank_grammar::Span;

    pub(in crate::model) fn serialize<S: Serializer>(place: &Span, to: S) -> Result<S::Ok, S::Error> {
        (place.line, place.column, place.start, place.end).serialize(to)
    }

    pub(in crate::model) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Span, D::Error> {
        let (line, column, start, end) = Deserialize::deserialize(from)?;
        Ok(Span { line, column, start, end })
    }
}

/// A [`wavetank_units::Network`] as `10.30.0.0/24`.
pub(super) mod subnet {
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};
    use wavetank_units::Network;

    pub(in crate::model) fn serialize<S: Serializer>(subnet: &Network, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(subnet)
    }

    pub(in crate::model) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Network, D::Error> {
        let text = String::deserialize(from)?;
        Network::parse(&text).ok_or_else(|| D::Error::custom("no network"))
    }
}
