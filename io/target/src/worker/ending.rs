//! The end of a thread that holds very many connections.

use wavetank_driver::{Driver, Event};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use super::Worker;
use crate::truth::{CloseKind, Counts};

/// Up to this many connections of a thread are left to the driver, which closes them by FIN when it
/// ends.
const FEW: usize = 1_000;
/// Number of connections that are reset together.
const RESETS_AT_ONCE: usize = 512;

impl<D: Driver> Worker<D> {
    /// Closes the connections of a server that holds very many, by reset. The driver would close
    /// them by FIN when it ends. Each client would have to answer that, and each connection would
    /// stay in `TIME_WAIT` for a minute, more of them than the kernel keeps. After a reset, nothing
    /// remains.
    ///
    /// Accepting stops first, so that clients do not reconnect to a server that is ending. Then a
    /// limited number is closed at a time, which also bounds the queues and memory needed.
    pub(super) fn end(&mut self, counts: &Counts) {
        // No kernel closes connections of QUIC.
        if self.connections.len() <= FEW && !D::HAS_RECORDS {
            return;
        }
        self.driver.stop_accepting();
        let mut from = 0;
        loop {
            for _ in 0..RESETS_AT_ONCE {
                let Some(id) = self.connections.first_from(from) else { break };
                from = id.slot + 1;
                self.close_by(id, CloseKind::Closed, Close::Rst, counts);
            }
            // Connections accepted before are reported now, and are closed in the next round.
            if self.driver.wait(Nanos(i64::MIN)).is_err() {
                return;
            }
            while let Some(event) = self.driver.next() {
                if let Event::Accepted(_, id) = event {
                    counts.accepted.add(1);
                    counts.opened();
                    self.connections.insert(id);
                    from = from.min(id.slot);
                }
            }
            if self.connections.len() == 0 {
                return;
            }
        }
    }
}
