//! The record's sentences in another language.
//!
//! Findings, reasons and notes are stored as English sentences with their numbers inside. A phrase
//! has a pattern with placeholders for the values of a run, and the same sentence in Chinese. A
//! sentence without a phrase is shown as it is stored, marked as English, so a missing phrase loses
//! nothing.
//!
//! The phrases are files of pairs of lines (`words/*.txt`), because they are read and edited as
//! prose. A test of the program checks that each of [`wavetank_units::SENTENCES`] has one.

mod catalog;
mod phrase;
mod value;

pub(crate) use catalog::{Piece, translate};
