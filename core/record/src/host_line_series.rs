//! [`HostLineEncoder`] and [`HostLineDecoder`]: the lines of one host in order, each without what
//! the line before has.

use serde_json::Value;
use wavetank_measure::HostSample;

use crate::host_counters_line::RawCounters;
use crate::host_line::RawHost;
use crate::{DecodeError, HostLine};

/// One line in this many has all values, so that a damaged line harms no more than these.
const WHOLE_EVERY: u32 = 60;

/// Encodes the samples of one host. Zeros are absent from its lines. Levels and listeners that are
/// as in the line before are absent, too.
#[derive(Clone, Debug, Default)]
pub struct HostLineEncoder {
    /// Counters of the line before. `None`: the next line has all values.
    before: Option<RawCounters>,
    /// Lines since the last one with all values.
    lines: u32,
}

/// Decodes the lines of one host in order, those of a [`HostLineEncoder`] and whole ones.
#[derive(Clone, Debug, Default)]
pub struct HostLineDecoder {
    before: Option<RawCounters>,
}

impl HostLineEncoder {
    /// Returns the line of `sample` without its newline.
    pub fn encode(&mut self, sample: &HostSample) -> String {
        let mut raw = RawHost::from(&HostLine { sample: sample.clone(), ..HostLine::default() });
        let all = raw.counters.clone();
        let before = self.before.replace(all).filter(|_| self.lines < WHOLE_EVERY);
        match before.filter(|before| raw.counters.is_expressed_by(before)) {
            Some(before) => {
                raw.counters.keep_changes(&before);
                self.lines += 1;
            }
            None => self.lines = 1,
        }
        let mut value = serde_json::to_value(&raw).expect("plain data with string keys always encodes");
        remove_zeros(&mut value);
        value.to_string()
    }

    /// The last line is lost: the next one has all values.
    pub fn forget(&mut self) {
        self.before = None;
    }
}

/// Removes fields that are 0 from the line and its parts. In `counters` a zero is a value.
fn remove_zeros(line: &mut Value) {
    let Some(fields) = line.as_object_mut() else { return };
    fields.retain(|name, field| {
        if name != "counters" {
            remove_zeros(field);
        }
        field.as_i64() != Some(0)
    });
}

impl HostLineDecoder {
    /// Reads the next line, without its newline.
    ///
    /// # Errors
    /// Those of [`HostLine::decode`]. What later lines do not repeat is then unknown until the next
    /// one with all values.
    pub fn decode(&mut self, line: &[u8]) -> Result<HostLine, DecodeError> {
        let before = self.before.take();
        let mut raw = RawHost::decode(line)?;
        raw.counters.add_unchanged(before);
        self.before = Some(raw.counters.clone());
        Ok(raw.into())
    }
}
