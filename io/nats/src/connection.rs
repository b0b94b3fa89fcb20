//! [`Connection`]: one connection to the broker, from its greeting to its end.

use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event, HeaderMap, Message, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::broker::Broker;
use crate::broker_thread::Side;
use crate::outbox::{Content, Outbox, Outgoing, Waiting};
use crate::packet::{ORIGIN, Origin, PACKET, Packet};

/// Time limit for a connection, with its TLS.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// A silent broker is given up after three of these.
const PING_EVERY: Duration = Duration::from_secs(2);
/// How often a side looks at what is due.
const TICK: Duration = Duration::from_secs(1);
/// Time limit for the last messages of a link.
const FAREWELL_MAX: Duration = Duration::from_secs(1);
/// Most bytes of a part. The broker's own limit is lower if it was set so.
const PART_BYTES_MAX: usize = 512 << 10;
/// Bytes of the headers of a part, at most.
const HEADER_BYTES: usize = 1 << 10;
/// Messages that wait between the socket and this link: 256 MiB of parts.
const ARRIVED_MAX: usize = 512;
/// Messages that wait between this link and the socket.
const LEAVING_MAX: usize = 32;
/// Events of the client that wait. One that ends the connection is among the first.
const EVENTS_MAX: usize = 64;

/// A connection that the broker accepted.
pub(crate) struct Connection {
    client: Client,
    subscriber: Subscriber,
    events: Receiver<Event>,
    origin: Origin,
    part_bytes: usize,
    lines: u64,
}

/// How a connection ended.
pub(crate) struct End {
    /// Why, as one line; `None`: the link is to end.
    pub(crate) reason: Option<String>,
    /// Whether a message arrived on it.
    pub(crate) heard: bool,
}

impl Connection {
    /// Connects and subscribes to `subject`.
    ///
    /// # Errors
    /// The reason, as one line.
    pub(crate) async fn open(broker: &Broker, subject: String, origin: Origin) -> Result<Self, String> {
        let url = &broker.url;
        let (sender, events) = channel(EVENTS_MAX);
        let options = ConnectOptions::with_nkey(broker.key.seed().to_owned())
            .require_tls(true)
            .tls_client_config(broker.tls.clone())
            .connection_timeout(CONNECT_MAX)
            .ping_interval(PING_EVERY)
            .subscription_capacity(ARRIVED_MAX)
            .client_capacity(LEAVING_MAX)
            .ignore_discovered_servers()
            // The client would reconnect by itself and send what waited for the old connection.
            .max_reconnects(1)
            .event_callback(move |event| {
                let _ = sender.try_send(event);
                std::future::ready(())
            });
        let failed = |reason: &dyn std::fmt::Display| format!("cannot reach the broker {url}: {reason}");
        let client = options.connect(url.as_str()).await.map_err(|error| failed(&error))?;
        let subscriber = client.subscribe(subject).await.map_err(|error| failed(&error))?;
        client.flush().await.map_err(|error| failed(&error))?;
        let payload_max = client.server_info().max_payload;
        let part_bytes = payload_max.saturating_sub(HEADER_BYTES).min(PART_BYTES_MAX);
        if part_bytes == 0 {
            return Err(failed(&format_args!("its max_payload is only {payload_max} bytes")));
        }
        Ok(Self { client, subscriber, events, origin, part_bytes, lines: 0 })
    }

    /// Most bytes of data in a message.
    pub(crate) const fn part_bytes(&self) -> usize {
        self.part_bytes
    }

    /// Passes messages on until the connection ends or `stop` completes.
    pub(crate) async fn serve(
        self,
        side: &mut impl Side,
        (outbox, waiting): (&Outbox, Waiting),
        stop: impl Future<Output = ()>,
    ) -> End {
        let Self { client, subscriber, events, origin, part_bytes, lines } = self;
        let mut writer = Writer { client: client.clone(), origin, part_bytes, lines };
        let mut heard = false;
        let lost = side.lost();
        let reason = tokio::select! {
            reason = read(subscriber, side, outbox, &mut heard) => Some(reason),
            reason = writer.write_all(waiting) => Some(reason),
            reason = watch(events, &lost) => Some(reason),
            () = stop => None,
        };
        if reason.is_none() {
            let farewell = async {
                let mut writer = Writer { client: client.clone(), origin, part_bytes, lines: u64::MAX };
                for outgoing in side.farewells() {
                    let _ = writer.write(outgoing).await;
                }
                let _ = client.flush().await;
            };
            // The other end notices the silence, too.
            let _ = timeout(FAREWELL_MAX, farewell).await;
        }
        End { reason, heard }
    }
}

/// Hears messages. Returns why there are no more.
async fn read(mut subscriber: Subscriber, side: &mut impl Side, outbox: &Outbox, heard: &mut bool) -> String {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            message = subscriber.next() => match message {
                Some(message) => {
                    *heard = true;
                    pass(&message, side, outbox);
                }
                None => return "the broker ended the subscription".to_owned(),
            },
            _ = ticks.tick() => side.tick(outbox),
        }
    }
}

/// Passes a message on. One without our headers is foreign, and ignored.
fn pass(message: &Message, side: &mut impl Side, outbox: &Outbox) {
    let Some(headers) = &message.headers else { return };
    let (Some(origin), Some(packet)) = (headers.get(ORIGIN), headers.get(PACKET)) else { return };
    let (Ok(origin), Ok(packet)) = (origin.as_str().parse::<Origin>(), packet.as_str().parse::<Packet>())
    else {
        return;
    };
    side.handle(&message.subject, origin, (packet, &message.payload), outbox);
}

/// Waits for an event that ends the connection. Returns why.
async fn watch(mut events: Receiver<Event>, lost: &impl Fn()) -> String {
    while let Some(event) = events.recv().await {
        match event {
            Event::Disconnected | Event::Closed => break,
            Event::ServerError(error) => return format!("the broker refused: {error}"),
            Event::ClientError(error) => return format!("the connection failed: {error}"),
            Event::SlowConsumer(_) => lost(),
            Event::Connected | Event::LameDuckMode | Event::Draining => {}
        }
    }
    "the connection to the broker was lost".to_owned()
}

/// Sends messages, long lines in parts.
struct Writer {
    client: Client,
    origin: Origin,
    part_bytes: usize,
    /// Lines that were sent.
    lines: u64,
}

impl Writer {
    async fn write_all(&mut self, mut waiting: Waiting) -> String {
        while let Some(outgoing) = waiting.next().await {
            if let Err(reason) = self.write(outgoing).await {
                return reason;
            }
        }
        // The sender is part of the link, so it goes last.
        std::future::pending().await
    }

    async fn write(&mut self, outgoing: Outgoing) -> Result<(), String> {
        let Outgoing { subject, content, data } = outgoing;
        let data = Bytes::from(data);
        let mut plan = match content {
            Content::Packet(packet) => return self.publish(subject, &packet, data).await,
            Content::Line(plan) => plan,
        };
        self.lines = self.lines.wrapping_add(1);
        let of = u32::try_from(data.len().div_ceil(self.part_bytes).max(1)).unwrap_or(u32::MAX);
        for index in 0..of {
            let from = index as usize * self.part_bytes;
            let part = data.slice(from..data.len().min(from + self.part_bytes));
            // The last part has the plan's name: the line is complete with it.
            let plan = if index + 1 == of { plan.take() } else { None };
            let packet = Packet::Part { number: self.lines, index, of, plan };
            self.publish(subject.clone(), &packet, part).await?;
        }
        Ok(())
    }

    async fn publish(&self, subject: String, packet: &Packet, data: Bytes) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        headers.insert(ORIGIN, self.origin.to_string());
        headers.insert(PACKET, packet.to_string());
        let published = self.client.publish_with_headers(subject, headers, data).await;
        published.map_err(|error| format!("the connection failed: {error}"))
    }
}
