//! [`Outbox`]: messages that wait for a connection, and the thread that writes them.

use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use crate::in_process::Closed;
use crate::queue::{NotQueued, Queue};
use crate::stop::Stop;

/// Most messages that wait for one connection.
const MESSAGES_MAX: usize = 1_024;
/// Messages with this many bytes together wait for one connection; further ones are lost.
const BYTES_MAX: usize = 64 << 20;
/// Bytes that are written together.
const WRITE_BYTES: usize = 64 << 10;
/// Bytes of a message without attached data, roughly.
pub(crate) const MESSAGE_BYTES: usize = 512;

/// Messages that wait for one connection.
#[derive(Debug)]
pub(crate) struct Outbox<T> {
    queue: Queue<T>,
    overflowed: Arc<AtomicU64>,
}

impl<T: Send + 'static> Outbox<T> {
    /// Starts the thread that writes messages to `out`. It ends, and stops the connection, when the
    /// outbox is closed or `out` accepts nothing more. `encode` writes a message with its newline.
    pub(crate) fn start<W: Write + Send + 'static>(
        out: W,
        encode: impl Fn(&T, &mut BufWriter<W>) -> std::io::Result<()> + Send + 'static,
        stop: Arc<Stop>,
        overflowed: Arc<AtomicU64>,
    ) -> std::io::Result<(Arc<Self>, JoinHandle<()>)> {
        let outbox = Arc::new(Self { queue: Queue::new(MESSAGES_MAX, BYTES_MAX), overflowed });
        let waiting = Arc::clone(&outbox);
        let write = move || {
            let mut out = BufWriter::with_capacity(WRITE_BYTES, out);
            while let Some(message) = waiting.queue.pop_until_closed() {
                let mut written = encode(&message, &mut out);
                if written.is_ok() && waiting.queue.is_empty() {
                    written = out.flush();
                }
                if written.is_err() {
                    break;
                }
            }
            waiting.close();
            stop.stop();
            // What is left in the buffer would wait for a connection that is of no use any more.
            drop(out.into_parts());
        };
        let thread = std::thread::Builder::new().name("link-writer".to_owned()).spawn(write)?;
        Ok((outbox, thread))
    }

    /// Appends a message with this many bytes of attached data, without waiting. A message to a
    /// full queue is lost and counted.
    ///
    /// # Errors
    /// If the connection has ended.
    pub(crate) fn send(&self, message: T, attached_bytes: usize) -> Result<bool, Closed> {
        match self.queue.try_push(message, MESSAGE_BYTES + attached_bytes) {
            Ok(()) => Ok(true),
            Err(NotQueued::Full) => {
                self.overflowed.fetch_add(1, Ordering::Relaxed);
                Ok(false)
            }
            Err(NotQueued::Closed) => Err(Closed),
        }
    }

    pub(crate) fn close(&self) {
        self.queue.close();
    }
}
