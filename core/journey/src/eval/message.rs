//! Whether a message is the one that a step awaits.

use super::render_context::RenderContext;
use crate::compiled::CompiledMessage;
use crate::extract::ResponseView;
use crate::state::Session;

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
