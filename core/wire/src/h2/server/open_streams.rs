//! Responses that stay open: event streams, gRPC calls, and WebSockets (RFC 8441).

use super::Server;
use super::memory::ResponseBody;

impl Server {
    /// Sends the head of a response, given as the text of HTTP/1. Its body [follows](Self::push).
    /// It does nothing for a stream that was cancelled.
    pub fn respond_open(&mut self, stream: u32, head: &[u8]) {
        let core = &mut self.core;
        let Some(at) = core.find(stream) else { return };
        core.idle_frames = 0;
        core.push_head(stream, head, false);
        core.streams[at].response = Some(ResponseBody {
            bytes: Vec::new(),
            sent: 0,
            filler: &[],
            filler_left: 0,
            trailers: Vec::new(),
            stays_open: true,
        });
    }

    /// Sends bytes of such a response, as many as the windows allow. The others follow later.
    pub fn push(&mut self, stream: u32, bytes: &[u8]) {
        let core = &mut self.core;
        let Some(at) = core.find(stream) else { return };
        let Some(body) = &mut core.streams[at].response else { return };
        core.idle_frames = 0;
        if body.sent > body.bytes.len() / 2 {
            body.bytes.drain(..body.sent);
            body.sent = 0;
        }
        body.bytes.extend_from_slice(bytes);
        core.continue_body(at);
    }

    /// The number of bytes of such a response that wait for a window.
    pub fn unsent(&mut self, stream: u32) -> usize {
        let Some(at) = self.core.find(stream) else { return 0 };
        self.core.streams[at].response.as_ref().map_or(0, |body| body.bytes.len() - body.sent)
    }

    /// Sets the field lines that follow the last byte of such a response.
    pub fn set_trailers(&mut self, stream: u32, lines: Vec<u8>) {
        let Some(at) = self.core.find(stream) else { return };
        if let Some(body) = &mut self.core.streams[at].response {
            body.trailers = lines;
        }
    }

    /// Ends such a response after its last byte.
    pub fn finish(&mut self, stream: u32) {
        let Some(at) = self.core.find(stream) else { return };
        if let Some(body) = &mut self.core.streams[at].response {
            body.stays_open = false;
            self.core.continue_body(at);
        }
    }
}
