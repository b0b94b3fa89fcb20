//! Sends responses as far as clients accept them.

use wavetank_driver::{Driver, SendStatus};
use wavetank_units::Nanos;

use crate::connection::Connection;
use crate::filler::{FILLER_BYTES, filler};
use crate::outbox::Outbox;
use crate::truth::Counts;

/// Blocks of a long body sent together, before other clients get their turn.
const BLOCKS_PER_GO: usize = 4;

/// State of a connection after [`Worker::advance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// No response is pending.
    Clear,
    /// Waits until the client reads, or until the end of the turn.
    Waiting,
    /// More can be sent, after other clients had their turn.
    Runnable,
    /// The next response is due at this instant.
    Later(Nanos),
    /// The connection is broken.
    Broken,
}

/// Sends as much of a long body as the client accepts, up to the limit of one turn.
pub(super) fn send_body<D: Driver>(connection: &mut Connection, driver: &mut D, counts: &Counts) -> Done {
    for _ in 0..BLOCKS_PER_GO {
        let len = connection.body_left.min(FILLER_BYTES as u64);
        counts.bytes_sent.add(len);
        connection.body_left -= len;
        match driver.send(connection.id, &filler()[..len as usize]) {
            Ok(SendStatus::All) if connection.body_left == 0 => return Done::Clear,
            Ok(SendStatus::All) => {}
            Ok(SendStatus::Pending) => {
                connection.pending = true;
                return Done::Waiting;
            }
            Err(_) => return Done::Broken,
        }
    }
    Done::Runnable
}

/// Puts pending responses into the outbox: those that are due, up to one with a long body, and up
/// to the size limit of the outbox.
pub(super) fn render_owed(connection: &mut Connection, outbox: &mut Outbox, now: Nanos, counts: &Counts) {
    while let Some(due) = connection.owed.front() {
        let ready = due.at <= now && !due.answer.is_placeholder();
        if !ready || connection.body_left > 0 || outbox.is_full() {
            break;
        }
        connection.body_left = outbox.render(due, counts);
        connection.owed.pop_front();
    }
}
