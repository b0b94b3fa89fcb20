//! Quantities in topology files.

use wavetank_grammar::{Node, Spanned};
use wavetank_units::quantity::{parse_link, parse_share};
use wavetank_units::{Code, Nanos};

use super::{Reader, TreeReader as _};

impl Reader<'_> {
    /// Reads a duration above zero and returns it without its position.
    pub(crate) fn positive_duration(&mut self, node: &Node) -> Option<Nanos> {
        self.duration_positive(node).map(|lasting| lasting.value)
    }

    /// Reads a count from 1 to `most`; `what` is the counted thing, such as "threads".
    pub(crate) fn count_up_to(&mut self, node: &Node, most: u32, what: &str) -> Option<Spanned<u32>> {
        let count = self.count_positive(node)?;
        match u32::try_from(count.value) {
            Ok(few) if few <= most => Some(Spanned::new(few, count.place)),
            _ => {
                let message = format!("{} {what} are more than a lab can have", count.value);
                self.fail(Code::LabTooMany, count.place, message, format!("at most {most}"))
            }
        }
    }

    /// Reads a share of packets in parts per million.
    pub(crate) fn share_ppm(&mut self, node: &Node) -> Option<u32> {
        self.quantity(node, "a share", parse_share).map(|share| (share.value * 1e6).round() as u32)
    }

    /// Reads a bit rate in bits per second, which must be at least [`RATE_BITS_MIN`].
    pub(crate) fn link_rate(&mut self, node: &Node) -> Option<u64> {
        let rate = self.quantity(node, "a link's rate", parse_link)?;
        if rate.value < RATE_BITS_MIN {
            let message = "the link is too slow: a packet takes longer than a connection waits";
            return self.fail(Code::LabValue, rate.place, message, "at least 8kbit/s");
        }
        Some(rate.value)
    }
}

/// The slowest link: a packet of 1,500 bytes takes 1.5 s.
const RATE_BITS_MIN: u64 = 8_000;
