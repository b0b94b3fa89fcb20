//! [`EndpointJob`] and [`EndpointEvent`]: what a controller and an end of a measurement on another
//! host exchange over standard input and output, as lines of JSON.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use wavetank_record::NetPairDoc;
use wavetank_units::Nanos;

use crate::{Direction, NetSettings, NetTest, Token};

/// Port of a server, unless another one is named.
pub const DEFAULT_PORT: u16 = 7077;

/// What an end is to do, as its first line of input. The token is not in a command line, which
/// other users of the host could read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointJob {
    /// Serve until the input ends.
    Serve {
        /// The token.
        token: String,
        /// Address to listen on.
        listen: SocketAddr,
        /// How long at most, ms.
        millis: u64,
        /// Simultaneous clients.
        peers: usize,
    },
    /// Measure a pair.
    Measure(MeasureJob),
}

/// A pair to measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasureJob {
    /// The token.
    pub token: String,
    /// Name of the client's host.
    pub from: String,
    /// Name of the server's host.
    pub to: String,
    /// The server.
    pub server: SocketAddr,
    /// Names of the tests.
    pub tests: Vec<String>,
    /// Numbers of streams.
    pub streams: Vec<u32>,
    /// Duration of each measurement, ms.
    pub millis: u64,
    /// UDP rate, bits per second.
    pub udp_bits_per_s: u64,
    /// Directions of TCP throughput.
    pub directions: Vec<Direction>,
    /// Whether to report [`EndpointEvent::Ready`] and wait for a line before the first measurement.
    pub waits: bool,
}

/// What an end reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointEvent {
    /// The server listens.
    Serving(SocketAddr),
    /// The test that starts.
    Progress(String),
    /// The connections are open.
    Ready,
    /// The result.
    Pair(Box<NetPairDoc>),
    /// It cannot do the job.
    Failed {
        /// Stable name of the error.
        code: String,
        /// What is wrong.
        message: String,
    },
}

impl MeasureJob {
    /// A job with these settings.
    pub fn new(token: &Token, (from, to): (&str, &str), server: SocketAddr, settings: &NetSettings) -> Self {
        Self {
            token: token.text().to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            server,
            tests: settings.tests.iter().map(|test| test.name().to_owned()).collect(),
            streams: settings.streams.clone(),
            millis: (settings.duration.0 / 1_000_000).unsigned_abs(),
            udp_bits_per_s: settings.udp_bits_per_s,
            directions: vec![Direction::Forward, Direction::Reverse],
            waits: false,
        }
    }

    /// Returns the settings. Tests of a later version are left out.
    pub fn settings(&self) -> NetSettings {
        let find = |name: &String| NetTest::ALL.into_iter().find(|test| test.name() == name);
        NetSettings {
            tests: self.tests.iter().filter_map(find).collect(),
            streams: self.streams.clone(),
            duration: Nanos::from_millis(i64::try_from(self.millis).unwrap_or_default()),
            udp_bits_per_s: self.udp_bits_per_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_keeps_the_settings() {
        let settings = NetSettings { streams: vec![2, 8], ..NetSettings::default() };
        let token = Token::from_random([3; 16]);
        let server = SocketAddr::from(([10, 0, 0, 1], DEFAULT_PORT));
        let job = MeasureJob::new(&token, ("a", "b"), server, &settings);
        let text = serde_json::to_string(&EndpointJob::Measure(job.clone())).expect("plain data");
        assert_eq!(
            serde_json::from_str::<EndpointJob>(&text).expect("the same"),
            EndpointJob::Measure(job.clone())
        );
        assert_eq!(job.settings(), settings);
    }
}
