//! Which driver runs the sockets, and why.

use wavetank_units::{Code, UserError};

use crate::{EngineChoice, SocketSupport, Unsupported};

/// A choice that is one: never [`EngineChoice::Auto`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// The driver.
    pub choice: EngineChoice,
    /// Why the best engine is not used, if that was not requested.
    pub why: Option<Unsupported>,
}

/// Chooses io\_uring where it is available, otherwise epoll. Refuses (exit 5) a requested engine
/// that is not available.
pub fn choose(asked: EngineChoice, sockets: &SocketSupport) -> Result<Engine, UserError> {
    match (asked, &sockets.uring) {
        (EngineChoice::Epoll, _) => Ok(Engine { choice: EngineChoice::Epoll, why: None }),
        (_, Ok(())) => Ok(Engine { choice: EngineChoice::Uring, why: None }),
        (EngineChoice::Auto, Err(missing)) => {
            Ok(Engine { choice: EngineChoice::Epoll, why: Some(missing.clone()) })
        }
        (EngineChoice::Uring, Err(Unsupported { cause, cure })) => Err(UserError::refused(
            Code::NoUring,
            format!("--engine uring is not available here: {cause}"),
            format!("{cure}; or --engine epoll"),
        )),
    }
}
