//! [`Scenario`]: what a virtual user does, once per session.

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

use crate::{
    Action, AuthPlan, Check, DataPlan, DescriptorSet, Extract, GrpcPlan, OnFailure, StatusSet, Template,
};

/// The journey of a virtual user, once per session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Empty for the unnamed scenario of a plain run.
    pub name: String,
    /// The owner of connections.
    pub connection: ConnectionOwner,
    /// All requests of the scenario, in the order in which they are written. The list is never
    /// empty in a plain run, and is empty for silent held connections.
    pub steps: Vec<Step>,
    /// Names of the groups that are timed as one.
    pub groups: Vec<String>,
    /// Names of the session's variables.
    pub variables: Vec<String>,
    /// The first actions of a user, once.
    pub before: Vec<Action>,
    /// The actions of a session.
    pub journey: Vec<Action>,
    /// The last actions of a user, once.
    pub after: Vec<Action>,
    /// From the start of a user's session to that of its next at least.
    pub pace: Option<Nanos>,
    /// The effect of a failed request, unless its step overrides it.
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

    /// Returns the steps inside group number `group`, in order. A step appears once for each of its
    /// occurrences.
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

/// The owner of a connection, which determines its lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Name in reports, e.g. `GET /users`.
    pub name: String,
    /// Index into [`Plan::targets`](crate::Plan::targets).
    pub target: usize,
    /// The request to send.
    pub request: RequestPlan,
    /// Set if the request is a gRPC call.
    pub grpc: Option<GrpcPlan>,
    /// What it does on a connection with messages; `None`: it is an HTTP request.
    pub message: Option<MessagePlan>,
    /// The credentials of the request.
    pub auth: Option<AuthPlan>,
    /// From *begun* to *complete*; `None`: as all others.
    pub timeout: Option<Nanos>,
    /// Statuses that make an answer *done*; `None`: as all others.
    pub expect: Option<StatusSet>,
    /// Redirects that are followed at most.
    pub follow: u8,
    /// Fetch what the page embeds.
    pub resources: bool,
    /// Values to extract from the response.
    pub extract: Vec<Extract>,
    /// Checks on the response.
    pub checks: Vec<Check>,
    /// Counts to increase: index into [`SharedPlan::counts`], and the condition.
    pub counts: Vec<(u16, Check)>,
    /// The effect of a failure; `None`: that of the scenario.
    pub on_failure: Option<OnFailure>,
}

impl Step {
    /// A step that sends one request and asks nothing of the answer.
    pub fn plain(name: impl Into<String>, target: usize, request: RequestPlan) -> Self {
        Self {
            name: name.into(),
            target,
            request,
            grpc: None,
            message: None,
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

/// What a step does on a connection that carries messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessagePlan {
    /// The action.
    pub action: MessageAction,
    /// A message is sent as bytes instead of text.
    pub binary: bool,
    /// The answer that is awaited.
    pub reply: Reply,
    /// The number of messages to wait for.
    pub count: u32,
    /// How much of what arrives on raw TCP or UDP is the answer.
    pub read: Option<ReadExtent>,
}

/// How much of what arrives on raw TCP or UDP is one answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadExtent {
    /// What has arrived, at least one byte.
    Any,
    /// Everything up to and including these bytes.
    Until(Vec<u8>),
    /// This number of bytes.
    Length(u64),
    /// A length in this number of bytes, the highest first, and as many bytes after it.
    Prefix(u8),
    /// Everything until the server closes the connection.
    Close,
    /// One datagram of UDP. It has the same bytes as the request at this offset, in this number, if
    /// they are given.
    Datagram(Option<(u16, u16)>),
}

/// An action on a connection that carries messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageAction {
    /// Makes a connection ready for messages.
    Connect,
    /// Opens a gRPC call, which the server does not answer before it has a message.
    Open,
    /// Sends a message.
    Send,
    /// Waits for messages.
    Wait,
    /// Ends them.
    Close,
}

/// The answer to a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// None is awaited: the request is done once the message was handed to the kernel.
    None,
    /// The next message.
    Any,
    /// The next message that meets a condition. Others are ignored.
    Matching(Box<Check>),
}

impl MessagePlan {
    /// Whether no answer is awaited. Such a request has no service time.
    pub const fn is_one_way(&self) -> bool {
        let is_send =
            matches!((self.action, &self.reply, &self.read), (MessageAction::Send, Reply::None, None));
        is_send || matches!(self.action, MessageAction::Open)
    }
}

/// The request before rendering.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestPlan {
    /// `GET`, `POST`, or any other token. If it is empty, only [`body`](Self::body) is sent,
    /// unchanged.
    pub method: String,
    /// Path and query as they go into the request line.
    pub path: Template,
    /// Headers other than Host, Content-Length and Connection, in order. A user's own Host replaces
    /// the default.
    pub headers: Vec<(String, Template)>,
    /// Body; empty for none.
    pub body: Template,
    /// Names of headers (lower case) with values that are never written anywhere.
    pub secret_headers: Vec<String>,
}

/// Data that all scenarios share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SharedPlan {
    /// Rows that sessions take values from.
    pub data: Vec<DataPlan>,
    /// Names of what is counted.
    pub counts: Vec<String>,
    /// Names of the places where users wait for each other.
    pub rendezvous: Vec<String>,
    /// What the steps' gRPC calls are described by.
    pub descriptors: Vec<DescriptorSet>,
}

/// Steps that run once before and once after the load, outside every counter except `setup`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HooksPlan {
    /// Before: if it fails there is no load.
    pub before: Option<Box<Scenario>>,
    /// After, when all is quiet: a check that fails makes the run fail.
    pub after: Option<Box<Scenario>>,
}
