//! Reads the requests of a connection of HTTP/2 or HTTP/3.

use wavetank_driver::ConnId;
use wavetank_wire::h1::{RequestEnd, RequestHead};
use wavetank_wire::h2::ServerSink;
use wavetank_wire::ws::Deflater;

use crate::answer::{Keep, Response, ScheduledResponse};
use crate::connection::{CountedAs, CurrentRequest};
use crate::event_stream::EventStream;
use crate::grpc::Rpc;
use crate::handshake::Handshake;
use crate::method::Method;
use crate::open_call::OpenCall;
use crate::request_handler::RequestHandler;
use crate::route::Route;
use crate::streams::{OpenStream, Streams};
use crate::web_socket::{AfterMessages, WebSocket};

impl Streams {
    /// Reads received bytes. Returns whether the client kept to the protocol.
    pub(crate) fn read(
        &mut self,
        clerk: &mut RequestHandler<'_>,
        (conn, kind, handshake): (ConnId, &mut CountedAs, Handshake),
        deflater: &mut Option<Box<Deflater>>,
        bytes: &[u8],
    ) -> bool {
        let Self { server, asked, owed, open, closes } = self;
        let keeps_open = server.keeps_responses_open();
        let mut intake =
            StreamIntake { clerk, conn, kind, handshake, asked, owed, open, closes, deflater, keeps_open };
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
    open: &'a mut Vec<(u32, OpenStream)>,
    closes: &'a mut bool,
    deflater: &'a mut Option<Box<Deflater>>,
    /// Responses may stay open.
    keeps_open: bool,
}

impl StreamIntake<'_, '_> {
    fn owe(&mut self, stream: u32, due: ScheduledResponse) {
        self.owed.push((stream, due));
    }

    /// Answers a request for a WebSocket, which has no end.
    fn upgrade(&mut self, stream: u32, mut request: CurrentRequest) {
        let counted = !request.route.is_control();
        let (answer, at) = self.clerk.answer_to(self.conn, &mut request);
        if let Response::Upgrade(upgrade) = &answer {
            let socket = Box::new(WebSocket::new(upgrade.deflate));
            self.open.push((stream, OpenStream::WebSocket { socket, after: AfterMessages::Open }));
        }
        self.owe(stream, ScheduledResponse { at, answer, head_only: false, keep: Keep::Silently, counted });
    }

    /// Returns the socket on a stream, and what happens to it.
    fn find_socket(&mut self, stream: u32) -> Option<(&mut WebSocket, &mut AfterMessages)> {
        self.open.iter_mut().find_map(|(own, carried)| match carried {
            OpenStream::WebSocket { socket, after } if *own == stream => Some((&mut **socket, after)),
            _ => None,
        })
    }

    /// Returns the gRPC call on a stream.
    fn find_call(&mut self, stream: u32) -> Option<&mut OpenCall> {
        self.open.iter_mut().find_map(|(own, carried)| match carried {
            OpenStream::Call(call) if *own == stream => Some(&mut **call),
            _ => None,
        })
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
        // It has no end, so it is answered immediately, whether a WebSocket is there or not.
        if self.keeps_open && head.header("upgrade").is_some() {
            return self.upgrade(stream, request);
        }
        if self.keeps_open && request.route == Route::Grpc(Rpc::Chat) && request.verb == Method::Post {
            self.open.push((stream, OpenStream::Call(Box::default())));
            let (at, answer) = (self.clerk.now, Response::OpenCall);
            let due = ScheduledResponse { at, answer, head_only: false, keep: Keep::Silently, counted: true };
            return self.owe(stream, due);
        }
        self.asked.push((stream, request));
    }

    fn body(&mut self, stream: u32, bytes: &[u8]) {
        if let Some((_, request)) = self.asked.iter_mut().find(|(own, _)| *own == stream) {
            return self.clerk.take_body(request, (self.kind, self.handshake), bytes);
        }
        let (counts, now) = (self.clerk.counts, self.clerk.now);
        if let Some(call) = self.find_call(stream) {
            return call.read(bytes, now, counts);
        }
        let mut deflater = self.deflater.take();
        if let Some((socket, after)) = self.find_socket(stream)
            && *after == AfterMessages::Open
        {
            *after = socket.read(bytes, &mut deflater, counts);
        }
        *self.deflater = deflater;
    }

    fn request(&mut self, stream: u32, end: RequestEnd) {
        let Some(mut request) = self.take_asked(stream) else {
            if let Some(call) = self.find_call(stream) {
                return call.complete();
            }
            // The client has closed its side of a WebSocket.
            if let Some((_, after)) = self.find_socket(stream) {
                *after = AfterMessages::Over;
            }
            return;
        };
        let route = request.route;
        let (answer, at) = if request.too_large {
            let (_, text) = route.body_max().unwrap_or_default();
            (Response::Plain(413, text), self.clerk.now)
        } else if let (Route::Events(schedule), Method::Get, true) = (route, request.verb, self.keeps_open)
            && !end.head_request
        {
            self.open.push((stream, OpenStream::Events(EventStream::new(schedule, self.clerk.now))));
            (Response::Events, self.clerk.now)
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
        self.open.retain(|(own, _)| *own != stream);
    }

    fn rejected(&mut self, _: u32) {
        self.clerk.counts.bad_requests.add(1);
    }
}
