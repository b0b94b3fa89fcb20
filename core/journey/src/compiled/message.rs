//! [`CompiledMessage`]: what a step does on a connection that carries messages.

use wavetank_plan::{MessageAction, MessagePlan, ReadExtent, Reply, Template, UrlProtocol};
use wavetank_units::UserError;
use wavetank_wire::datagram::MatchedRange;
use wavetank_wire::messages::Operation;
use wavetank_wire::raw::ReadRule;
use wavetank_wire::ws::MessageKind;

use super::check::CompiledCheck;

/// What a step does on a connection that carries messages.
#[derive(Clone, Debug)]
pub(crate) struct CompiledMessage {
    /// The action.
    pub(crate) action: MessageAction,
    /// The condition on a message that ends the wait; `None`: any message does.
    pub(crate) reply: Option<CompiledCheck>,
    /// The number of messages to wait for.
    pub(crate) count: u32,
    /// No answer is awaited.
    pub(crate) one_way: bool,
    /// Bytes that arrive before it starts are part of its answer.
    pub(crate) reads: bool,
}

impl CompiledMessage {
    /// Compiles `plan`.
    ///
    /// # Errors
    /// If a path or expression in its condition is invalid.
    pub(crate) fn new(plan: &MessagePlan) -> Result<Self, UserError> {
        let reply = match &plan.reply {
            Reply::Matching(check) => Some(CompiledCheck::new(check)?),
            Reply::None | Reply::Any => None,
        };
        let (count, one_way) = (plan.count.max(1), plan.is_one_way());
        // A datagram that arrives before another one was sent cannot be its answer.
        let reads = plan.read.as_ref().is_some_and(|read| !matches!(read, ReadExtent::Datagram(_)));
        Ok(Self { action: plan.action, reply, count, one_way, reads })
    }

    /// Whether it reads the awaited messages.
    pub(crate) fn needs_body(&self) -> bool {
        self.reply.as_ref().is_some_and(CompiledCheck::needs_body)
    }

    /// Whether it reads their fields or content.
    pub(crate) const fn looks(&self) -> bool {
        self.reply.is_some()
    }
}

/// Returns what a step sends to its connection: the operation and its payload. `None`: the request
/// of an upgrade is sent as any other.
pub(crate) fn operation(plan: &MessagePlan, payload: &Template, protocol: UrlProtocol) -> Option<Template> {
    let kind = if plan.binary { MessageKind::Binary } else { MessageKind::Text };
    let rule = plan.read.as_ref().map(|read| match read {
        ReadExtent::Any => ReadRule::Any,
        ReadExtent::Until(delimiter) => ReadRule::Until(delimiter),
        &ReadExtent::Length(length) => ReadRule::Length(length),
        &ReadExtent::Prefix(bytes) => ReadRule::Prefix(bytes),
        ReadExtent::Close => ReadRule::Close,
        &ReadExtent::Datagram(matched) => {
            ReadRule::Datagram(matched.map(|(offset, length)| MatchedRange { offset, length }))
        }
    });
    let operation = match (plan.action, rule) {
        (MessageAction::Connect, _) if protocol == UrlProtocol::Tcp => Operation::Connect(b""),
        (MessageAction::Connect | MessageAction::Open, _) => return None,
        (MessageAction::Send, Some(rule)) => Operation::Ask(rule, b""),
        (MessageAction::Send, None) if plan.is_one_way() => Operation::Post(kind, b""),
        (MessageAction::Send, None) => Operation::Send(kind, b""),
        (MessageAction::Wait, Some(rule)) => Operation::Read(rule),
        (MessageAction::Wait, None) => Operation::Wait,
        (MessageAction::Close, _) => Operation::Close(b""),
    };
    let mut bytes = Template::default();
    bytes.push_fixed(&operation.prefix());
    for piece in &payload.pieces {
        match piece {
            wavetank_plan::TemplatePart::Fixed(text) => bytes.push_fixed(text),
            hole @ wavetank_plan::TemplatePart::Hole(_) => bytes.pieces.push(hole.clone()),
        }
    }
    Some(bytes)
}
