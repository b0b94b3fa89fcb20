//! The record's sentences in another language.
//!
//! Findings, reasons and notes are stored as English sentences with their numbers inside. A phrase book says each again: a
//! pattern with holes for what a run fills in, and the same in Chinese. A sentence that has none stays as it is stored,
//! and is marked as English, so that nothing is lost by a phrase that nobody has written yet. The book is files of pairs of
//! lines (`words/*.txt`), because it is read and mended as prose; a test holds it against the sources that make the sentences.

mod catalog;
mod phrase;
mod value;

pub(crate) use catalog::{Piece, translate};
