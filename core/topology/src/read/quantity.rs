//! Quantities: the readers of core/plan at a place of the file.

use wavetank_experiment::{At, Diagnostic, Node};
use wavetank_plan::quantity::{
    parse_count, parse_count_positive, parse_duration, parse_duration_positive, parse_link, parse_share,
    parse_size,
};
use wavetank_plan::{Nanos, UserError};

use super::Reader;

impl Reader<'_> {
    /// A single value, read by `parse`.
    pub(crate) fn quantity<T>(
        &mut self,
        node: &Node,
        what: &str,
        parse: impl FnOnce(&str) -> Result<T, UserError>,
    ) -> Option<At<T>> {
        let text = self.text(node, what)?;
        match parse(&text.value) {
            Ok(value) => Some(At::new(value, text.place)),
            Err(error) => {
                self.out.push(Diagnostic::of(error, text.place));
                None
            }
        }
    }

    pub(crate) fn duration(&mut self, node: &Node) -> Option<Nanos> {
        self.quantity(node, "a duration", parse_duration).map(|at| at.value)
    }

    pub(crate) fn duration_positive(&mut self, node: &Node) -> Option<Nanos> {
        self.quantity(node, "a duration", parse_duration_positive).map(|at| at.value)
    }

    pub(crate) fn count(&mut self, node: &Node) -> Option<At<u64>> {
        self.quantity(node, "a count", parse_count)
    }

    pub(crate) fn count_positive(&mut self, node: &Node) -> Option<At<u64>> {
        self.quantity(node, "a count", parse_count_positive)
    }

    /// A count from 1 to `most`; `what` are "threads".
    pub(crate) fn few(&mut self, node: &Node, most: u32, what: &str) -> Option<At<u32>> {
        let count = self.count_positive(node)?;
        match u32::try_from(count.value) {
            Ok(few) if few <= most => Some(At::new(few, count.place)),
            _ => {
                let message = format!("{} {what} are more than a lab has", count.value);
                self.fail("lab_too_many", count.place, message, format!("at most {most}"))
            }
        }
    }

    pub(crate) fn size(&mut self, node: &Node) -> Option<At<u64>> {
        self.quantity(node, "a size", parse_size)
    }

    /// A share of packets, as parts of a million.
    pub(crate) fn share_ppm(&mut self, node: &Node) -> Option<u32> {
        self.quantity(node, "a share", parse_share).map(|share| (share.value * 1e6).round() as u32)
    }

    /// A rate of data in bits per second, at least what a packet now and then needs.
    pub(crate) fn link_rate(&mut self, node: &Node) -> Option<u64> {
        let rate = self.quantity(node, "a link's rate", parse_link)?;
        if rate.value < RATE_BITS_MIN {
            let message = "a link so slow carries no packet in the time a connection waits";
            return self.fail("lab_value", rate.place, message, "at least 8kbit/s");
        }
        Some(rate.value)
    }
}

/// The slowest link: a packet of 1,500 bytes takes one and a half seconds.
const RATE_BITS_MIN: u64 = 8_000;
