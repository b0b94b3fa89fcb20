//! Shell scripts and rule files: lines with commands that change a host.

mod lint;
mod rules;

pub(crate) use lint::lint;
