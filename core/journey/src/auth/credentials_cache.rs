//! [`CredentialsCache`]: the answers to challenges that one user keeps.

use wavetank_plan::{AuthPlan, Expr, Plan, Step, Template};

use super::challenge::{Challenge, ChallengeFault, next_nonce};
use super::digest::Digest;
use crate::extract::ResponseView;
use crate::render_context::RenderContext;
use crate::session::Session;

/// The name and password with which a step answers a challenge.
#[derive(Clone, Debug)]
pub(crate) struct Credentials {
    /// The first step with the same credentials for the same target, and the target. All such steps
    /// share this key.
    key: (usize, usize),
    user: Template,
    password: Template,
    /// Whether the credentials differ between sessions.
    varies: bool,
}

impl Credentials {
    /// Returns the credentials of `step` if it sends them only after a challenge.
    pub(crate) fn for_step(step: &Step, plan: &Plan) -> Option<Self> {
        let Some(AuthPlan::Digest(user, password)) = &step.auth else { return None };
        let around = [&plan.around.before, &plan.around.after].into_iter().flatten().map(AsRef::as_ref);
        let mut all = plan.scenarios.iter().chain(around).flat_map(|scenario| &scenario.steps);
        let first = all.position(|other| other.auth == step.auth);
        let varies = |template: &Template| {
            template.holes().any(|hole| !matches!(hole.value, Expr::Secret { .. } | Expr::Text(_)))
        };
        let varies = varies(user) || varies(password);
        let key = (first.unwrap_or(usize::MAX), step.target);
        Some(Self { key, user: user.clone(), password: password.clone(), varies })
    }
}

/// A user's answers to challenges, one for each key. There are at most as many as the plan has
/// steps.
#[derive(Debug, Default)]
pub(crate) struct CredentialsCache(Vec<Login>);

#[derive(Debug)]
struct Login {
    key: (usize, usize),
    /// The number of the session that created it.
    session: u64,
    /// Whether a request was accepted with it.
    worked: bool,
    digest: Digest,
}

impl CredentialsCache {
    fn find(&mut self, by: &Credentials, session: u64) -> Option<&mut Login> {
        let fits = |login: &&mut Login| login.key == by.key && !(by.varies && login.session != session);
        self.0.iter_mut().find(fits)
    }

    fn put(&mut self, by: &Credentials, session: u64, digest: Digest) {
        self.0.retain(|login| login.key != by.key);
        self.0.push(Login { key: by.key, session, worked: false, digest });
    }
}

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
