//! Whether a message is the one that a step awaits.

use super::render_context::RenderContext;
use crate::compiled::{CompiledMessage, CompiledStep};
use crate::extract::ResponseView;
use crate::state::Session;

impl CompiledStep {
    /// Whether this answer ends the wait for a message. The end of a gRPC call does, and so does
    /// what is no message of its type.
    pub(super) fn is_last_message(
        &self,
        message: &CompiledMessage,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        answer: &ResponseView<'_>,
    ) -> bool {
        let Some(call) = self.call() else { return message.is_last(scene, session, answer) };
        let mut json = Vec::new();
        if answer.status != 0 || (self.keeps.body && call.decode(answer.body, &mut json).is_err()) {
            return true;
        }
        message.is_last(scene, session, &ResponseView { body: &json, ..*answer })
    }
}

impl CompiledMessage {
    /// Whether this message ends the wait. It is counted if it is an awaited one.
    pub(super) fn is_last(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        answer: &ResponseView<'_>,
    ) -> bool {
        if let Some(reply) = &self.reply {
            scene.reading.clear();
            if !reply.eval(scene, session, answer) {
                return false;
            }
        }
        if self.count == 1 {
            return true;
        }
        let messages = &mut session.data_mut().messages;
        *messages += 1;
        let is_last = *messages >= self.count;
        if is_last {
            *messages = 0;
        }
        is_last
    }
}
