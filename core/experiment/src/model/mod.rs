//! The parsed form: what the file says, names still names, places kept where later stages have something to say.
//!
//! `None` and empty mean *not given*; defaults are for whoever makes a plan of it.

mod check;
mod data;
mod experiment;
mod http;
mod phase;
mod request;
mod scenario;
mod step;
mod target;
mod template;
mod value;

pub use check::{Check, CheckOp, Expected, From, Operand, Tested};
pub use data::{DataContent, DataFile, DataSource, RowUse};
pub use experiment::{Block, Event, Experiment, Sources, Variable};
pub use http::{Auth, Header, Http, Proxy, TlsChoice};
pub use phase::{Phase, PhaseLoad, Sessions, Span, Spike, StairHeight, Stairs};
pub use request::{Body, Extraction, NamedCheck, PartContent, Request, RequestHead};
pub use scenario::{Connection, OnFailure, Scenario};
pub use step::{Choice, EachList, EndOf, Step, Think, Verb};
pub use target::{Pick, Target, TargetAddress};
pub use template::{Function, Part, Template};
pub use value::Value;
