//! [`HistogramCode`]: a histogram as `HdrHistogram` V2 bytes in base64, with the exact values beside it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};
use wavetank_measure::Histogram;

use crate::DecodeError;

/// Bytes of a V2 payload at most: every bucket at nine bytes, and the header. Checked before decoding, so that
/// a damaged length cannot ask for memory.
const V2_BYTES_MAX: usize = Histogram::BUCKETS * 9 + 40;
/// A sum of nanoseconds no run can reach. A damaged one would overflow when sums are added up.
const SUM_MAX: u128 = 1 << 110;
/// First bytes of uncompressed V2 (`HdrHistogram`'s `V2EncodingCookieBase`, word size 1).
const V2_COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x13];

/// A histogram that is not empty, as it stands in an interval line. V2 keeps bucket counts only, hence the
/// exact values beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HistogramCode {
    count: u64,
    clipped: u64,
    min: u64,
    max: u64,
    sum: u128,
    v2: String,
}

impl HistogramCode {
    /// `None` for an empty histogram.
    pub(crate) fn new(histogram: &Histogram) -> Option<Self> {
        (!histogram.is_empty()).then(|| Self {
            count: histogram.count(),
            clipped: histogram.clipped(),
            min: histogram.min(),
            max: histogram.max(),
            sum: histogram.sum(),
            v2: STANDARD.encode(v2_bytes(histogram)),
        })
    }

    /// The histogram again, exactly.
    pub(crate) fn decode(&self) -> Result<Histogram, DecodeError> {
        let bytes =
            STANDARD.decode(&self.v2).map_err(|error| DecodeError::new(format!("histogram: {error}")))?;
        let sound = (40..=V2_BYTES_MAX).contains(&bytes.len())
            && bytes[..4] == V2_COOKIE
            && bytes[12..40] == layout();
        if !sound || bytes[4..8] != ((bytes.len() - 40) as u32).to_be_bytes() {
            return Err(DecodeError::new("histogram: not of the one layout"));
        }
        let decoded: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| DecodeError::new(format!("histogram: {error}")))?;
        if self.sum > SUM_MAX {
            return Err(DecodeError::new("histogram: sum beyond any run"));
        }
        let mut counts = vec![0; Histogram::BUCKETS];
        for recorded in decoded.iter_recorded() {
            counts[Histogram::index(recorded.value_iterated_to())] = recorded.count_at_value();
        }
        Histogram::from_parts(counts, self.clipped, self.min, self.max, self.sum)
            .filter(|histogram| histogram.count() == self.count)
            .ok_or_else(|| DecodeError::new("histogram: counts contradict one another"))
    }
}

/// The part of the V2 header that fixes the layout: digits, lowest, highest, conversion ratio.
fn layout() -> [u8; 28] {
    let mut bytes = [0; 28];
    bytes[..4].copy_from_slice(&2_u32.to_be_bytes());
    bytes[4..12].copy_from_slice(&1_u64.to_be_bytes());
    bytes[12..20].copy_from_slice(&Histogram::HIGHEST.to_be_bytes());
    bytes[20..].copy_from_slice(&1.0_f64.to_be_bytes());
    bytes
}

fn v2_bytes(histogram: &Histogram) -> Vec<u8> {
    let mut filled = hdrhistogram::Histogram::<u64>::new_with_bounds(1, Histogram::HIGHEST, 2)
        .expect("the bounds are those of the layout");
    for (index, count) in histogram.iter() {
        let recorded = filled.record_n(Histogram::lowest_equivalent(index), count);
        recorded.expect("every bucket of the layout is within its bounds");
    }
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(&filled, &mut bytes)
        .expect("counts stay far below 2^63 and a vector takes all bytes");
    bytes
}
