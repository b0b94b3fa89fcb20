//! The token of a server, from the environment or a file: never from a command line, which other
//! users can read.

use std::path::Path;

use wavetank_netbench::Token;
use wavetank_units::{Code, UserError};

use crate::commands::bounded_file::read_bounded;

/// Environment variable with the token.
const VARIABLE: &str = "WAVETANK_NET_TOKEN";

/// Returns the token in `file` or in the environment; `None` without either.
///
/// # Errors
/// A file that cannot be read, or a text that is no token.
pub(super) fn given_token(file: Option<&Path>) -> Result<Option<Token>, UserError> {
    let (text, place) = match file {
        Some(path) => {
            let bytes = read_bounded(path).map_err(|reason| {
                let message = format!("--token-file {}: {reason}", path.display());
                UserError::usage(
                    Code::BadFile,
                    message,
                    "name a file with the token that `wavetank net serve` printed",
                )
            })?;
            (String::from_utf8_lossy(&bytes).into_owned(), format!("--token-file {}", path.display()))
        }
        None => match std::env::var(VARIABLE) {
            Ok(text) => (text, VARIABLE.to_owned()),
            Err(_) => return Ok(None),
        },
    };
    Token::new(&text).map(Some).ok_or_else(|| {
        let message = format!("{place} has no token: a token has 16 to 256 characters without blanks");
        UserError::usage(Code::BadToken, message, "use the token that `wavetank net serve` prints")
    })
}

/// Returns the token of the servers to measure.
///
/// # Errors
/// There is none.
pub(super) fn required_token(file: Option<&Path>) -> Result<Token, UserError> {
    given_token(file)?.ok_or_else(|| {
        UserError::usage(
            Code::NetNoToken,
            "there is no token, and `wavetank net serve` answers only to its own",
            format!("set {VARIABLE} to what `wavetank net serve` printed, or use --token-file FILE"),
        )
    })
}
