//! Shapes in `plan.yaml`: straight pieces as text, `10s 0 to 500`, repeated for the phase's length.

use serde::{Deserialize, Serialize};
use wavetank_plan::shape::Segment;
use wavetank_plan::{PopulationCurve, RateCurve};
use wavetank_units::Nanos;

use super::exact_quantity::{exact_duration, read_duration};
use crate::DecodeError;

/// A rate that moves: arrivals per `per`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CurveYaml {
    per: String,
    pieces: Vec<String>,
}

impl CurveYaml {
    pub(crate) fn new(curve: &RateCurve) -> Self {
        Self { per: exact_duration(curve.per()), pieces: pieces_text(curve.pieces()) }
    }

    pub(crate) fn read(&self, length: Nanos) -> Result<RateCurve, DecodeError> {
        let pieces = read_pieces(&self.pieces)?;
        let per = read_duration(&self.per)?;
        RateCurve::new(per, pieces, length).map_err(|fault| DecodeError::new(format!("a rate: {fault}")))
    }
}

/// The pieces of levels that move.
pub(crate) fn levels_text(levels: &PopulationCurve) -> Vec<String> {
    pieces_text(levels.pieces())
}

pub(crate) fn read_levels(pieces: &[String], length: Nanos) -> Result<PopulationCurve, DecodeError> {
    PopulationCurve::new(read_pieces(pieces)?, length)
        .map_err(|fault| DecodeError::new(format!("levels: {fault}")))
}

/// Whether one number says it all.
pub(crate) fn is_flat(pieces: &[Segment], length: Nanos) -> bool {
    matches!(pieces, [only] if only.begin == only.end && only.length == length)
}

fn pieces_text(pieces: &[Segment]) -> Vec<String> {
    let text = |piece: &Segment| {
        let Segment { length, begin, end } = *piece;
        let length = exact_duration(length);
        if begin == end { format!("{length} {begin}") } else { format!("{length} {begin} to {end}") }
    };
    pieces.iter().map(text).collect()
}

fn read_pieces(texts: &[String]) -> Result<Vec<Segment>, DecodeError> {
    let read = |text: &String| {
        let bad = || DecodeError::new(format!("`{text}` is not a piece of a shape"));
        let (length, values) = text.split_once(' ').ok_or_else(bad)?;
        let (begin, end) = values.split_once(" to ").unwrap_or((values, values));
        let number = |text: &str| text.parse().map_err(|_| bad());
        Ok(Segment { length: read_duration(length)?, begin: number(begin)?, end: number(end)? })
    };
    texts.iter().map(read).collect()
}

/// Instants in nanoseconds after the phase's start, in order.
pub(crate) fn times_text(times: &[Nanos]) -> String {
    let texts: Vec<_> = times.iter().map(|time| time.0.to_string()).collect();
    texts.join(" ")
}

pub(crate) fn read_times(text: &str) -> Result<Vec<Nanos>, DecodeError> {
    let times: Option<Vec<_>> =
        text.split_ascii_whitespace().map(|time| time.parse().ok().map(Nanos)).collect();
    let times = times.filter(|times| times.is_sorted() && times.first().is_none_or(|first| first.0 >= 0));
    times.ok_or_else(|| DecodeError::new("a trace contains an invalid instant, or is out of order"))
}
