//! [`IntervalLog`]: `HdrHistogram`'s interval log.

use std::collections::BTreeMap;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use wavetank_measure::{Histogram, Interval};
use wavetank_plan::Plan;
use wavetank_record::{RunRecord, WallTime};
use wavetank_units::is_control_char;

use super::latency_series::{LatencySeries, StepSelector};

/// Writes one line of `HdrHistogram`'s interval log (`.hlog`) for each interval with values of the
/// requested time. A line has start and length in seconds, the largest value in ms, and the
/// histogram in ns as V2, deflated, in base64. Warm-up is left out, so that all lines together are
/// the run's own totals.
///
/// Source: `org.HdrHistogram` 2.2, `HistogramLogWriter` and `HistogramLogReader`, log format 1.3.
pub struct IntervalLog<'a, W: Write> {
    plan: &'a Plan,
    of: LatencySeries,
    step: Option<StepSelector>,
    /// The tags of steps, if each step has lines of its own.
    tags: Option<BTreeMap<(u16, u16), String>>,
    serializer: V2DeflateSerializer,
    to: W,
}

impl<'a, W: Write> IntervalLog<'a, W> {
    /// Writes the head. `by_step`: lines for each step, with a tag that names it.
    ///
    /// # Errors
    /// If `to` accepts no more data.
    pub fn new(
        record: &RunRecord,
        plan: &'a Plan,
        (of, step): (LatencySeries, Option<StepSelector>),
        by_step: bool,
        mut to: W,
    ) -> io::Result<Self> {
        let start = WallTime::from_rfc3339(&record.started_at).unwrap_or_default().0 / 1_000_000_000;
        writeln!(to, "#[Histogram log format version 1.3]")?;
        writeln!(to, "#[wavetank {}: {} times of run {}, in ns]", record.version, of.name(), record.id)?;
        writeln!(to, "#[StartTime: {start}.000 (seconds since epoch), {}]", record.started_at)?;
        writeln!(to, "#[BaseTime: {start}.000 (seconds since epoch)]")?;
        let legend = r#""StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram""#;
        writeln!(to, "{legend}")?;
        let tags = by_step.then(|| tags(plan));
        Ok(Self { plan, of, step, tags, serializer: V2DeflateSerializer::new(), to })
    }

    /// Write the line or lines of one interval.
    ///
    /// # Errors
    /// If there is no space left.
    pub fn add(&mut self, interval: &Interval) -> io::Result<()> {
        let Some(tags) = self.tags.take() else {
            let mut times = Histogram::default();
            self.of.add(self.plan, self.step.as_ref(), interval, &mut times);
            return self.line(None, interval, &times);
        };
        let written = tags.iter().try_for_each(|(&(scenario, step), tag)| {
            let pick = StepSelector::new(scenario, step);
            if self.step.is_some_and(|only| only != pick) {
                return Ok(());
            }
            let mut times = Histogram::default();
            self.of.add(self.plan, Some(&pick), interval, &mut times);
            self.line(Some(tag), interval, &times)
        });
        self.tags = Some(tags);
        written
    }

    fn line(&mut self, tag: Option<&str>, interval: &Interval, times: &Histogram) -> io::Result<()> {
        if times.is_empty() {
            return Ok(());
        }
        if let Some(tag) = tag {
            write!(self.to, "Tag={tag},")?;
        }
        let max = times.max() as f64 / 1e6;
        let (from, length) = (interval.from.as_secs_f64(), interval.len.as_secs_f64());
        let mut bytes = Vec::new();
        self.serializer.serialize(&as_hdr(times), &mut bytes).map_err(io::Error::other)?;
        writeln!(self.to, "{from:.3},{length:.3},{max:.3},{}", STANDARD.encode(bytes))
    }

    /// Finishes the file.
    ///
    /// # Errors
    /// If there is no space left for the rest.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The same buckets in the library's own type, which knows how to encode them.
fn as_hdr(times: &Histogram) -> hdrhistogram::Histogram<u64> {
    let mut filled = hdrhistogram::Histogram::<u64>::new_with_bounds(1, Histogram::HIGHEST, 2)
        .expect("the bounds are those of the layout");
    for (index, count) in times.iter() {
        let recorded = filled.record_n(Histogram::lowest_equivalent(index), count);
        recorded.expect("every bucket of the layout is within its bounds");
    }
    filled
}

/// Returns a tag for each step: without the characters that end a tag, and each only once.
fn tags(plan: &Plan) -> BTreeMap<(u16, u16), String> {
    let mut tags = BTreeMap::new();
    for (number, scenario) in (0_u16..).zip(&plan.scenarios) {
        for (index, step) in (0_u16..).zip(&scenario.steps) {
            let name = match scenario.name.as_str() {
                "" => step.name.clone(),
                scenario => format!("{scenario}/{}", step.name),
            };
            let harmless = |letter: char| match letter {
                ',' | '"' | '#' => '_',
                letter if letter.is_whitespace() || is_control_char(letter) => '_',
                letter => letter,
            };
            let mut tag: String = name.chars().map(harmless).collect();
            if tag.is_empty() || tags.values().any(|known| *known == tag) {
                tag = format!("{tag}_{number}.{index}");
            }
            tags.insert((number, index), tag);
        }
    }
    tags
}
