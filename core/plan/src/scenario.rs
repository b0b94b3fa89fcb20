//! [`Scenario`]: what a virtual user does, once per session.

use crate::{Action, AuthPlan, Check, DataPlan, Extract, Nanos, OnFailure, StatusSet, Template};

/// What a virtual user does, once per session.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Empty for the unnamed scenario of a plain run.
    pub name: String,
    /// Who owns connections.
    pub connection: ConnectionOwner,
    /// All requests of the scenario, in the order in which they are written; never empty in a plain run, empty
    /// where connections are held in silence.
    pub steps: Vec<Step>,
    /// Names of the groups that are timed as one.
    pub groups: Vec<String>,
    /// Names of the session's variables.
    pub variables: Vec<String>,
    /// What a user does first, once.
    pub before: Vec<Action>,
    /// What a session does.
    pub journey: Vec<Action>,
    /// What a user does at last, once.
    pub after: Vec<Action>,
    /// From the start of a user's session to that of its next at least.
    pub pace: Option<Nanos>,
    /// What a failed request means, unless its step says otherwise.
    pub on_failure: OnFailure,
}

impl Scenario {
    /// A scenario that sends `steps` one after the other, and nothing else.
    pub fn from_steps(name: impl Into<String>, connection: ConnectionOwner, steps: Vec<Step>) -> Self {
        Self {
            name: name.into(),
            connection,
            groups: Vec::new(),
            variables: Vec::new(),
            before: Vec::new(),
            journey: (0_u16..).zip(&steps).map(|(step, _)| Action::Request(step)).collect(),
            after: Vec::new(),
            pace: None,
            on_failure: OnFailure::Continue,
            steps,
        }
    }

    /// Whether a session is one request and no other thing.
    pub fn is_one_request(&self) -> bool {
        matches!(self.journey[..], [Action::Request(_)]) && self.before.is_empty() && self.after.is_empty()
    }

    /// The steps that stand inside group number `group`, in order, each once for every time it stands there.
    pub fn steps_of_group(&self, group: u16) -> Vec<u16> {
        let mut found = Vec::new();
        for actions in [&self.before, &self.journey, &self.after] {
            collect(actions, group, false, &mut found);
        }
        found
    }
}

fn collect(actions: &[Action], group: u16, inside: bool, found: &mut Vec<u16>) {
    for action in actions {
        if let Action::Request(step) = action
            && inside
        {
            found.push(*step);
        }
        let inside = inside || matches!(action, Action::Group(own, _) if *own == group);
        action.inside().for_each(|steps| collect(steps, group, inside, found));
    }
}

/// Who owns a connection, and how long it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionOwner {
    /// Each user has its own (with pipelining, `pipeline` users share one), kept over sessions.
    User,
    /// Each user has its own, closed with each session.
    Session,
    /// Each request has its own.
    Request,
    /// A pool shared by all sessions of a load thread.
    Shared,
}

/// One request of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Name in reports, e.g. `GET /users`.
    pub name: String,
    /// Index into [`Plan::targets`](crate::Plan::targets).
    pub target: usize,
    /// What is sent.
    pub request: RequestPlan,
    /// Who it says it is from.
    pub auth: Option<AuthPlan>,
    /// From *begun* to *complete*; `None`: as all others.
    pub timeout: Option<Nanos>,
    /// Statuses that make an answer *done*; `None`: as all others.
    pub expect: Option<StatusSet>,
    /// Redirects that are followed at most.
    pub follow: u8,
    /// Fetch what the page embeds.
    pub resources: bool,
    /// What is taken from the answer.
    pub extract: Vec<Extract>,
    /// What must be true of the answer.
    pub checks: Vec<Check>,
    /// What is counted: index into [`SharedPlan::counts`], and when.
    pub counts: Vec<(u16, Check)>,
    /// What its failure means; `None`: what the scenario says.
    pub on_failure: Option<OnFailure>,
}

impl Step {
    /// A step that sends one request and asks nothing of the answer.
    pub fn plain(name: impl Into<String>, target: usize, request: RequestPlan) -> Self {
        Self {
            name: name.into(),
            target,
            request,
            auth: None,
            timeout: None,
            expect: None,
            follow: 0,
            resources: false,
            extract: Vec::new(),
            checks: Vec::new(),
            counts: Vec::new(),
            on_failure: None,
        }
    }
}

/// What is sent, before rendering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestPlan {
    /// `GET`, `POST`, or any other token; empty: [`body`](Self::body) is all that is sent, as it is.
    pub method: String,
    /// Path and query as they go into the request line.
    pub path: Template,
    /// Headers beside Host, Content-Length and Connection, in order. A user's own Host replaces the default.
    pub headers: Vec<(String, Template)>,
    /// Body; empty for none.
    pub body: Template,
    /// Names of headers (lower case) whose values are never written anywhere.
    pub secret_headers: Vec<String>,
}

/// What all scenarios share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedPlan {
    /// Rows that sessions take values from.
    pub data: Vec<DataPlan>,
    /// Names of what is counted.
    pub counts: Vec<String>,
    /// Names of the places where users wait for each other.
    pub rendezvous: Vec<String>,
}

/// What is done once before and once after the load, outside every counter but `setup`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HooksPlan {
    /// Before: if it fails there is no load.
    pub before: Option<Box<Scenario>>,
    /// After, when all is quiet: a check that fails makes the run fail.
    pub after: Option<Box<Scenario>>,
}
