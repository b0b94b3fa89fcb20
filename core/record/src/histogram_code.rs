//! [`HistogramCode`]: a histogram as text: its buckets ([`bucket_code`]) and the exact values.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::Deserializer;
use serde::{Deserialize, Serialize};
use wavetank_measure::Histogram;

use crate::{DecodeError, bucket_code};

/// Most bytes of a V2 payload: every bucket at nine bytes, and the header. Checked before decoding,
/// so that a damaged length cannot cause a huge allocation.
const V2_BYTES_MAX: usize = Histogram::BUCKETS * 9 + 40;
/// A sum of nanoseconds that no run can reach. Even a disk full of damaged sums of this size does
/// not overflow when they are added up.
const SUM_MAX: u128 = 1 << 96;
/// Buckets per copy: 1 KiB. For longer copies the C library uses a single instruction. On some
/// processors that is several times slower if both addresses are aligned alike in their pages, as
/// these are (glibc's bug 30994).
const COPIED_AT_ONCE: usize = 128;
/// First bytes of uncompressed V2 (`HdrHistogram`'s `V2EncodingCookieBase`, word size 1).
const V2_COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x13];

/// A histogram that is not empty, as stored in an interval line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HistogramCode<'a> {
    count: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    clipped: u64,
    min: u64,
    max: u64,
    sum: u128,
    /// Lines of version 2: from the lowest value's bucket to the highest's.
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    buckets: Cow<'a, str>,
    /// Instead of `buckets`: the differences from those of another histogram in the same line, from
    /// the lowest bucket of both on.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    differences: Option<Code<'a>>,
    /// Lines of version 1: `HdrHistogram` V2 in base64.
    #[serde(borrow, default, skip_serializing)]
    v2: Cow<'a, str>,
}

/// A text of buckets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Code<'a>(#[serde(borrow)] Cow<'a, str>);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl HistogramCode<'static> {
    /// `None` for an empty histogram.
    pub(crate) fn new(histogram: &Histogram) -> Option<Self> {
        let (counts, clipped, min, max, sum) = histogram.parts();
        (!histogram.is_empty()).then(|| Self {
            count: histogram.count(),
            clipped,
            min,
            max,
            sum,
            buckets: Cow::Owned(bucket_code::encode(&counts[Histogram::index(min)..=Histogram::index(max)])),
            differences: None,
            v2: Cow::Borrowed(""),
        })
    }

    /// Encodes the histogram, as differences to `other` if those are shorter. Service and response
    /// times differ by the waiting time, which is usually zero.
    pub(crate) fn delta_to(histogram: &Histogram, other: &Histogram) -> Option<Self> {
        let mut code = Self::new(histogram)?;
        if !other.is_empty() {
            let (first, last) =
                (Histogram::index(code.min.min(other.min())), Histogram::index(code.max.max(other.max())));
            let [own, other] = [histogram, other].map(|it| {
                let counts = it.parts().0;
                (first..=last).map(|place| counts.get(place).copied().unwrap_or(0)).collect::<Vec<_>>()
            });
            let differences = bucket_code::encode_differences(&own, &other);
            if differences.len() < code.buckets.len() {
                code.buckets = Cow::Borrowed("");
                code.differences = Some(Code(Cow::Owned(differences)));
            }
        }
        Some(code)
    }
}

impl HistogramCode<'_> {
    /// Decodes the exact histogram into the memory of `recycled`. `other` is the base of
    /// differences.
    pub(crate) fn decode(
        &self,
        other: &Histogram,
        mut recycled: Histogram,
    ) -> Result<Histogram, DecodeError> {
        if self.sum > SUM_MAX {
            return Err(DecodeError::new("histogram: sum beyond any run"));
        }
        let mut wrong = None;
        let sound = recycled.rebuild(self.clipped, self.min, self.max, self.sum, |counts| {
            let read = if let Some(differences) = &self.differences {
                self.decode_differences(differences, other, counts)
                    .ok_or("its differences do not match their base")
            } else if self.v2.is_empty() {
                bucket_code::decode(self.buckets.as_bytes(), counts).ok_or("its buckets are invalid")
            } else {
                self.decode_v2(counts)
            };
            read.map_err(|why| wrong = Some(why)).ok().filter(|&count| count == self.count)
        });
        match (sound, wrong) {
            (true, _) => Ok(recycled),
            (false, Some(why)) => Err(DecodeError::new(format!("histogram: {why}"))),
            (false, None) => Err(DecodeError::new("histogram: counts are inconsistent")),
        }
    }

    /// Into the buckets from the lowest value's to the highest's.
    fn decode_differences(
        &self,
        differences: &Code<'_>,
        other: &Histogram,
        counts: &mut [u64],
    ) -> Option<u64> {
        if other.is_empty() {
            return None;
        }
        let theirs = other.parts().0;
        let own_first = Histogram::index(self.min);
        let first = own_first.min(Histogram::index(other.min()));
        if let Some(same) = theirs.get(own_first..) {
            let shared = same.len().min(counts.len());
            let own = counts[..shared].chunks_mut(COPIED_AT_ONCE);
            own.zip(same.chunks(COPIED_AT_ONCE))
                .for_each(|(own, same)| own.copy_from_slice(&same[..own.len()]));
        }
        let count_of = |place: usize| theirs.get(first + place).copied().unwrap_or(0);
        bucket_code::decode_differences(differences.0.as_bytes(), counts, own_first - first, count_of)
    }

    /// Into the buckets from the lowest value's to the highest's.
    fn decode_v2(&self, counts: &mut [u64]) -> Result<u64, &'static str> {
        let bytes = STANDARD.decode(&*self.v2).map_err(|_| "it is not base64")?;
        let sound = (40..=V2_BYTES_MAX).contains(&bytes.len())
            && bytes[..4] == V2_COOKIE
            && bytes[12..40] == layout();
        if !sound || bytes[4..8] != ((bytes.len() - 40) as u32).to_be_bytes() {
            return Err("its bucket layout is unknown");
        }
        let decoded: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|_| "it is not a V2 payload")?;
        let (first, mut sum) = (Histogram::index(self.min), 0_u64);
        for recorded in decoded.iter_recorded() {
            let place = Histogram::index(recorded.value_iterated_to()).checked_sub(first);
            let bucket =
                place.and_then(|place| counts.get_mut(place)).ok_or("its values are out of bounds")?;
            *bucket = recorded.count_at_value();
            sum = sum.checked_add(*bucket).ok_or("it has more values than any run")?;
        }
        Ok(sum)
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
