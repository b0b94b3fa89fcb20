//! [`measure_pair`]: all measurements of a pair, one after the other.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wavetank_netbench::{Direction, NetSettings, NetTest, Token};
use wavetank_record::{NetFailureDoc, NetLinkDoc, NetPairDoc};
use wavetank_units::{Code, UserError};

use super::NetClient;

/// A pair, and how it is measured.
pub struct PairContext<'a> {
    /// Name of this host.
    pub from: &'a str,
    /// Name of the server's host.
    pub to: &'a str,
    /// The server.
    pub server: SocketAddr,
    /// Its token.
    pub token: &'a Token,
    /// Version of this program.
    pub version: &'a str,
    /// What is measured.
    pub settings: &'a NetSettings,
    /// Gets what is being measured.
    pub progress: &'a mut dyn FnMut(&str),
    /// Set when the measurements are to end early.
    pub stop: &'a Arc<AtomicBool>,
    /// Called when the first measurement is ready to start; it returns when it may.
    pub wait_for_start: &'a mut dyn FnMut(),
    /// Directions of TCP throughput, each by itself, and both if there are two.
    pub directions: &'a [Direction],
}

/// The result of a pair.
#[derive(Clone, Debug)]
pub struct MeasuredPair {
    /// What was measured, and what failed.
    pub doc: NetPairDoc,
    /// Why there was no connection at all; it is in the result, too.
    pub connect_error: Option<UserError>,
}

/// Makes all measurements. What fails is in the result; the measurements after it are made, unless
/// the server is gone.
pub fn measure_pair(context: &mut PairContext<'_>) -> MeasuredPair {
    let mut doc = NetPairDoc {
        from: context.from.to_owned(),
        to: context.to.to_owned(),
        address: context.server.to_string(),
        ..NetPairDoc::default()
    };
    let mut client = match NetClient::connect(context.server, context.token, context.version) {
        Ok(client) => client.with_stop(Arc::clone(context.stop)),
        Err(error) => {
            doc.failures.push(failure("connect", error.clone()));
            return MeasuredPair { doc, connect_error: Some(error) };
        }
    };
    doc.server_version.clone_from(&client.server_version);
    let named = [context.from, context.to].into_iter().zip(client.links.clone());
    doc.links = named.map(|(host, link)| NetLinkDoc { host: host.to_owned(), ..link }).collect();
    for test in context.settings.tests.clone() {
        (context.progress)(test.name());
        let before = doc.clone();
        let measured = measure(&mut client, test, context, &mut doc);
        if context.stop.load(Ordering::Relaxed) {
            // A measurement that was cut short is none.
            return MeasuredPair { doc: before, connect_error: None };
        }
        let Err(error) = measured else { continue };
        let is_gone = error.code == Code::NetPeerGone;
        doc.failures.push(failure(test.name(), error));
        if is_gone {
            break;
        }
    }
    MeasuredPair { doc, connect_error: None }
}

fn failure(test: &str, error: UserError) -> NetFailureDoc {
    let UserError { code, message, hint, .. } = error;
    NetFailureDoc { test: test.to_owned(), code: code.as_str().to_owned(), message, hint }
}

fn measure(
    client: &mut NetClient,
    test: NetTest,
    context: &mut PairContext<'_>,
    doc: &mut NetPairDoc,
) -> Result<(), UserError> {
    let duration = context.settings.duration;
    match test {
        NetTest::Tcp => {
            let singles = context.directions.iter().map(std::slice::from_ref);
            let both = (context.directions.len() > 1).then_some(context.directions);
            let all: Vec<&[Direction]> = singles.chain(both).collect();
            for &streams in &context.settings.streams {
                for directions in &all {
                    let measured =
                        client.measure_tcp(directions, streams, duration, context.wait_for_start)?;
                    doc.tcp.extend(measured);
                }
            }
        }
        NetTest::RequestResponse => doc.rr = Some(client.measure_round_trips(duration)?),
        NetTest::Connect => doc.connect = Some(client.measure_connects(duration)?),
        NetTest::Sizes => doc.sizes = Some(client.measure_sizes(duration)?),
        NetTest::Udp => {
            let rate = Some(context.settings.udp_bits_per_s);
            for flow in [(NetSettings::UDP_BYTES, rate), (NetSettings::SMALL_BYTES, None)] {
                for direction in [Direction::Forward, Direction::Reverse] {
                    doc.udp.push(client.measure_udp(direction, flow, duration)?);
                }
            }
        }
        NetTest::Mtu => doc.mtu = Some(client.measure_mtu()?),
    }
    Ok(())
}
