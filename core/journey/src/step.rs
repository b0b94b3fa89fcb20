//! [`StepWork`]: all that is done for one step: its request, and what is asked of the answer.

use std::sync::Arc;

use wavetank_plan::{AuthPlan, Nanos, Plan, StatusSet, Step, Template, UserError};

use crate::asked::Asked;
use crate::auth::{Challenge, Digest};
use crate::cookies::{CookieFate, Site};
use crate::extract::{Answer, Extractor, Miss};
use crate::scene::{Lacking, Scene};
use crate::session::Session;
use crate::shape::Shape;
use crate::value::Finds;

/// Matches that an extraction of all takes at most.
const LIST_MAX: usize = 10_000;
/// Bytes of what stood in the place of what was wanted, told with a failure.
const TOLD_BYTES_MAX: usize = 100;

/// A step, compiled. Cloned once a load thread.
#[derive(Clone, Debug)]
pub struct StepWork {
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
    shape: Shape,
    digest: Option<(Template, Template)>,
    expect: StatusSet,
    extract: Vec<Taken>,
    checks: Vec<Asked>,
    counts: Vec<(u16, Asked)>,
    keeps: Keeps,
}

/// What of an answer must be kept until it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keeps {
    /// The fields of its head.
    pub fields: bool,
    /// Its body.
    pub body: bool,
    /// Its fields, if it sets cookies.
    pub cookies: bool,
}

#[derive(Clone, Debug)]
struct Taken {
    variable: u16,
    extractor: Extractor,
    all: bool,
}

/// What is found where a step looks at its answer, told one by one to whoever [watches](StepWork::take_watched).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look<'a> {
    /// The answer sets a cookie, which was kept or not.
    Cookie(&'a [u8], CookieFate),
    /// An extraction, by its place among the step's, and what it found.
    Extract(u16, Result<&'a Finds, Miss>),
    /// A check, by its place among the step's: `None` if it holds, else what stood there instead.
    Check(u16, Option<&'a str>),
    /// A count, by its index in the plan: whether this answer is counted.
    Count(u16, bool),
}

/// Why an answer is not what was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unwanted {
    /// Its status.
    Status,
    /// A check: its place among the step's, its words, and what stood there instead.
    Check(u16, String),
    /// Something was to be extracted and was not there: its place among the step's, and why.
    Extract(u16, Miss),
}

impl StepWork {
    /// Compile `step` of a scenario whose users keep cookies, or not.
    ///
    /// # Errors
    /// Where a path, selector or expression is none.
    pub fn new(step: &Step, plan: &Plan, cookies: bool) -> Result<Self, UserError> {
        let taken = |extract: &wavetank_plan::Extract| {
            let extractor = Extractor::parse(&extract.from)?;
            Ok::<_, UserError>(Taken { variable: extract.variable, extractor, all: extract.all })
        };
        let extract: Vec<_> = step.extract.iter().map(taken).collect::<Result<_, _>>()?;
        let checks: Vec<_> = step.checks.iter().map(Asked::new).collect::<Result<_, _>>()?;
        let counts: Vec<_> = step
            .counts
            .iter()
            .map(|(count, check)| Ok::<_, UserError>((*count, Asked::new(check)?)))
            .collect::<Result<_, _>>()?;
        let digest = match &step.auth {
            Some(AuthPlan::Digest(user, password)) => Some((user.clone(), password.clone())),
            _ => None,
        };
        let asked = || checks.iter().chain(counts.iter().map(|(_, asked)| asked));
        let looks = !extract.is_empty() || !checks.is_empty() || !counts.is_empty();
        let keeps_body =
            extract.iter().any(|taken| taken.extractor.needs_body()) || asked().any(Asked::needs_body);
        let target = &plan.targets[step.target];
        let host = target.host.rsplit_once(':').map_or(target.host.as_str(), |(host, _)| host);
        // A check of the status says what is wanted, and the default does not.
        let status_checked = checks.iter().any(Asked::is_of_status);
        let any_status = || StatusSet(vec![(100, 999)]);
        let method = step.request.method.clone();
        Ok(Self {
            name: step.name.clone(),
            target: u16::try_from(step.target).expect("the plan limits targets"),
            timeout: step.timeout.unwrap_or(plan.http.timeout),
            head: method == "HEAD",
            idempotent: matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE"),
            host: host.to_ascii_lowercase(),
            secure: target.server_name.is_some(),
            shape: Shape::new(step, plan),
            expect: if status_checked {
                any_status()
            } else {
                step.expect.clone().unwrap_or_else(|| plan.http.expect.clone())
            },
            keeps: Keeps { fields: looks || digest.is_some(), body: keeps_body, cookies },
            method,
            digest,
            extract,
            checks,
            counts,
        })
    }

    /// The bytes that are always sent, where no session changes them.
    pub fn as_fixed(&self) -> Option<&Arc<[u8]>> {
        self.shape.as_fixed().filter(|_| self.digest.is_none())
    }

    /// What of the answer must be kept.
    pub const fn keeps(&self) -> Keeps {
        self.keeps
    }

    /// The words of the step's checks, in order.
    pub fn checks(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().map(Asked::text)
    }

    /// Write the request of `session` into `out`, which is empty. `Ok(false)`: nothing was written, because the fixed
    /// bytes are what is to be sent.
    pub fn render(
        &self,
        scene: &mut Scene<'_>,
        session: &mut Session,
        out: &mut Vec<u8>,
    ) -> Result<bool, Lacking> {
        let mut fields = Vec::new();
        if let Some(held) = session.holds()
            && self.keeps.cookies
            && !held.jar.is_empty()
        {
            let now = (scene.wall_ms / 1_000).cast_signed();
            fields.extend_from_slice(b"Cookie: ");
            if held.jar.render(&self.site(), now, &mut fields) {
                fields.extend_from_slice(b"\r\n");
            } else {
                fields.clear();
            }
        }
        if self.digest.is_some()
            && let Some(digest) = session.digest_mut()
        {
            fields.extend_from_slice(b"Authorization: ");
            digest.answer(&mut fields, &self.method, self.shape.fixed_target().unwrap_or("/"));
            fields.extend_from_slice(b"\r\n");
        }
        if fields.is_empty() && self.as_fixed().is_some() {
            return Ok(false);
        }
        self.shape.render(scene, session, &fields, out)?;
        Ok(true)
    }

    fn site(&self) -> Site<'_> {
        let target = self.shape.fixed_target().unwrap_or("/");
        let path = target.split('?').next().unwrap_or("/");
        Site { host: &self.host, path, secure: self.secure }
    }

    /// A server wants to know who asks: whether the same request may be sent once more with an answer to that.
    pub fn challenged(&self, scene: &mut Scene<'_>, session: &mut Session, answer: &Answer<'_>) -> bool {
        let Some((user, password)) = &self.digest else { return false };
        if answer.status != 401 {
            return false;
        }
        let mut challenges = answer.headers("www-authenticate");
        let Some(challenge) = challenges.find_map(|header| Challenge::parse(header).ok()) else {
            return false;
        };
        if session.holds().is_some_and(|held| held.digest.is_some()) && !challenge.stale {
            return false;
        }
        let [user, password] = [user, password].map(|words| scene.text(session, words));
        let (user, password) = (String::from_utf8_lossy(&user), String::from_utf8_lossy(&password));
        let random = [session.draw(scene.seed), session.draw(scene.seed)];
        let digest = Digest::new(challenge, &user, &password, random);
        session.held().digest = Some(Box::new(digest));
        true
    }

    /// Whether an extraction goes into variable `slot`.
    pub(crate) fn extracts(&self, slot: u16) -> bool {
        self.extract.iter().any(|taken| taken.variable == slot)
    }

    /// Take in an answer: cookies, values, checks, counts. `counted` gets the index of everything that is counted.
    ///
    /// # Errors
    /// Where the answer is not what was wanted; all that could be taken from it was taken.
    pub fn take(
        &self,
        scene: &mut Scene<'_>,
        session: &mut Session,
        answer: &Answer<'_>,
        counted: &mut Vec<u16>,
    ) -> Result<(), Unwanted> {
        self.take_watched(scene, session, answer, counted, &mut |_| ())
    }

    /// The same, and `watch` is told everything that is found.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn take_watched(
        &self,
        scene: &mut Scene<'_>,
        session: &mut Session,
        answer: &Answer<'_>,
        counted: &mut Vec<u16>,
        watch: &mut impl FnMut(Look<'_>),
    ) -> Result<(), Unwanted> {
        scene.reading.clear();
        if self.keeps.cookies {
            let now = (scene.wall_ms / 1_000).cast_signed();
            for header in answer.headers("set-cookie") {
                // What is ignored is ignored as a browser would.
                watch(Look::Cookie(header, session.held().jar.take(header, &self.site(), now)));
            }
        }
        let mut unwanted = None;
        if !self.expect.contains(answer.status) {
            unwanted = Some(Unwanted::Status);
        }
        for (place, taken) in (0_u16..).zip(&self.extract) {
            let mut value = std::mem::take(session.variable_mut(taken.variable));
            value.clear();
            let most = if taken.all { LIST_MAX } else { 1 };
            let found = taken.extractor.find(answer, most, scene.reading, &mut value);
            watch(Look::Extract(place, found.map(|_| &value)));
            *session.variable_mut(taken.variable) = value;
            if let Err(miss) = found {
                unwanted = unwanted.or(Some(Unwanted::Extract(place, miss)));
            }
        }
        for (place, check) in (0_u16..).zip(&self.checks) {
            if check.holds(scene, session, answer) {
                watch(Look::Check(place, None));
                continue;
            }
            let instead = check.found_instead(scene, session, answer, TOLD_BYTES_MAX);
            watch(Look::Check(place, Some(&instead)));
            if !matches!(unwanted, Some(Unwanted::Check(..))) {
                unwanted = Some(Unwanted::Check(place, instead));
            }
        }
        for (count, check) in &self.counts {
            let holds = check.holds(scene, session, answer);
            watch(Look::Count(*count, holds));
            if holds {
                counted.push(*count);
            }
        }
        (session.status, session.time) = (answer.status, answer.time);
        unwanted.map_or(Ok(()), Err)
    }
}
