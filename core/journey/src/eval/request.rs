//! Writes the request of a [`CompiledStep`].

use super::render_context::RenderContext;
use super::render_error::RenderError;
use super::template::ExtraFields;
use crate::compiled::CompiledStep;
use crate::cookies::Site;
use crate::state::Session;

impl CompiledStep {
    /// Writes the request of `session` into `out`, which is empty. `Ok(false)` means that nothing
    /// was written, because the fixed bytes are to be sent.
    ///
    /// # Errors
    /// The missing part of the request, which must not be sent then.
    pub fn render(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        out: &mut Vec<u8>,
    ) -> Result<bool, RenderError> {
        session.take_follow_ups();
        session.forget_messages();
        session.forget_own_cookies();
        let has_cookies = self.keeps.cookies && session.data().is_some_and(|held| !held.jar.is_empty());
        let has_login = self.credentials.as_ref().is_some_and(|by| session.has_login(by));
        let has_more = has_cookies || has_login;
        if !has_more && self.as_fixed().is_some() {
            return Ok(false);
        }
        let now = scene.unix_seconds();
        let mut fields = |session: &mut Session, target: &str, out: &mut Vec<u8>| {
            if has_cookies {
                let own = self.shape.sets_cookies();
                session.add_cookies_to_head(own, &self.site(target), now, out);
            }
            self.push_authorization(session, (&self.method, target), out);
        };
        let more: &mut ExtraFields<'_> = &mut fields;
        self.shape.render(scene, session, has_more.then_some(more), out)?;
        Ok(true)
    }

    /// Writes the credentials for a request of this method and target to the step's own target.
    pub(super) fn push_authorization(
        &self,
        session: &mut Session,
        (method, target): (&str, &str),
        out: &mut Vec<u8>,
    ) {
        if let Some(credentials) = &self.credentials {
            session.write_authorization(credentials, method, target, out);
        }
    }

    /// Returns the site of a request of this step with this path and query.
    pub(super) fn site<'a>(&'a self, target: &'a str) -> Site<'a> {
        let path = target.split('?').next().unwrap_or("/");
        Site { host: &self.host, path, secure: self.secure }
    }
}
