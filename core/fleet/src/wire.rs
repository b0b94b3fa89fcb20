//! Messages and journal records as JSON, one per line.
//!
//! A line is an object with the version `v` of the format. A link sends lines without the newline,
//! or with it over a stream. Controller and agents of a run have the same version of the program.
//! Only a greeting and its denial are read across versions, so that a version can be refused by
//! name: their keys never change their meaning, and unknown keys are ignored.
//!
//! Reading never panics, whatever the bytes are, and returns only values with which the machines
//! can compute.

use std::borrow::Cow;
use std::sync::Arc;
use std::{fmt, io};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::journal::JournalRecord;
use crate::message::{AgentMessage, AgentPayload, ControllerMessage, ControllerPayload, Done, RunId};
use crate::wire_values::INTERVAL_MAX;

/// Version of the format that this program writes.
pub const WIRE_VERSION: u32 = 1;

/// Why a line could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireError {
    /// It has another version of the format.
    Version {
        /// That version.
        found: u32,
    },
    /// It is damaged. The text names the place.
    Damaged(String),
}

/// An agent's message with the data that a link attaches to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFrame {
    /// The message.
    pub message: AgentMessage,
    /// A line of the spool, for [`AgentPayload::Sealed`]: a JSON object, byte by byte as stored.
    pub interval: Option<String>,
}

/// A controller's message with the data that a link attaches to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerFrame {
    /// The message.
    pub message: ControllerMessage,
    /// The text of the plan, for an offer, if the link has no other way for it. It is shared, so
    /// that offers to many agents hold it once.
    pub plan: Option<Arc<str>>,
}

#[derive(Serialize, Deserialize)]
struct ControllerLine<P, T> {
    v: u32,
    run: RunId,
    epoch: u64,
    order: P,
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    plan: Option<T>,
}

/// The text of a plan, which is part of the line unless it has escapes.
#[derive(Deserialize)]
struct PlanText<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Serialize, Deserialize)]
struct AgentLine<P, I> {
    v: u32,
    run: RunId,
    epoch: u64,
    report: P,
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    interval: Option<I>,
}

#[derive(Serialize, Deserialize)]
struct JournalLine<R> {
    v: u32,
    record: R,
}

#[derive(Deserialize)]
struct Peek {
    v: u32,
}

const fn none<T>() -> Option<T> {
    None
}

/// A controller's message as a line.
pub fn encode_controller(message: &ControllerMessage, plan: Option<&str>) -> String {
    let ControllerMessage { run, epoch, order } = message;
    to_line(&ControllerLine { v: WIRE_VERSION, run: *run, epoch: *epoch, order, plan })
}

/// Writes a controller's message as a line, with its newline. The plan is written piece by piece
/// and never copied as a whole.
///
/// # Errors
/// If the bytes cannot be written.
pub fn write_controller(
    message: &ControllerMessage,
    plan: Option<&str>,
    out: &mut impl io::Write,
) -> io::Result<()> {
    let ControllerMessage { run, epoch, order } = message;
    let line = ControllerLine { v: WIRE_VERSION, run: *run, epoch: *epoch, order, plan };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}

/// Reads a controller's message.
///
/// # Errors
/// If the bytes are not a whole line of this version. A denial is read in any version.
pub fn decode_controller(line: &[u8]) -> Result<ControllerFrame, WireError> {
    let found = version(line)?;
    let read: ControllerLine<ControllerPayload, PlanText<'_>> = from_line(line, found)?;
    let ControllerLine { run, epoch, order, plan, .. } = read;
    let plan = plan.map(|PlanText(text)| Arc::from(text));
    if found != WIRE_VERSION && !matches!(order, ControllerPayload::Denied { .. }) {
        return Err(WireError::Version { found });
    }
    match order {
        ControllerPayload::Lease { seen } => check_interval(seen)?,
        ControllerPayload::Command { seq, .. } => check_interval(seq)?,
        _ => {}
    }
    Ok(ControllerFrame { message: ControllerMessage { run, epoch, order }, plan })
}

/// An agent's message as a line.
///
/// # Errors
/// If the attached data is not JSON.
pub fn encode_agent(message: &AgentMessage, interval: Option<&str>) -> Result<String, WireError> {
    let AgentMessage { run, epoch, report } = message;
    let interval = interval.map(serde_json::from_str::<&RawValue>).transpose().map_err(|e| damaged(&e))?;
    Ok(to_line(&AgentLine { v: WIRE_VERSION, run: *run, epoch: *epoch, report, interval }))
}

/// Reads an agent's message.
///
/// # Errors
/// If the bytes are not a whole line of this version. A greeting is read in any version.
pub fn decode_agent(line: &[u8]) -> Result<AgentFrame, WireError> {
    let found = version(line)?;
    let read: AgentLine<AgentPayload, Box<RawValue>> = from_line(line, found)?;
    let AgentLine { run, epoch, report, interval, .. } = read;
    if found != WIRE_VERSION && !matches!(report, AgentPayload::Hello(_)) {
        return Err(WireError::Version { found });
    }
    match report {
        AgentPayload::Sealed { seq }
        | AgentPayload::Unstored { seq }
        | AgentPayload::Done(Done { intervals: seq, .. }) => check_interval(seq)?,
        _ => {}
    }
    let interval = interval.map(|interval| interval.get().to_owned());
    Ok(AgentFrame { message: AgentMessage { run, epoch, report }, interval })
}

/// A journal record as a line, without its newline.
pub fn encode_record(record: &JournalRecord) -> String {
    to_line(&JournalLine { v: WIRE_VERSION, record })
}

/// Reads a journal record, without its newline. A last line without one is damaged: the controller
/// ended while it was written, and has not acted on it.
///
/// # Errors
/// If the bytes are not a whole line of this version.
pub fn decode_record(line: &[u8]) -> Result<JournalRecord, WireError> {
    let found = version(line)?;
    let read: JournalLine<JournalRecord> = from_line(line, found)?;
    if found != WIRE_VERSION {
        return Err(WireError::Version { found });
    }
    if let JournalRecord::Ended { done, .. } = &read.record {
        check_interval(done.intervals)?;
    }
    Ok(read.record)
}

fn to_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data with string keys always encodes")
}

fn version(line: &[u8]) -> Result<u32, WireError> {
    serde_json::from_slice::<Peek>(line).map(|peek| peek.v).map_err(|error| damaged(&error))
}

/// What a line has, read as this version. An error in another version is that version's.
fn from_line<'a, T: Deserialize<'a>>(line: &'a [u8], found: u32) -> Result<T, WireError> {
    serde_json::from_slice(line).map_err(|error| match found {
        WIRE_VERSION => damaged(&error),
        found => WireError::Version { found },
    })
}

fn check_interval(seq: u64) -> Result<(), WireError> {
    if seq <= INTERVAL_MAX {
        Ok(())
    } else {
        Err(WireError::Damaged(format!("number {seq} is beyond any run")))
    }
}

fn damaged(error: &serde_json::Error) -> WireError {
    WireError::Damaged(error.to_string())
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { found } => {
                write!(f, "the format of the message has version {found}, not {WIRE_VERSION}")
            }
            Self::Damaged(text) => write!(f, "the message is damaged: {text}"),
        }
    }
}

impl std::error::Error for WireError {}
