//! The journey of a virtual user with every name resolved: actions, templates, checks, data
//! sources.
//!
//! Plain values, as the plan holds and stores them. The code that executes them is in
//! `core/journey`.

mod action;
mod busy_share;
mod bytes;
mod check;
mod data;
mod grpc;
mod max_duration;
mod requests;
mod table;
mod template;
mod think;
mod value;
mod walk;

pub use action::{Action, AuthPlan, Choice, Extract, OnFailure, Rendezvous};
pub use check::{Check, CheckSubject, Operand, Quantity, Test};
pub use data::{DataPlan, RowChoice};
pub use grpc::{DescriptorSet, GrpcPlan};
pub use table::{Table, TableBuilder};
pub use template::{Escape, Expr, Hole, Template, TemplatePart};
pub use think::Think;
pub use value::{JsonType, ValueRef};
