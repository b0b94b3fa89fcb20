//! [`Access`]: one-time tokens and the sessions that they open.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sessions at a time; a further one ends the oldest.
const SESSIONS_MAX: usize = 32;
/// Unused tokens at a time; a further one replaces the oldest.
const TOKENS_MAX: usize = 8;
/// Used tokens that are remembered, to say that a token was used.
const USED_MAX: usize = 64;
/// Random bytes of a token or session.
const SECRET_BYTES: usize = 24;

/// Tokens and sessions of one server.
#[derive(Debug, Default)]
pub(crate) struct Access(Mutex<Secrets>);

#[derive(Debug, Default)]
struct Secrets {
    unused: VecDeque<String>,
    used: VecDeque<String>,
    sessions: VecDeque<String>,
}

/// What a token opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenUse {
    /// A new session with this secret.
    Session(String),
    /// Nothing: it was used before.
    Used,
    /// Nothing: it is no token of this server.
    Unknown,
}

impl Access {
    /// Makes a token that opens one session.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub(crate) fn new_token(&self) -> Result<String, getrandom::Error> {
        let token = random_text()?;
        push(&mut self.lock().unused, token.clone(), TOKENS_MAX);
        Ok(token)
    }

    /// Exchanges a token for a session.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub(crate) fn use_token(&self, token: &str) -> Result<TokenUse, getrandom::Error> {
        let mut secrets = self.lock();
        let Some(at) = secrets.unused.iter().position(|own| is_equal(own, token)) else {
            let used = secrets.used.iter().any(|own| is_equal(own, token));
            return Ok(if used { TokenUse::Used } else { TokenUse::Unknown });
        };
        let session = random_text()?;
        let used = secrets.unused.remove(at).unwrap_or_default();
        push(&mut secrets.used, used, USED_MAX);
        push(&mut secrets.sessions, session.clone(), SESSIONS_MAX);
        Ok(TokenUse::Session(session))
    }

    /// Whether this is the secret of a session.
    pub(crate) fn is_session(&self, secret: &str) -> bool {
        self.lock().sessions.iter().any(|own| is_equal(own, secret))
    }

    fn lock(&self) -> MutexGuard<'_, Secrets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn push(list: &mut VecDeque<String>, value: String, max: usize) {
    if list.len() >= max {
        list.pop_front();
    }
    list.push_back(value);
}

/// Compares without a shortcut, so that the time shows nothing of the secret.
fn is_equal(own: &str, other: &str) -> bool {
    let differing = own.bytes().zip(other.bytes()).fold(0, |bits, (a, b)| bits | (a ^ b));
    own.len() == other.len() && differing == 0
}

fn random_text() -> Result<String, getrandom::Error> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes)?;
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    Ok(digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(access: &Access, token: &str) -> String {
        match access.use_token(token).expect("random bytes") {
            TokenUse::Session(secret) => secret,
            other => panic!("{token} opens {other:?}"),
        }
    }

    #[test]
    fn a_token_opens_one_session() {
        let access = Access::default();
        let token = access.new_token().expect("random bytes");
        assert_eq!(token.len(), SECRET_BYTES * 2);
        let secret = session(&access, &token);
        assert!(access.is_session(&secret) && secret != token);
        assert_eq!(access.use_token(&token), Ok(TokenUse::Used));
        for wrong in ["", "0", &token[1..], &secret] {
            assert_eq!(access.use_token(wrong), Ok(TokenUse::Unknown), "{wrong}");
            assert!(wrong == secret || !access.is_session(wrong), "{wrong}");
        }
    }

    #[test]
    fn tokens_and_sessions_are_bounded() {
        let access = Access::default();
        let tokens: Vec<_> = (0..=TOKENS_MAX).map(|_| access.new_token().expect("random bytes")).collect();
        assert_eq!(access.use_token(&tokens[0]), Ok(TokenUse::Unknown), "the oldest was replaced");
        let first = session(&access, &tokens[1]);
        for _ in 0..SESSIONS_MAX {
            let token = access.new_token().expect("random bytes");
            session(&access, &token);
        }
        assert!(!access.is_session(&first), "the oldest has ended");
        assert_eq!(access.0.lock().expect("no panic").sessions.len(), SESSIONS_MAX);
    }
}
