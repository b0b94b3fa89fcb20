//! [`Streams`]: the requests of a connection of HTTP/2 or HTTP/3, and the responses that they
//! wait for.

use wavetank_units::Nanos;
use wavetank_wire::streams::StreamServer;

use crate::answer::{Response, ScheduledResponse};
use crate::connection::CurrentRequest;
use crate::event_stream::{EventStream, Framing};
use crate::filler::filler;
use crate::open_call::OpenCall;
use crate::outbox::Outbox;
use crate::truth::Counts;
use crate::web_socket::{AfterMessages, OUT_BYTES_MAX, WebSocket};

/// The requests of such a connection; see the module documentation.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) server: StreamServer,
    /// Requests that are not complete, by stream.
    pub(crate) asked: Vec<(u32, CurrentRequest)>,
    /// Responses that were not sent yet, by stream.
    pub(crate) owed: Vec<(u32, ScheduledResponse)>,
    /// Responses that stay open, by stream.
    pub(crate) open: Vec<(u32, OpenStream)>,
    /// The connection is closed after the last response.
    pub(crate) closes: bool,
}

/// What a response carries that stays open.
#[derive(Debug)]
pub(crate) enum OpenStream {
    WebSocket { socket: Box<WebSocket>, after: AfterMessages },
    Events(EventStream),
    Call(Box<OpenCall>),
}

impl Streams {
    pub(crate) const fn new(server: StreamServer) -> Self {
        Self { server, asked: Vec::new(), owed: Vec::new(), open: Vec::new(), closes: false }
    }

    /// Gives the responses that are due. Returns whether one of them concerns the server as a
    /// whole.
    pub(crate) fn give_owed(&mut self, now: Nanos, outbox: &mut Outbox, counts: &Counts) -> bool {
        let Self { server, owed, .. } = self;
        let mut is_control = false;
        owed.retain(|(stream, due)| {
            is_control |= due.at <= now && due.answer.is_control();
            let waits = due.at > now || due.answer.is_placeholder();
            if !waits {
                let body_left = outbox.render(due, counts);
                match &due.answer {
                    Response::Upgrade(_) | Response::Events | Response::OpenCall => {
                        server.respond_open(*stream, &outbox.out);
                    }
                    Response::Grpc(reply) if !reply.body.is_empty() => {
                        let mut trailers = Vec::new();
                        reply.push_trailers(&mut trailers);
                        server.respond_with_trailers(*stream, &outbox.out, trailers);
                    }
                    _ => server.respond(*stream, &outbox.out, filler(), body_left),
                }
                outbox.out.clear();
            }
            waits
        });
        is_control
    }

    /// Sends what the responses that stay open carry now. Returns when there is more.
    pub(crate) fn advance_open(&mut self, now: Nanos, out: &mut Vec<u8>, counts: &Counts) -> Option<Nanos> {
        let Self { server, owed, open, .. } = self;
        let mut next: Option<Nanos> = None;
        open.retain_mut(|(stream, carried)| {
            // The head of the response comes first.
            if owed.iter().any(|(own, _)| own == stream) {
                return true;
            }
            let unsent = server.push(*stream, &[]);
            let stays_open = match carried {
                OpenStream::WebSocket { socket, after } => {
                    if unsent > OUT_BYTES_MAX {
                        // The client reads nothing.
                        *after = AfterMessages::Broken;
                    }
                    server.push(*stream, socket.server.out());
                    socket.server.out().clear();
                    *after == AfterMessages::Open
                }
                OpenStream::Events(_) if unsent > 0 => true,
                OpenStream::Events(events) => {
                    let due = events.write(now, out, counts, Framing::None);
                    server.push(*stream, out);
                    out.clear();
                    next = due.into_iter().chain(next).min();
                    due.is_some()
                }
                OpenStream::Call(call) => {
                    let written = call.write(now, unsent, out, counts);
                    server.push(*stream, out);
                    out.clear();
                    match written {
                        Ok(due) => {
                            next = due.into_iter().chain(next).min();
                            true
                        }
                        Err(end) => {
                            let mut trailers = Vec::new();
                            end.push_trailers(&mut trailers);
                            server.set_trailers(*stream, trailers);
                            false
                        }
                    }
                }
            };
            if !stays_open {
                server.finish(*stream);
            }
            stays_open
        });
        next
    }

    /// Returns the first response that satisfies `is_wanted`.
    pub(crate) fn find(
        &mut self,
        is_wanted: impl Fn(&ScheduledResponse) -> bool,
    ) -> Option<&mut ScheduledResponse> {
        self.owed.iter_mut().map(|(_, due)| due).find(|due| is_wanted(due))
    }
}
