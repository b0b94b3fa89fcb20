//! The end of a thread that holds very many connections.

use wavetank_driver::{Driver, Event};
use wavetank_plan::{Close, Nanos};

use super::Worker;
use crate::truth::{CloseKind, Counts};

/// Up to so many connections of a thread are left to their driver's end, which closes them by FIN.
const FEW: usize = 1_000;
/// Connections that are reset together.
const RESETS_AT_ONCE: usize = 512;

impl<D: Driver> Worker<D> {
    /// The end of a server that holds very many. What its driver would close when it goes would be closed by FIN: each
    /// client would have to answer that, and each connection would be kept for a minute after (`TIME_WAIT`), more of
    /// them than the kernel keeps. Reset, nothing remains of them.
    ///
    /// First nobody is accepted any more, lest those who lost their connections come back to a server that is going. Then
    /// a bounded number at a time: what closing them takes of queues and memory is bounded, too.
    pub(super) fn end(&mut self, counts: &Counts) {
        if self.connections.len() <= FEW {
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
            // Who was accepted before is told of now, and is closed in the next round.
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
