//! [`ConnIo`]: the activity on a slot's connection: its requests, the response being read, its
//! timer.
//!
//! A slot gets one when it is first opened. A held connection that is idle has none: it borrows one
//! for the time of an opening or a request. A million mostly idle connections therefore need little
//! memory.

use std::collections::BTreeMap;

use wavetank_pace::TimerId;
use wavetank_plan::UrlProtocol;
use wavetank_units::Nanos;
use wavetank_wire::h1::Limits;
use wavetank_wire::messages::{IdleState, MessageClient};
use wavetank_wire::streams::StreamClient;
use wavetank_wire::{datagram, grpc, raw, sse, ws};

use crate::inbox::InboxBudget;
use crate::machine::{Machine, MessageConn, StreamRequest};
use crate::request_queue::RequestQueue;

/// The activity on a slot's connection; see the module documentation.
pub(crate) struct ConnIo {
    /// Requests that were sent and not answered, followed by those that wait for this slot's
    /// connection.
    pub(crate) queue: RequestQueue,
    pub(crate) machine: Machine,
    /// When the first byte of the current response arrived. Before any response, when the
    /// connection was established. With streams, when bytes arrived last.
    pub(crate) first_byte: Nanos,
    /// When the earliest timer set for this slot fires; [`Nanos::MAX`] if none is set.
    pub(crate) armed: Nanos,
    /// The earliest timer.
    pub(crate) timer: Option<TimerId>,
    /// Tuples that the kernel refused during the current opening.
    pub(crate) refused: u8,
    /// It is in the list of connections with bytes to send.
    pub(crate) unflushed: bool,
    /// No further request is sent on the connection. It is closed after the last one in flight.
    pub(crate) leaving: bool,
}

impl ConnIo {
    /// Creates one without any activity.
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            queue: RequestQueue::default(),
            machine: Machine::http1(limits),
            first_byte: Nanos::ZERO,
            armed: Nanos::MAX,
            timer: None,
            refused: 0,
            unflushed: false,
            leaving: false,
        }
    }
}

impl ConnIo {
    /// The number of requests in flight.
    #[inline]
    pub(crate) fn in_flight(&self) -> usize {
        match &self.machine {
            Machine::Http1(_) | Machine::Messages(_) => self.queue.sent(),
            Machine::Streams(client) => client.in_flight(),
        }
    }

    /// Whether the connection accepts further requests, apart from their number.
    #[inline]
    pub(crate) fn takes_more(&self) -> bool {
        match &self.machine {
            Machine::Http1(_) | Machine::Messages(_) => !self.queue.is_refused(),
            Machine::Streams(client) => !self.leaving && client.room() > 0,
        }
    }

    /// Returns the earliest deadline of the requests in flight and of those that wait.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        let queued = self.queue.deadline();
        match &self.machine {
            Machine::Http1(_) | Machine::Messages(_) => queued,
            Machine::Streams(client) => earliest_deadline(client, queued),
        }
    }
}

#[cold]
fn earliest_deadline(client: &StreamClient<StreamRequest>, queued: Option<Nanos>) -> Option<Nanos> {
    client.tags().map(|stream| stream.request.deadline).chain(queued).min()
}

/// Unused instances, which can be taken without an allocation.
pub(crate) struct ConnIoPool {
    limits: Limits,
    /// The seed of the next WebSocket.
    seed: u64,
    /// Whether some step reads messages that arrived before it started.
    keeps_messages: bool,
    /// The last event id of streams, by slot: of those that were lost, and of idle ones.
    last_ids: BTreeMap<u32, Box<[u8]>>,
    /// For the messages that no request awaits.
    inbox_budget: InboxBudget,
    #[expect(clippy::vec_box, reason = "boxes are passed on without a move")]
    spare: Vec<Box<ConnIo>>,
}

/// More than one loop turn returns. After a burst the rest of the memory is freed.
const SPARE_MAX: usize = 1_024;

/// An odd number, so that all seeds differ (the golden ratio in 64 bits).
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl ConnIoPool {
    /// Creates an empty pool. `seed` determines the keys and masks of WebSockets.
    pub(crate) fn new(limits: Limits, seed: u64, keeps_messages: bool) -> Self {
        let (last_ids, inbox_budget) = (BTreeMap::new(), InboxBudget::default());
        Self { limits, seed, keeps_messages, last_ids, inbox_budget, spare: Vec::new() }
    }

    /// Whether some step reads messages that arrived before it started.
    pub(crate) const fn keeps_messages(&self) -> bool {
        self.keeps_messages
    }

    /// Creates the machine of a new connection with messages.
    pub(crate) fn message_client(&mut self, protocol: UrlProtocol) -> MessageClient {
        match protocol {
            UrlProtocol::Events => MessageClient::Events(sse::Client::new(self.event_limits())),
            UrlProtocol::Tcp => {
                MessageClient::Raw(raw::Client::new(self.answer_bytes_max(), self.keeps_messages))
            }
            UrlProtocol::Udp => MessageClient::Datagrams(datagram::Client::new(self.keeps_messages)),
            UrlProtocol::Grpc => MessageClient::Call(grpc::Client::new(self.answer_bytes_max())),
            _ => MessageClient::WebSocket(ws::Client::new(self.message_limits(), self.draw_seed())),
        }
    }

    /// Returns the machine of a connection with messages.
    pub(crate) fn message_machine(&self, client: MessageClient) -> Machine {
        Machine::Messages(Box::new(MessageConn::new(client, self.inbox_budget.clone())))
    }

    /// The limits on a response with events.
    fn event_limits(&self) -> Limits {
        Limits { body_bytes_max: self.answer_bytes_max(), ..self.limits }
    }

    /// The limit on one message.
    fn answer_bytes_max(&self) -> u64 {
        self.message_limits().message_bytes_max
    }

    /// Keeps the last event id of a stream that is idle or lost.
    pub(crate) fn keep_last_id(&mut self, slot: u32, id: &[u8]) {
        if id.is_empty() {
            self.last_ids.remove(&slot);
        } else {
            self.last_ids.insert(slot, id.into());
        }
    }

    /// Forgets the last event id of a slot.
    #[inline]
    pub(crate) fn forget_last_id(&mut self, slot: u32) {
        if !self.last_ids.is_empty() {
            self.last_ids.remove(&slot);
        }
    }

    /// Returns the last event id of a slot.
    pub(crate) fn last_id(&self, slot: u32) -> &[u8] {
        self.last_ids.get(&slot).map_or(b"", |id| id)
    }

    /// The limits on WebSocket messages.
    pub(crate) fn message_limits(&self) -> ws::Limits {
        let most = ws::Limits::default().message_bytes_max.min(self.limits.body_bytes_max);
        ws::Limits { message_bytes_max: most, ..ws::Limits::default() }
    }

    /// Draws the seed of a WebSocket.
    pub(crate) const fn draw_seed(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(SEED_STEP);
        self.seed
    }

    /// Takes an instance for a slot that has none, with the machine of its idle connection.
    #[cold]
    pub(crate) fn take_for(&mut self, slot: u32, parked: Option<IdleState>) -> Box<ConnIo> {
        let mut io = self.take();
        if let Some(parked) = parked {
            let client = self.resume(slot, parked);
            io.machine = self.message_machine(client);
        }
        io
    }

    /// Returns the machine of an idle connection with messages.
    pub(crate) fn resume(&mut self, slot: u32, parked: IdleState) -> MessageClient {
        match parked {
            IdleState::WebSocket => {
                MessageClient::WebSocket(ws::Client::resume(self.message_limits(), self.draw_seed()))
            }
            IdleState::Events(body) => {
                let limits = self.event_limits();
                MessageClient::Events(sse::Client::resume(limits, body, self.last_id(slot)))
            }
            IdleState::Raw => {
                MessageClient::Raw(raw::Client::resume(self.answer_bytes_max(), self.keeps_messages))
            }
            IdleState::Datagrams => MessageClient::Datagrams(datagram::Client::resume(self.keeps_messages)),
        }
    }

    /// The limits on a response.
    pub(crate) const fn limits(&self) -> Limits {
        self.limits
    }

    /// Takes an instance for a slot that has none.
    #[cold]
    pub(crate) fn take(&mut self) -> Box<ConnIo> {
        self.spare.pop().unwrap_or_else(|| Box::new(ConnIo::new(self.limits)))
    }

    /// Returns an instance to the pool. It must have no requests and no timer left.
    pub(crate) fn put(&mut self, mut io: Box<ConnIo>) {
        if !io.machine.is_http1() {
            io.machine = Machine::http1(self.limits);
        }
        if self.spare.len() < SPARE_MAX && io.machine.is_idle_http1() && !io.unflushed {
            self.spare.push(io);
        }
    }
}
