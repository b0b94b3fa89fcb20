//! [`ScenarioYaml`]: a scenario, its steps and what they send, in `plan.yaml`.

use serde::{Deserialize, Serialize};
use wavetank_plan::redact::{REDACTED, is_secret_header};
use wavetank_plan::{
    Action, Check, CheckSubject, ConnectionOwner, OnFailure, RequestPlan, Scenario, SharedPlan, Step, Target,
    Template, Test,
};

use super::exact_quantity::{exact_duration, read_duration};
use super::hash::sha256_hex;
use super::is_default;
use super::message::MessageYaml;
use super::names::{name_of, one_of};
use super::status_ranges::{read_statuses, statuses};
use super::text::{ON_FAILURES, PlanText, auth_kind};
use crate::DecodeError;

/// A printable body up to this size is written out.
const BODY_TEXT_BYTES_MAX: usize = 1_024;
const CONNECTION_USES: [(&str, ConnectionOwner); 4] = [
    ("user", ConnectionOwner::User),
    ("session", ConnectionOwner::Session),
    ("request", ConnectionOwner::Request),
    ("shared", ConnectionOwner::Shared),
];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ScenarioYaml {
    name: String,
    connection: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    on_failure: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    groups: Vec<String>,
    /// For each group the indices of its steps, which conditions on the group need.
    #[serde(default, skip_serializing_if = "is_default")]
    group_steps: Vec<Vec<u16>>,
    #[serde(default, skip_serializing_if = "is_default")]
    variables: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    before: Vec<String>,
    /// Absent where the steps are sent one after the other and nothing else is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    journey: Option<Vec<String>>,
    /// Number of requests of a session with a `journey`; absent if it is known only at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    requests: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    after: Vec<String>,
    steps: Vec<StepYaml>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StepYaml {
    name: String,
    /// Name of the target.
    to: String,
    method: String,
    path: String,
    /// `Name: value`, secrets as `***`.
    headers: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<BodyYaml>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    auth: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expect: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "is_default")]
    follow: u8,
    #[serde(default, skip_serializing_if = "is_default")]
    resources: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    extract: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    check: Vec<String>,
    /// Names of the checks in reports; absent if every check is shown as written.
    #[serde(default, skip_serializing_if = "is_default")]
    check_names: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    count: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    on_failure: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<MessageYaml>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BodyYaml {
    bytes: u64,
    sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl ScenarioYaml {
    pub(super) fn new(scenario: &Scenario, targets: &[Target], shared: &SharedPlan) -> Self {
        let words = PlanText { scenario, shared };
        let Scenario { name, connection, steps, groups, variables, before, journey, after, pace, on_failure } =
            scenario;
        let in_order = (0_u16..).zip(steps).map(|(step, _)| Action::Request(step));
        let is_plain = in_order.eq(journey.iter().cloned());
        Self {
            name: name.clone(),
            connection: name_of(*connection, &CONNECTION_USES).to_owned(),
            pace: pace.map(exact_duration),
            on_failure: (*on_failure != OnFailure::Continue)
                .then(|| name_of(*on_failure, &ON_FAILURES).to_owned()),
            groups: groups.clone(),
            group_steps: (0_u16..).zip(groups).map(|(group, _)| scenario.steps_of_group(group)).collect(),
            variables: variables.clone(),
            before: words.actions(before),
            journey: (!is_plain).then(|| words.actions(journey)),
            requests: scenario.requests().filter(|_| !is_plain),
            after: words.actions(after),
            steps: steps.iter().map(|step| StepYaml::new(step, targets, words)).collect(),
        }
    }

    /// Reads only the parts of journeys and templates that reports need; actions stay text.
    pub(super) fn read(&self, targets: &[Target], counts: &[String]) -> Result<Scenario, DecodeError> {
        let steps = self.steps.iter().map(|step| step.read(targets, counts)).collect::<Result<_, _>>()?;
        let mut scenario =
            Scenario::from_steps(self.name.clone(), one_of(&self.connection, &CONNECTION_USES)?, steps);
        scenario.groups.clone_from(&self.groups);
        scenario.variables.clone_from(&self.variables);
        scenario.pace = self.pace.as_deref().map(read_duration).transpose()?;
        scenario.on_failure = read_on_failure(self.on_failure.as_deref())?.unwrap_or_default();
        if self.journey.is_some() {
            scenario.journey = self.read_journey();
        }
        Ok(scenario)
    }

    /// Reads only the steps of each group and the total number of requests.
    fn read_journey(&self) -> Vec<Action> {
        let group = |(group, steps): (u16, &Vec<u16>)| {
            Action::Group(group, steps.iter().copied().map(Action::Request).collect())
        };
        // Groups may be nested or repeated. They are kept where they are not counted.
        let groups = Action::Repeat(0, (0_u16..).zip(&self.group_steps).map(group).collect());
        // If the journey may end early, the number is unknown.
        let all =
            self.requests.map_or(Action::EndSession, |all| Action::Repeat(all, vec![Action::Request(0)]));
        vec![groups, all]
    }
}

fn read_on_failure(text: Option<&str>) -> Result<Option<OnFailure>, DecodeError> {
    text.map(|text| one_of(text, &ON_FAILURES)).transpose()
}

impl StepYaml {
    fn new(step: &Step, targets: &[Target], words: PlanText<'_>) -> Self {
        let Step {
            name,
            target,
            request,
            // The path, the fields and the body say the same.
            grpc: _,
            message,
            auth,
            timeout,
            expect,
            follow,
            resources,
            extract,
            checks,
            counts,
            on_failure,
        } = step;
        let RequestPlan { method, path, headers, body, secret_headers } = request;
        let header = |(name, value): &(String, Template)| {
            let secret = is_secret_header(name)
                || secret_headers.iter().any(|secret| secret.eq_ignore_ascii_case(name));
            let value = if secret { REDACTED.to_owned() } else { words.template(value) };
            format!("{name}: {value}")
        };
        let check: Vec<_> = checks.iter().map(|check| words.check(check)).collect();
        let called = checks.iter().zip(&check).any(|(one, words)| one.text != *words);
        Self {
            name: name.clone(),
            to: targets.get(*target).map_or_else(String::new, |target| target.name.clone()),
            method: method.clone(),
            path: words.template(path),
            headers: headers.iter().map(header).collect(),
            body: (!body.is_empty()).then(|| BodyYaml::of(body, words)),
            auth: auth.as_ref().map(|auth| auth_kind(auth).to_owned()),
            timeout: timeout.map(exact_duration),
            expect: expect.as_ref().map(statuses),
            follow: *follow,
            resources: *resources,
            extract: extract.iter().map(|extract| words.extract(extract)).collect(),
            check_names: if called {
                checks.iter().map(|one| one.text.clone()).collect()
            } else {
                Vec::new()
            },
            check,
            count: counts.iter().map(|count| words.count(count)).collect(),
            on_failure: on_failure.map(|what| name_of(what, &ON_FAILURES).to_owned()),
            message: message.as_ref().map(|message| MessageYaml::new(message, words)),
        }
    }

    fn read(&self, targets: &[Target], counts: &[String]) -> Result<Step, DecodeError> {
        let target = targets.iter().position(|target| target.name == self.to);
        let target = target.ok_or_else(|| DecodeError::new(format!("no target is called `{}`", self.to)))?;
        let headers: Vec<_> = self
            .headers
            .iter()
            .map(|line| line.split_once(": ").map(|(name, value)| (name.to_owned(), value)))
            .collect::<Option<_>>()
            .ok_or_else(|| DecodeError::new(format!("a header of step `{}` has no colon", self.name)))?;
        let secrets = headers.iter().filter(|(_, value)| *value == REDACTED);
        let request = RequestPlan {
            method: self.method.clone(),
            path: Template::from(&self.path),
            secret_headers: secrets.map(|(name, _)| name.to_ascii_lowercase()).collect(),
            headers: headers.into_iter().map(|(name, value)| (name, value.into())).collect(),
            body: self.body.as_ref().and_then(|body| body.text.as_deref()).unwrap_or_default().into(),
        };
        let called = if self.check_names.is_empty() { &self.check } else { &self.check_names };
        Ok(Step {
            checks: called.iter().map(|name| by_name(name)).collect(),
            counts: self.count.iter().filter_map(|line| read_count(line, counts)).collect(),
            timeout: self.timeout.as_deref().map(read_duration).transpose()?,
            expect: self.expect.as_deref().map(read_statuses).transpose()?,
            follow: self.follow,
            resources: self.resources,
            on_failure: read_on_failure(self.on_failure.as_deref())?,
            message: self.message.as_ref().map(MessageYaml::read).transpose()?,
            ..Step::plain(self.name.clone(), target, request)
        })
    }
}

/// Makes a check that only has the name used in reports, because no response is checked any more.
fn by_name(name: &str) -> Check {
    let subject = CheckSubject::Value(Template::default());
    Check { text: name.to_owned(), subject, test: Test::Contains(Vec::new()) }
}

/// `sold: status = 200`: under which of the names it is counted.
fn read_count(line: &str, counts: &[String]) -> Option<(u16, Check)> {
    let named = |name: &String| line.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(": "));
    let count = counts.iter().position(named)?;
    Some((u16::try_from(count).ok()?, by_name(line)))
}

impl BodyYaml {
    /// A body with holes is described by the text of its template.
    fn of(body: &Template, words: PlanText<'_>) -> Self {
        match body.as_fixed() {
            Some(bytes) => Self::new(bytes),
            None => Self::new(words.template(body).as_bytes()),
        }
    }

    fn new(body: &[u8]) -> Self {
        let printable =
            |text: &&str| text.chars().all(|letter| !letter.is_control() || letter == '\n' || letter == '\t');
        let short = (body.len() <= BODY_TEXT_BYTES_MAX).then(|| std::str::from_utf8(body).ok()).flatten();
        Self {
            bytes: body.len() as u64,
            sha256: sha256_hex(body),
            text: short.filter(printable).map(str::to_owned),
        }
    }
}
