//! [`Part`]: the requests on the connections, and [`Scene`]: their number and how they open and
//! close.

use std::net::SocketAddr;

use clap::ValueEnum;

use crate::engine::Engine;

/// First bytes of the source addresses, which no other socket in the namespace uses.
pub(super) const SOURCES: [u8; 2] = [127, 1];
/// One of them, and all of them.
pub(super) const SOURCE: &str = "127.1.0.1";
const ALL_SOURCES: &str = "127.1.0.0/16";
/// Most seconds of silence that are observed.
const SILENCE_S: usize = 40;
/// Seconds within which all simultaneous requests must be answered.
pub(super) const BURST_S: usize = 25;
/// Requests per second once all connections are open.
const ASKED_PER_SECOND: usize = 55_000;
/// Seconds in addition to the plan: for starting, the last responses and closing sockets.
const GRACE_S: usize = 60;

/// The requests on the connections while they are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// A request on each, again and again.
    Heartbeat,
    /// No requests.
    Silence,
    /// One request on each as soon as the last one is open, as fast as both ends can.
    Burst,
    /// The number of connections that `size` estimates for one source address.
    Ports,
}

impl Part {
    pub(super) const ALL: [Self; 4] = [Self::Heartbeat, Self::Silence, Self::Burst, Self::Ports];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Heartbeat => "heartbeat",
            Self::Silence => "silence",
            Self::Burst => "burst",
            Self::Ports => "ports",
        }
    }
}

/// The numbers of one part.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) part: Part,
    pub(super) engine: Engine,
    /// Number of simultaneously held connections.
    pub(super) connections: usize,
    /// Opened per second.
    pub(super) open_rate: usize,
    /// Seconds for which heartbeats are observed.
    pub(super) hold_s: usize,
    /// Seconds between two heartbeats of one connection.
    pub(super) beat_s: usize,
    /// Address of the target.
    pub(super) address: SocketAddr,
}

impl Scene {
    /// Returns the title of the numbers.
    pub(super) fn title(&self) -> String {
        let Self { connections, engine, .. } = self;
        match self.part {
            Part::Heartbeat => {
                format!("{connections} with a request each {} s, {}", self.beat_s, engine.name())
            }
            Part::Silence => format!("{connections} in silence, {}", engine.name()),
            Part::Burst => format!("{connections} each asked once, {}", engine.name()),
            Part::Ports => format!("{connections} of one source address, {}", engine.name()),
        }
    }

    /// Returns the seconds for which all connections are held.
    pub(super) fn keep_s(&self) -> usize {
        match self.part {
            Part::Heartbeat => self.hold_s,
            Part::Silence => self.hold_s.min(SILENCE_S),
            Part::Burst => self.hold_s.min(BURST_S + 5),
            Part::Ports => self.hold_s.min(2),
        }
    }

    /// Returns the seconds over which the requests are spread. The load drops a request that would
    /// wait in it for longer than a second, and reports that it fell behind its schedule. Fully
    /// simultaneous requests would wait that long.
    pub(super) fn spread_s(&self) -> usize {
        self.connections.div_ceil(ASKED_PER_SECOND)
    }

    /// Returns the experiment file, without its version. Connections close twice as fast as they
    /// open, and by reset, which leaves none in TIME-WAIT.
    pub(super) fn text(&self) -> String {
        let Self { connections, open_rate, beat_s, .. } = self;
        let steps = match self.part {
            Part::Heartbeat => format!("steps: [{{get: /}}, {{think: {beat_s}s}}]\n"),
            Part::Silence | Part::Ports => String::new(),
            Part::Burst => format!(
                "steps: [{{rendezvous: all, wait: {}s}}, {{think: 0s to {}s}}, {{get: /}}, {{think: 1h}}]\n",
                self.limit_s(),
                self.spread_s()
            ),
        };
        let sources = if self.part == Part::Ports { SOURCE } else { ALL_SOURCES };
        format!(
            "name: {}\ntarget: http://{}\nsources: [{sources}]\nhttp: {{timeout: {}s, close: rst}}\n{steps}phases:\n  \
             - {{name: open, hold: 0 to {connections}, at: {open_rate}/s}}\n  \
             - {{name: keep, hold: {connections}, for: {}s}}\n  \
             - {{name: close, hold: {connections} to 0, at: {}/s}}\n",
            self.part.name(),
            self.address,
            2 * BURST_S,
            self.keep_s(),
            2 * open_rate
        )
    }

    /// Returns the longest duration of the part in seconds.
    pub(super) fn limit_s(&self) -> usize {
        // Opening and closing take one and a half times the planned opening. The same time again is
        // a reserve.
        3 * self.connections.div_ceil(self.open_rate) + self.keep_s() + GRACE_S
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_what_is_done() {
        let address = SocketAddr::from(([127, 0, 0, 1], 80));
        let check = |part, expected: &str| {
            let scene = Scene {
                part,
                engine: Engine::Uring,
                connections: 1_000,
                open_rate: 100,
                hold_s: 120,
                beat_s: 60,
                address,
            };
            let text = scene.text();
            assert!(text.contains(expected), "{text}");
            assert!(text.contains("hold: 1000 to 0, at: 200/s"), "{text}");
        };
        check(Part::Heartbeat, "steps: [{get: /}, {think: 60s}]\nphases:");
        check(Part::Heartbeat, "hold: 1000, for: 120s");
        check(Part::Silence, "close: rst}\nphases:");
        check(Part::Silence, "hold: 1000, for: 40s");
        check(Part::Ports, "sources: [127.1.0.1]\nhttp: {timeout: 50s, close: rst}\nphases:");
        check(Part::Burst, "{rendezvous: all, wait: 120s}, {think: 0s to 1s}, {get: /}");
    }
}
