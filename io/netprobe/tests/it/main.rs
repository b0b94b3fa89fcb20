//! Both ends on the loopback.

mod measurements;
mod refusals;

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_netbench::{Direction, NetSettings, NetTest, Token};
use wavetank_netprobe::{NetServer, PairContext, ServerLimits, measure_pair};
use wavetank_record::NetPairDoc;
use wavetank_units::Nanos;

const VERSION: &str = "0.0.1";

/// A server on the loopback, with a token.
fn server(peers: usize) -> (NetServer, Token) {
    let token = Token::from_random([9; 16]);
    let limits = ServerLimits { peers, lasts: Nanos::from_secs(60) };
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = NetServer::start(listen, token.clone(), VERSION, limits).expect("a port is free");
    (server, token)
}

/// Makes these measurements, 200 ms each.
fn measure(server: SocketAddr, token: &Token, tests: &[NetTest]) -> NetPairDoc {
    let settings = NetSettings {
        tests: tests.to_vec(),
        streams: vec![1, 3],
        duration: Nanos::from_millis(200),
        udp_bits_per_s: 5_000_000,
    };
    measure_pair(&mut PairContext {
        from: "here",
        to: "there",
        server,
        token,
        version: VERSION,
        settings: &settings,
        progress: &mut |_| {},
        stop: &Arc::default(),
        wait_for_start: &mut || {},
        directions: &[Direction::Forward, Direction::Reverse],
    })
    .doc
}
