//! [`CompiledStep`]: everything that one step needs: its request, and the checks and extractions
//! for its response.

mod compile;
mod cookie_field;
mod embedded;
mod follow_up_sink;
mod follow_ups;
mod judge;
mod referrer;
mod rewrite;

use std::sync::Arc;

use wavetank_plan::{Nanos, StatusSet};

use crate::auth::Credentials;
use crate::compiled_check::CompiledCheck;
use crate::cookies::{CookieOutcome, Site};
use crate::extract::{ExtractError, Extractor};
use crate::follow_up_error::FollowUpError;
use crate::render_context::{RenderContext, RenderError};
use crate::request_template::{ExtraFields, RequestTemplate};
use crate::session::Session;
use crate::target_matcher::TargetMatcher;
use crate::value::Values;
pub(crate) use embedded::PageCache;
pub use embedded::{RESOURCE_BYTES_MAX, RESOURCES_MAX};
pub use follow_up_sink::FollowUpSink;
pub(crate) use follow_ups::FollowUpState;
pub(crate) use rewrite::target_of;

/// A compiled step. Each load thread has its own clone.
#[derive(Clone, Debug)]
pub struct CompiledStep {
    /// The name in reports.
    pub name: String,
    /// Index into the plan's targets.
    pub target: u16,
    /// From *begun* to *complete*.
    pub timeout: Nanos,
    /// Whether the response has no body.
    pub head: bool,
    /// Whether the request may be sent again on another connection (RFC 9110 §9.2.2).
    pub idempotent: bool,
    /// The method and the target's host, for answers to challenges and for cookies.
    method: String,
    host: String,
    secure: bool,
    shape: RequestTemplate,
    /// The credentials for a challenge.
    credentials: Option<Credentials>,
    /// Set if a request may need more than one message.
    afield: Option<Box<FollowUpConfig>>,
    expect: StatusSet,
    extract: Vec<CompiledExtract>,
    checks: Vec<CompiledCheck>,
    counts: Vec<(u16, CompiledCheck)>,
    keeps: Retain,
}

/// The parts of a response that must be kept until it is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent")]
pub struct Retain {
    /// The fields of its head.
    pub fields: bool,
    /// Its body.
    pub body: bool,
    /// Its body, if it is a page.
    pub page: bool,
    /// Its fields, if it sets cookies.
    pub cookies: bool,
}

impl Retain {
    /// Whether any part is kept.
    pub const fn any(self) -> bool {
        self.fields || self.body || self.page || self.cookies
    }
}

#[derive(Clone, Debug)]
struct CompiledExtract {
    variable: u16,
    extractor: Extractor,
    all: bool,
}

/// One result of evaluating a response, passed to [`watch`](FollowUpSink::watch).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Observation<'a> {
    /// The response sets a cookie, which was kept or not.
    Cookie(&'a [u8], CookieOutcome),
    /// An extraction, by its index in the step, and its result.
    Extract(u16, Result<&'a Values, ExtractError>),
    /// A check, by its index in the step: `None` if it passed, else the actual value.
    Check(u16, Option<&'a str>),
    /// A count, by its index in the plan: whether this response is counted.
    Count(u16, bool),
}

/// The settings for further messages of a request.
#[derive(Clone, Debug)]
struct FollowUpConfig {
    places: TargetMatcher,
    /// Maximum number of redirects to follow.
    follow: u8,
    /// Whether embedded resources are fetched.
    resources: bool,
    /// Statuses that embedded resources may have.
    expect_resource: StatusSet,
    /// Names of headers (lower case) that stay with their origin.
    secrets: Vec<String>,
}

/// The reason why a response is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The status is unexpected.
    Status,
    /// A check failed: its index in the step, and the actual value.
    Check(u16, String),
    /// A value could not be extracted: its index in the step, and the reason.
    Extract(u16, ExtractError),
    /// The final response was not reached, or not all of it.
    Stray(FollowUpError),
}

impl CompiledStep {
    /// Returns the fixed bytes, if no session changes them.
    pub fn as_fixed(&self) -> Option<&Arc<[u8]>> {
        self.shape.as_fixed().filter(|_| self.credentials.is_none())
    }

    /// The parts of the response that must be kept.
    pub const fn retention(&self) -> Retain {
        self.keeps
    }

    /// The texts of the step's checks, in order.
    pub fn checks(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().map(CompiledCheck::text)
    }

    /// Whether an extraction sets variable `slot`.
    pub(crate) fn extracts(&self, slot: u16) -> bool {
        self.extract.iter().any(|taken| taken.variable == slot)
    }

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
    fn push_authorization(&self, session: &mut Session, (method, target): (&str, &str), out: &mut Vec<u8>) {
        if let Some(credentials) = &self.credentials {
            session.write_authorization(credentials, method, target, out);
        }
    }

    /// Returns the site of a request of this step with this path and query.
    fn site<'a>(&'a self, target: &'a str) -> Site<'a> {
        let path = target.split('?').next().unwrap_or("/");
        Site { host: &self.host, path, secure: self.secure }
    }
}
