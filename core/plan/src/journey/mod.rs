//! What a virtual user does, with every name resolved: actions, templates, checks, where data come from.
//!
//! Plain values, as the plan holds and stores them. What carries them out lives in `core/journey`.

mod action;
mod busy;
mod check;
mod data;
mod longest;
mod requests;
mod template;
mod think;
mod walk;

pub use action::{Action, AuthPlan, Choice, Extract, OnFailure, Rendezvous};
pub use check::{Check, Operand, Quantity, Test, Tested};
pub use data::{DataPlan, RowChoice};
pub use template::{Escape, Expr, Hole, Piece, Template};
pub use think::Think;
