//! Reads the requests of a connection of HTTP/2 or HTTP/3.

use wavetank_driver::ConnId;
use wavetank_wire::h1::{RequestEnd, RequestHead};
use wavetank_wire::h2::ServerSink;

use crate::answer::{Keep, Response, ScheduledResponse};
use crate::connection::{CountedAs, CurrentRequest};
use crate::handshake::Handshake;
use crate::request_handler::RequestHandler;
use crate::route::Route;
use crate::streams::Streams;

impl Streams {
    /// Reads received bytes. Returns whether the client kept to the protocol.
    pub(crate) fn read(
        &mut self,
        clerk: &mut RequestHandler<'_>,
        (conn, kind, handshake): (ConnId, &mut CountedAs, Handshake),
        bytes: &[u8],
    ) -> bool {
        let Self { server, asked, owed, closes } = self;
        let mut intake = StreamIntake { clerk, conn, kind, handshake, asked, owed, closes };
        if server.read(bytes, &mut intake).is_err() {
            intake.clerk.counts.bad_requests.add(1);
            return false;
        }
        for (stream, request) in &mut *asked {
            if std::mem::take(&mut request.expects_continue) {
                server.respond_continue(*stream);
            }
        }
        true
    }
}

/// Receives the requests of one connection.
struct StreamIntake<'a, 'b> {
    clerk: &'a mut RequestHandler<'b>,
    conn: ConnId,
    kind: &'a mut CountedAs,
    handshake: Handshake,
    asked: &'a mut Vec<(u32, CurrentRequest)>,
    owed: &'a mut Vec<(u32, ScheduledResponse)>,
    closes: &'a mut bool,
}

impl StreamIntake<'_, '_> {
    fn owe(&mut self, stream: u32, due: ScheduledResponse) {
        self.owed.push((stream, due));
    }

    fn take_asked(&mut self, stream: u32) -> Option<CurrentRequest> {
        let place = self.asked.iter().position(|(own, _)| *own == stream)?;
        Some(self.asked.swap_remove(place).1)
    }
}

impl ServerSink for StreamIntake<'_, '_> {
    fn head(&mut self, stream: u32, head: &RequestHead<'_>) {
        let mut request = CurrentRequest::new();
        self.clerk.take_head(&mut request, (self.kind, self.handshake), head);
        self.asked.push((stream, request));
    }

    fn body(&mut self, stream: u32, bytes: &[u8]) {
        if let Some((_, request)) = self.asked.iter_mut().find(|(own, _)| *own == stream) {
            self.clerk.take_body(request, (self.kind, self.handshake), bytes);
        }
    }

    fn request(&mut self, stream: u32, end: RequestEnd) {
        let Some(mut request) = self.take_asked(stream) else { return };
        let route = request.route;
        let (answer, at) = if request.too_large {
            let (_, text) = route.body_max().unwrap_or_default();
            (Response::Plain(413, text), self.clerk.now)
        } else {
            self.clerk.answer_to(self.conn, &mut request)
        };
        *self.closes |= route == Route::Close;
        let (head_only, counted) = (end.head_request, !route.is_control());
        self.owe(stream, ScheduledResponse { at, answer, head_only, keep: Keep::Silently, counted });
    }

    fn cancelled(&mut self, stream: u32) {
        self.take_asked(stream);
        // A job of the database returns without a response to give.
        self.owed.retain(|(own, _)| *own != stream);
    }

    fn rejected(&mut self, _: u32) {
        self.clerk.counts.bad_requests.add(1);
    }
}
