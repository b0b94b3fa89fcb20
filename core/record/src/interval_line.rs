//! [`IntervalLine`]: one line of `intervals/<agent>.jsonl`, which is also an agent's spool.

use serde::{Deserialize, Serialize};
use wavetank_measure::{Bytes, Histogram, Interval, PacketCounters, ThreadStats};
use wavetank_units::Nanos;

use crate::conns_line::ConnsLine;
use crate::journeys_line::JourneysLine;
use crate::overflow_guard::OverflowGuard;
use crate::series_line::{Series, SeriesLine, SeriesTimes, SkipTimes, TimesLine};
use crate::{DecodeError, IntervalExtras};

/// Version of the written lines. Histograms of version 1 were `HdrHistogram` V2 in base64, twice as
/// long.
const LINE_VERSION: u32 = 2;
/// Oldest version that is read.
const LINE_VERSION_MIN: u32 = 1;
/// An interval number that no run can reach. A larger, damaged number would overflow when counted
/// on.
const SEQ_MAX: u64 = 1 << 56;
/// Bound of a run's length and of its distance from the start of the load: two years. Larger values
/// are damaged, and would overflow when times are added up.
const TIME_MAX: u64 = 1 << 56;

/// One sealed interval of one agent, or the sum of all of them so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalLine {
    /// Name of the agent; `local` on a single host.
    pub agent: String,
    /// Which life of the agent: a restarted one begins a new epoch.
    pub epoch: u64,
    /// Number of the interval within the epoch, from 0, without gaps. On a checkpoint: number of
    /// its last interval.
    pub seq: u64,
    /// Whether this is a checkpoint: the sum of all intervals up to and including `seq`, which
    /// restores lost ones.
    pub checkpoint: bool,
    /// What happened.
    pub interval: Interval,
}

impl IntervalLine {
    /// The line without its newline.
    pub fn encode(&self) -> String {
        Self::encode_interval(&self.agent, self.epoch, self.seq, self.checkpoint, &self.interval)
    }

    /// The line of a borrowed interval: histograms are too large to be copied each second.
    pub fn encode_interval(
        agent: &str,
        epoch: u64,
        seq: u64,
        checkpoint: bool,
        interval: &Interval,
    ) -> String {
        let mut raw = RawLine::new(interval);
        (raw.agent, raw.epoch, raw.seq, raw.checkpoint) = (agent.to_owned(), epoch, seq, checkpoint);
        serde_json::to_string(&raw).expect("plain data with string keys always encodes")
    }

    /// The line of an agent in a fleet: that of [`IntervalLine::encode_interval`], with `extras` as
    /// its last key. Extras that are empty are left out.
    pub fn encode_interval_with_extras(
        agent: &str,
        epoch: u64,
        seq: u64,
        interval: &Interval,
        extras: &IntervalExtras,
    ) -> String {
        let mut line = Self::encode_interval(agent, epoch, seq, false, interval);
        if !extras.is_empty() {
            line.truncate(line.len() - 1);
            line.push_str(",\"extras\":");
            line.push_str(&extras.encode());
            line.push('}');
        }
        line
    }

    /// Reads only the epoch and the number of a line.
    ///
    /// # Errors
    /// If the bytes are not a whole line, have an unknown version, or contain a number beyond any
    /// run.
    pub fn number(line: &[u8]) -> Result<(u64, u64), DecodeError> {
        let Numbers { v, epoch, seq } =
            serde_json::from_slice(line).map_err(|error| DecodeError::line(line, LINE_VERSION, &error))?;
        check_version(v)?;
        if seq > SEQ_MAX {
            return Err(DecodeError::new("a count beyond any run"));
        }
        Ok((epoch, seq))
    }

    /// Reads one line, without its newline.
    ///
    /// # Errors
    /// When the bytes are not a whole line of a version known here, or contradict themselves.
    pub fn decode(line: &[u8]) -> Result<Self, DecodeError> {
        let mut read = Self::default();
        read.decode_again(line).map(|()| read)
    }

    /// Reads only the start and the end of a line.
    ///
    /// # Errors
    /// If the bytes are not a whole line, have an unknown version, or contain a time beyond any
    /// run.
    pub fn place(line: &[u8]) -> Result<(Nanos, Nanos), DecodeError> {
        let TimeSpan { v, from_ns, len_ns } =
            serde_json::from_slice(line).map_err(|error| DecodeError::json(&error))?;
        check_version(v)?;
        check_place(from_ns, len_ns)?;
        Ok((Nanos(from_ns), Nanos(from_ns + len_ns)))
    }

    /// Like [`IntervalLine::decode`], but reuses the memory of this line. An archive of an hour has
    /// 150,000 histograms, and most of the time would be spent on allocating them. After an error
    /// the content is unspecified.
    ///
    /// # Errors
    /// As [`IntervalLine::decode`].
    pub fn decode_again(&mut self, line: &[u8]) -> Result<(), DecodeError> {
        let mut pool = histograms(std::mem::take(&mut self.interval));
        *self = read::<TimesLine<'_>>(line, &mut pool)?;
        Ok(())
    }

    /// Reads the line without the times of its steps, phases and targets, which make up most of it.
    /// Damage in them is not detected.
    ///
    /// # Errors
    /// As [`IntervalLine::decode`].
    pub fn decode_counts(line: &[u8]) -> Result<Self, DecodeError> {
        read::<SkipTimes>(line, &mut Vec::new())
    }
}

fn read<'a, T: SeriesTimes + Deserialize<'a>>(
    line: &'a [u8],
    pool: &mut Vec<Histogram>,
) -> Result<IntervalLine, DecodeError> {
    let raw: RawLine<'a, T> =
        serde_json::from_slice(line).map_err(|error| DecodeError::line(line, LINE_VERSION, &error))?;
    raw.decode(pool)
}

/// The histograms of an interval, the first last.
fn histograms(interval: Interval) -> Vec<Histogram> {
    let Interval { steps, phases, targets, .. } = interval;
    let steps = steps.into_iter().flat_map(|it| [it.response, it.service]);
    let phases = phases.into_iter().flat_map(|it| [it.lag, it.wait, it.ttfb, it.transfer, it.failed]);
    let targets = targets.into_iter().flat_map(|it| [it.connect, it.tls, it.hello, it.ping]);
    let mut all: Vec<_> = steps.chain(phases).chain(targets).collect();
    // Histograms without memory must not be used where memory is needed.
    all.retain(|histogram| !histogram.is_empty());
    all.reverse();
    all
}

/// The keys of a line that contain its time.
#[derive(Deserialize)]
struct TimeSpan {
    v: u32,
    from_ns: i64,
    len_ns: i64,
}

/// The keys of a line that contain its number.
#[derive(Deserialize)]
struct Numbers {
    v: u32,
    epoch: u64,
    seq: u64,
}

fn check_version(version: u32) -> Result<(), DecodeError> {
    if (LINE_VERSION_MIN..=LINE_VERSION).contains(&version) {
        return Ok(());
    }
    Err(DecodeError::version("version", version, LINE_VERSION))
}

fn check_place(from_ns: i64, len_ns: i64) -> Result<(), DecodeError> {
    if len_ns < 0 {
        return Err(DecodeError::new("an interval ends before it starts"));
    }
    if from_ns.unsigned_abs().max(len_ns.unsigned_abs()) > TIME_MAX {
        return Err(DecodeError::new("a time beyond any run"));
    }
    Ok(())
}

/// The line's keys, in the documented order; what is missing reads as zero.
#[derive(Serialize, Deserialize)]
#[serde(bound(serialize = "T: SeriesTimes + Serialize", deserialize = "T: SeriesTimes + Deserialize<'de>"))]
struct RawLine<'a, T> {
    v: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    checkpoint: bool,
    agent: String,
    epoch: u64,
    seq: u64,
    from_ns: i64,
    len_ns: i64,
    #[serde(default)]
    users: u64,
    series: Vec<SeriesLine<T>>,
    conns: ConnsLine,
    bytes: crate::Bytes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    packets: Option<crate::Packets>,
    threads: Vec<RawThread>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    journeys: Option<JourneysLine<'a>>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct RawThread {
    #[serde(skip_serializing_if = "is_first")]
    agent: u16,
    thread: u16,
    turns: u64,
    stalled_turns: u64,
    starved_turns: u64,
    busy_ns: u64,
    #[serde(skip_serializing_if = "is_none")]
    evaluate_ns: u64,
    turn_ns_max: u64,
    send_call_ns_max: u64,
    cpu_ns: u64,
}

impl RawLine<'static, TimesLine<'static>> {
    fn new(interval: &Interval) -> Self {
        // Taken apart by name, so that a new field of an interval cannot be forgotten here.
        let Interval { from, len, steps, phases, targets, conns, bytes, packets, users, threads, journeys } =
            interval;
        let steps = steps.iter().map(SeriesLine::from_step);
        let phases = phases.iter().map(SeriesLine::from_phase);
        let targets = targets.iter().map(SeriesLine::from_target);
        let Bytes { sent, received } = *bytes;
        Self {
            v: LINE_VERSION,
            checkpoint: false,
            agent: String::new(),
            epoch: 0,
            seq: 0,
            from_ns: from.0,
            len_ns: len.0,
            users: *users,
            series: steps.chain(phases).chain(targets).collect(),
            conns: ConnsLine::new(conns),
            bytes: crate::Bytes { sent, received },
            packets: (*packets != PacketCounters::default())
                .then_some(crate::Packets { sent: packets.sent, lost: packets.lost }),
            threads: threads.iter().copied().map(RawThread::new).collect(),
            journeys: JourneysLine::new(journeys),
        }
    }
}

impl<T: SeriesTimes> RawLine<'_, T> {
    fn decode(self, pool: &mut Vec<Histogram>) -> Result<IntervalLine, DecodeError> {
        check_version(self.v)?;
        check_place(self.from_ns, self.len_ns)?;
        let mut interval = Interval {
            from: Nanos(self.from_ns),
            len: Nanos(self.len_ns),
            conns: self.conns.decode()?,
            bytes: Bytes { sent: self.bytes.sent, received: self.bytes.received },
            packets: self.packets.map_or_else(PacketCounters::default, |own| PacketCounters {
                sent: own.sent,
                lost: own.lost,
            }),
            users: self.users,
            threads: self.threads.into_iter().map(RawThread::decode).collect(),
            journeys: self.journeys.unwrap_or_default().decode()?,
            ..Interval::default()
        };
        for series in self.series {
            match series.decode(pool)? {
                Series::Step(step) => interval.steps.push(step),
                Series::Phase(phase) => interval.phases.push(phase),
                Series::Target(target) => interval.targets.push(target),
            }
        }
        let Self { checkpoint, agent, epoch, seq, .. } = self;
        if seq > SEQ_MAX || !OverflowGuard::default().admit(&interval) {
            return Err(DecodeError::new("a count beyond any run"));
        }
        Ok(IntervalLine { agent, epoch, seq, checkpoint, interval })
    }
}

impl RawThread {
    fn new(health: ThreadStats) -> Self {
        let ThreadStats {
            agent,
            thread,
            turns,
            stalled_turns,
            starved_turns,
            busy_ns,
            evaluate_ns,
            turn_ns_max,
            send_call_ns_max,
            cpu_ns,
        } = health;
        Self {
            agent,
            thread,
            turns,
            stalled_turns,
            starved_turns,
            busy_ns,
            evaluate_ns,
            turn_ns_max,
            send_call_ns_max,
            cpu_ns,
        }
    }

    fn decode(self) -> ThreadStats {
        let Self {
            agent,
            thread,
            turns,
            stalled_turns,
            starved_turns,
            busy_ns,
            evaluate_ns,
            turn_ns_max,
            send_call_ns_max,
            cpu_ns,
        } = self;
        ThreadStats {
            agent,
            thread,
            turns,
            stalled_turns,
            starved_turns,
            busy_ns,
            evaluate_ns,
            turn_ns_max,
            send_call_ns_max,
            cpu_ns,
        }
    }
}

/// Whether a count of 0 is left out: only hold phases open connections late, and only sessions
/// evaluate responses.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it by reference")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Whether a thread's agent is left out: on a single host, and for the first of a fleet.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it by reference")]
const fn is_first(agent: &u16) -> bool {
    *agent == 0
}
