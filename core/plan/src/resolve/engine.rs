//! Which driver runs the sockets, and why.

use crate::{EngineChoice, SocketSupport, Unsupported, UserError};

/// A choice that is one: never [`EngineChoice::Auto`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// The driver.
    pub choice: EngineChoice,
    /// Why it is not the best there is, if it is not and nobody asked for that.
    pub why: Option<Unsupported>,
}

/// io\_uring where it can be had, else epoll. Refuses (exit 5) what was asked for and cannot be had.
pub fn choose(asked: EngineChoice, sockets: &SocketSupport) -> Result<Engine, UserError> {
    match (asked, &sockets.uring) {
        (EngineChoice::Epoll, _) => Ok(Engine { choice: EngineChoice::Epoll, why: None }),
        (_, Ok(())) => Ok(Engine { choice: EngineChoice::Uring, why: None }),
        (EngineChoice::Auto, Err(missing)) => {
            Ok(Engine { choice: EngineChoice::Epoll, why: Some(missing.clone()) })
        }
        (EngineChoice::Uring, Err(Unsupported { cause, cure })) => Err(UserError::refused(
            "no_uring",
            format!("--engine uring cannot be had here: {cause}"),
            format!("{cure}; or --engine epoll"),
        )),
    }
}
