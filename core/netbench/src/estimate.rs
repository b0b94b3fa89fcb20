//! How long measurements take.

use crate::{NetSettings, NetTest};

/// Seconds to connect and to end a test.
const OVERHEAD_S: f64 = 0.3;
/// Seconds of the search for the MTU, if no packet is lost.
const MTU_S: f64 = 1.0;

/// Returns the seconds that a pair takes.
pub fn pair_seconds(settings: &NetSettings) -> f64 {
    let duration = settings.duration.as_secs_f64();
    let runs = |test: NetTest| match test {
        // Forward, reverse, and both, for each number of streams.
        NetTest::Tcp => 3.0 * settings.streams.len() as f64,
        NetTest::RequestResponse | NetTest::Connect | NetTest::Sizes => 1.0,
        // At the rate and as fast as possible, forward and reverse.
        NetTest::Udp => 4.0,
        NetTest::Mtu => 0.0,
    };
    let seconds = |&test: &NetTest| match test {
        NetTest::Mtu => MTU_S,
        test => runs(test) * (duration + OVERHEAD_S),
    };
    settings.tests.iter().map(seconds).sum()
}

/// Returns the seconds of this number of rounds, and of a measurement of many to one with this
/// number of senders (0: none), which first takes each sender by itself.
pub fn total_seconds(settings: &NetSettings, rounds: usize, senders: usize) -> f64 {
    let measurements = if senders == 0 { 0 } else { senders + 1 };
    let each = settings.duration.as_secs_f64() + 2.0 * OVERHEAD_S;
    rounds as f64 * pair_seconds(settings) + measurements as f64 * each
}

#[cfg(test)]
mod tests {
    use wavetank_units::Nanos;

    use super::*;

    #[test]
    fn the_estimate_follows_the_settings() {
        let duration = Nanos::from_secs(10);
        let settings = |tests: &[NetTest], streams: &[u32]| NetSettings {
            tests: tests.to_vec(),
            streams: streams.to_vec(),
            duration,
            ..NetSettings::default()
        };
        let check = |settings: &NetSettings, expected: f64| {
            assert!((pair_seconds(settings) - expected).abs() < 0.01, "{settings:?}");
        };
        check(&settings(&[NetTest::Tcp], &[1]), 30.9);
        check(&settings(&[NetTest::Tcp], &[1, 4]), 61.8);
        check(&settings(&[NetTest::Mtu], &[1]), 1.0);
        check(&settings(&[NetTest::Udp, NetTest::RequestResponse], &[1]), 51.5);
        let tcp = settings(&[NetTest::Tcp], &[1]);
        assert!((total_seconds(&tcp, 2, 0) - 61.8).abs() < 0.01);
        assert!((total_seconds(&tcp, 0, 3) - 42.4).abs() < 0.01);
    }
}
