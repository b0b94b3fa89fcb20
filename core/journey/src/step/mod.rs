//! [`CompiledStep`]: all that is done for one step: its request, and what is asked of the answer.

mod compile;
mod embedded;
mod follow_ups;
mod judge;
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
pub use follow_ups::FollowUpSink;
pub(crate) use follow_ups::FollowUpState;
pub(crate) use rewrite::target_of;

/// A step, compiled. Cloned once a load thread.
#[derive(Clone, Debug)]
pub struct CompiledStep {
    /// As in reports.
    pub name: String,
    /// Index into the plan's targets.
    pub target: u16,
    /// From *begun* to *complete*.
    pub timeout: Nanos,
    /// The answer has no body.
    pub head: bool,
    /// May be sent again on another connection (RFC 9110 §9.2.2).
    pub idempotent: bool,
    /// The method and the target's host, for answers to challenges and for cookies.
    method: String,
    host: String,
    secure: bool,
    shape: RequestTemplate,
    /// Who it says it is from when it is asked.
    credentials: Option<Credentials>,
    /// Where more than one message may go out for a request.
    afield: Option<Box<FollowUpConfig>>,
    expect: StatusSet,
    extract: Vec<CompiledExtract>,
    checks: Vec<CompiledCheck>,
    counts: Vec<(u16, CompiledCheck)>,
    keeps: Retain,
}

/// What of an answer must be kept until it is whole.
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
    /// Whether anything is.
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
    /// The answer sets a cookie, which was kept or not.
    Cookie(&'a [u8], CookieOutcome),
    /// An extraction, by its place among the step's, and what it found.
    Extract(u16, Result<&'a Values, ExtractError>),
    /// A check, by its place among the step's: `None` if it holds, else what stood there instead.
    Check(u16, Option<&'a str>),
    /// A count, by its index in the plan: whether this answer is counted.
    Count(u16, bool),
}

/// What is needed to send something more for a request.
#[derive(Clone, Debug)]
struct FollowUpConfig {
    places: TargetMatcher,
    /// Redirects followed at most.
    follow: u8,
    /// What a page embeds is fetched.
    resources: bool,
    /// Statuses that embedded resources may have.
    expect_resource: StatusSet,
    /// Names of headers (lower case) that stay with their origin.
    secrets: Vec<String>,
    /// Number of `Cookie` fields that the step itself sets.
    own_cookies: usize,
}

/// Why an answer is not what was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// Its status.
    Status,
    /// A check failed: its index in the step, and the actual value.
    Check(u16, String),
    /// Something was to be extracted and was not there: its place among the step's, and why.
    Extract(u16, ExtractError),
    /// It was not reached, or not all of it.
    Stray(FollowUpError),
}

impl CompiledStep {
    /// The bytes that are always sent, where no session changes them.
    pub fn as_fixed(&self) -> Option<&Arc<[u8]>> {
        self.shape.as_fixed().filter(|_| self.credentials.is_none())
    }

    /// What of the answer must be kept.
    pub const fn retention(&self) -> Retain {
        self.keeps
    }

    /// The texts of the step's checks, in order.
    pub fn checks(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().map(CompiledCheck::text)
    }

    /// Whether an extraction goes into variable `slot`.
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
        let has_cookies = self.keeps.cookies && session.data().is_some_and(|held| !held.jar.is_empty());
        let has_login = self.credentials.as_ref().is_some_and(|by| session.has_login(by));
        let has_more = has_cookies || has_login;
        if !has_more && self.as_fixed().is_some() {
            return Ok(false);
        }
        let now = scene.unix_seconds();
        let mut fields = |session: &mut Session, target: &str, out: &mut Vec<u8>| {
            self.push_fields(session, now, &self.site(target), (&self.method, target), true, out);
        };
        let more: &mut ExtraFields<'_> = &mut fields;
        self.shape.render(scene, session, has_more.then_some(more), out)?;
        Ok(true)
    }

    /// Writes the fields in addition to the request's own: the cookies for `site`, and the
    /// credentials for a request of this method and target if it goes `home`, to the step's own
    /// target.
    fn push_fields(
        &self,
        session: &mut Session,
        now: i64,
        site: &Site<'_>,
        (method, target): (&str, &str),
        home: bool,
        out: &mut Vec<u8>,
    ) {
        if self.keeps.cookies
            && let Some(held) = session.data()
            && !held.jar.is_empty()
        {
            let start = out.len();
            out.extend_from_slice(b"Cookie: ");
            if held.jar.render(site, now, out) {
                out.extend_from_slice(b"\r\n");
            } else {
                out.truncate(start);
            }
        }
        if home && let Some(credentials) = &self.credentials {
            session.write_authorization(credentials, method, target, out);
        }
    }

    /// Where a request of this step goes with this path and query.
    fn site<'a>(&'a self, target: &'a str) -> Site<'a> {
        let path = target.split('?').next().unwrap_or("/");
        Site { host: &self.host, path, secure: self.secure }
    }
}
