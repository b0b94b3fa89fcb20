//! [`Command`]: any program.

use serde::{Deserialize, Serialize};

/// A program that stays in the foreground.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Program and arguments; never empty. A text in the file becomes `/bin/sh -c TEXT`; a list is
    /// used as it is.
    pub words: Vec<String>,
    /// Environment variables, in addition to those that every service has.
    pub environment: Vec<(String, String)>,
}
