//! [`CompiledMessage`]: what a step does on a WebSocket.

use wavetank_plan::{MessageAction, MessagePlan, Reply, Template};
use wavetank_units::UserError;
use wavetank_wire::ws::{MessageKind, Operation};

use super::check::CompiledCheck;

/// What a step does on a WebSocket.
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
        Ok(Self { action: plan.action, reply, count: plan.count.max(1), one_way: plan.is_one_way() })
    }

    /// Whether it reads the awaited messages.
    pub(crate) fn needs_body(&self) -> bool {
        self.reply.as_ref().is_some_and(CompiledCheck::needs_body)
    }
}

/// Returns what a step sends to its connection: the operation and its payload. `None`: the request
/// of an upgrade is sent as any other.
pub(crate) fn operation(plan: &MessagePlan, payload: &Template) -> Option<Template> {
    let kind = if plan.binary { MessageKind::Binary } else { MessageKind::Text };
    let operation = match plan.action {
        MessageAction::Connect => return None,
        MessageAction::Send if plan.is_one_way() => Operation::Post(kind, b""),
        MessageAction::Send => Operation::Send(kind, b""),
        MessageAction::Wait => Operation::Wait,
        MessageAction::Close => Operation::Close(b""),
    };
    let mut bytes = Template::default();
    bytes.push_fixed(&[operation.prefix()?]);
    for piece in &payload.pieces {
        match piece {
            wavetank_plan::TemplatePart::Fixed(text) => bytes.push_fixed(text),
            hole @ wavetank_plan::TemplatePart::Hole(_) => bytes.pieces.push(hole.clone()),
        }
    }
    Some(bytes)
}
