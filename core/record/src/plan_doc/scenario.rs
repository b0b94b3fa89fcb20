//! [`ScenarioYaml`]: a scenario, its steps and what they send, in `plan.yaml`.

use serde::{Deserialize, Serialize};
use wavetank_plan::redact::{REDACTED, is_secret_header};
use wavetank_plan::{ConnectionUse, RequestPlan, Scenario, Step, Target};

use super::{name_of, one_of, sha256_hex};
use crate::DecodeError;

/// A printable body up to this size is written out.
const BODY_TEXT_BYTES_MAX: usize = 1_024;
const CONNECTION_USES: [(&str, ConnectionUse); 2] =
    [("user", ConnectionUse::User), ("shared", ConnectionUse::Shared)];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScenarioYaml {
    name: String,
    connection: String,
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
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BodyYaml {
    bytes: u64,
    sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl ScenarioYaml {
    pub(crate) fn new(scenario: &Scenario, targets: &[Target]) -> Self {
        let Scenario { name, connection, steps } = scenario;
        Self {
            name: name.clone(),
            connection: name_of(*connection, &CONNECTION_USES).to_owned(),
            steps: steps.iter().map(|step| StepYaml::new(step, targets)).collect(),
        }
    }

    pub(crate) fn read(&self, targets: &[Target]) -> Result<Scenario, DecodeError> {
        Ok(Scenario {
            name: self.name.clone(),
            connection: one_of(&self.connection, &CONNECTION_USES)?,
            steps: self.steps.iter().map(|step| step.read(targets)).collect::<Result<_, _>>()?,
        })
    }
}

impl StepYaml {
    fn new(step: &Step, targets: &[Target]) -> Self {
        let Step { name, target, request } = step;
        let RequestPlan { method, path, headers, body, secret_headers } = request;
        let header = |(name, value): &(String, String)| {
            let secret = is_secret_header(name)
                || secret_headers.iter().any(|secret| secret.eq_ignore_ascii_case(name));
            format!("{name}: {}", if secret { REDACTED } else { value })
        };
        Self {
            name: name.clone(),
            to: targets.get(*target).map_or_else(String::new, |target| target.name.clone()),
            method: method.clone(),
            path: path.clone(),
            headers: headers.iter().map(header).collect(),
            body: (!body.is_empty()).then(|| BodyYaml::new(body)),
        }
    }

    fn read(&self, targets: &[Target]) -> Result<Step, DecodeError> {
        let target = targets.iter().position(|target| target.name == self.to);
        let target = target.ok_or_else(|| DecodeError::new(format!("no target is called `{}`", self.to)))?;
        let headers: Vec<_> = self
            .headers
            .iter()
            .map(|line| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned())))
            .collect::<Option<_>>()
            .ok_or_else(|| DecodeError::new(format!("a header of step `{}` has no colon", self.name)))?;
        let secrets = headers.iter().filter(|(_, value)| value == REDACTED);
        let request = RequestPlan {
            method: self.method.clone(),
            path: self.path.clone(),
            secret_headers: secrets.map(|(name, _)| name.to_ascii_lowercase()).collect(),
            headers,
            body: self.body.as_ref().and_then(|body| body.text.clone()).unwrap_or_default().into_bytes(),
        };
        Ok(Step { name: self.name.clone(), target, request })
    }
}

impl BodyYaml {
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
