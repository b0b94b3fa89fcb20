//! The parsed form: the content of the file with its names, and positions for later stages.
//!
//! `None` and empty mean *not given*; lowering to a plan adds the defaults.

mod check;
mod data;
mod experiment;
mod grpc;
mod http;
mod message;
mod on_failure;
mod phase;
mod request;
mod scenario;
mod step;
mod target;
mod template;
mod value;

pub use check::{Alternative, AnswerSource, Check, CheckOp, CheckSubject, Operand};
pub use data::{DataContent, DataFile, DataSource, RowOrder};
pub use experiment::{Block, Event, Experiment, Sources, Variable};
pub use grpc::Grpc;
pub use http::{Auth, Header, Http, Proxy, TlsSettings};
pub use message::{AwaitedReply, Message, WebSocket};
pub use on_failure::OnFailure;
pub use phase::{FromTo, Phase, PhaseLoad, Sessions, Spike, StairHeight, Staircase, Trace};
pub use request::{Body, Extraction, NamedCheck, PartContent, Request, RequestHead, SoapCall, SoapVersion};
pub use scenario::{Connection, Scenario};
pub use step::{Choice, EndScope, ForEachItems, Step, Think, Verb};
pub use target::{Pick, Target, TargetAddress};
pub use template::{Function, Part, Template};
pub use value::Value;
