//! [`BrokerThread`]: keeps one end of a link connected to the broker.

use std::io::Result;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::broker::Broker;
use crate::connection::{Connection, End};
use crate::outbox::{Outbox, Outgoing};
use crate::packet::{Origin, Packet};

/// After a first failure the next attempt is made this much later.
const RETRY_FIRST: Duration = Duration::from_millis(250);
/// Longest time between two attempts.
const RETRY_MAX: Duration = Duration::from_secs(4);

/// What one end of a link does with its connections. No method waits.
pub(crate) trait Side: Send + 'static {
    /// A connection to the broker is there. `part_bytes` is the limit of data in a message.
    fn connected(&mut self, outbox: &Outbox, part_bytes: usize);
    /// A message arrived.
    fn handle(&mut self, subject: &str, origin: Origin, message: (Packet, &[u8]), outbox: &Outbox);
    /// A second has passed.
    fn tick(&mut self, outbox: &Outbox);
    /// The connection ended.
    fn disconnected(&mut self, reason: &str);
    /// An attempt to connect failed.
    fn unreachable(&mut self, reason: &str);
    /// The last messages of a link that ends.
    fn farewells(&mut self) -> Vec<Outgoing>;
    /// Counts a message that the client dropped.
    fn lost(&self) -> impl Fn() + Send + 'static;
}

/// The thread of a link, with its async runtime. Dropping it ends both.
#[derive(Debug)]
pub(crate) struct BrokerThread {
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl BrokerThread {
    /// Connects again and again for `side`, which hears `subject`. An outbox holds at most
    /// `messages_max` messages.
    ///
    /// # Errors
    /// If the system has no thread, no files or no random bytes for it.
    pub(crate) fn start(
        broker: Broker,
        subject: String,
        messages_max: usize,
        mut side: impl Side,
    ) -> Result<Self> {
        let (stop, stopped) = watch::channel(false);
        let instance = getrandom::u64().map_err(std::io::Error::other)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let run = move || {
            let origin = Origin { instance, connection: 0 };
            runtime.block_on(connect_forever(&broker, subject, (messages_max, origin), &mut side, stopped));
            // A look-up of a name may hang in a thread of the runtime.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("nats".to_owned()).spawn(run)?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for BrokerThread {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
    }
}

async fn connect_forever(
    broker: &Broker,
    subject: String,
    (messages_max, mut origin): (usize, Origin),
    side: &mut impl Side,
    stopped: watch::Receiver<bool>,
) {
    let mut retry = RETRY_FIRST;
    loop {
        origin.connection += 1;
        let opened = tokio::select! {
            opened = Connection::open(broker, subject.clone(), origin) => opened,
            () = until(stopped.clone()) => return,
        };
        match opened {
            Err(reason) => side.unreachable(&one_line(&reason)),
            Ok(connection) => {
                let (outbox, waiting) = Outbox::new(messages_max);
                side.connected(&outbox, connection.part_bytes());
                let stop = until(stopped.clone());
                let End { reason, heard } = connection.serve(side, (&outbox, waiting), stop).await;
                let Some(reason) = reason else { return };
                side.disconnected(&one_line(&reason));
                if heard {
                    retry = RETRY_FIRST;
                }
            }
        }
        if timeout(retry, until(stopped.clone())).await.is_ok() {
            return;
        }
        retry = (retry * 2).min(RETRY_MAX);
    }
}

/// Completes when the link is to end.
async fn until(mut stopped: watch::Receiver<bool>) {
    // Without a sender the link has ended, too.
    drop(stopped.wait_for(|stopped| *stopped).await);
}

/// The first line of a text of the broker or of a library.
fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(400).collect()
}
