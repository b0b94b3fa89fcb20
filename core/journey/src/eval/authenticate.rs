//! Answers challenges: the part of a [`Session`] that sends credentials.

use super::render_context::RenderContext;
use crate::auth::{Challenge, ChallengeFault, Digest, next_nonce};
use crate::compiled::Credentials;
use crate::extract::ResponseView;
use crate::state::{Login, Session};

impl Session {
    /// Whether a request can be authenticated without a new challenge.
    pub(crate) fn has_login(&mut self, by: &Credentials) -> bool {
        self.login(by).is_some()
    }

    /// Writes the `Authorization` field of a request of `method` for `target`, if it is already
    /// known.
    pub(crate) fn write_authorization(
        &mut self,
        by: &Credentials,
        method: &str,
        target: &str,
        out: &mut Vec<u8>,
    ) {
        let Some(login) = self.login(by) else { return };
        out.extend_from_slice(b"Authorization: ");
        login.digest.answer(out, method, target);
        out.extend_from_slice(b"\r\n");
    }

    /// Records that a server accepted the credentials, and the nonce that it gives for the next
    /// request.
    pub(crate) fn confirm_accepted(&mut self, by: &Credentials, answer: &ResponseView<'_>) {
        if let Some(login) = self.login(by) {
            login.worked = true;
            if let Some(nonce) = answer.headers("authentication-info").find_map(next_nonce) {
                login.digest.renew(nonce);
            }
        }
    }

    fn login(&mut self, by: &Credentials) -> Option<&mut Login> {
        let session = self.identity.session;
        self.holds_mut()?.logins.find(by, session)
    }

    /// Handles a challenge by status 401. If it succeeds, the same request may be sent again with
    /// an answer.
    ///
    /// # Errors
    /// The challenge cannot be answered, or an answer was sent and none was ever accepted.
    pub(crate) fn take_challenge(
        &mut self,
        by: &Credentials,
        scene: &mut RenderContext<'_>,
        answer: &ResponseView<'_>,
    ) -> Result<(), ChallengeFault> {
        let challenge = Challenge::first(answer.headers("www-authenticate"))?;
        let known = self.login(by).is_some_and(|login| !std::mem::take(&mut login.worked));
        if known && !challenge.stale {
            return Err(ChallengeFault::Refused);
        }
        let [user, password] = [&by.user, &by.password].map(|words| scene.text(self, words));
        let (user, password) = (String::from_utf8_lossy(&user), String::from_utf8_lossy(&password));
        let random = [self.draw(scene.seed), self.draw(scene.seed)];
        let digest = Digest::new(challenge, &user, &password, random);
        let session = self.identity.session;
        self.data_mut().logins.put(by, session, digest);
        Ok(())
    }
}
