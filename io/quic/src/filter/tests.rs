//! What a client does by time, which these tests set.

use std::net::Ipv4Addr;
use std::time::Duration;

use quinn_proto::{IdleTimeout, ServerConfig, TransportConfig};
use wavetank_driver::{Clock, DriverConfig, Epoll, TlsServer, TlsServerOptions};
use wavetank_plan::TlsPlan;

use super::*;
use crate::config::KEEP_ALIVE;
use crate::listener::QuicListener;

/// More turns than any exchange here takes, each of at most 10 ms.
const TURNS_MAX: u32 = 6_000;
const TURN: Nanos = Nanos::from_millis(10);

/// Returns a client with a connection to a server that announces this idle timeout, and the instant
/// at which the last packet arrived. Nothing is in flight.
fn settled(idle_timeout: Duration) -> (Quic<Epoll>, Nanos) {
    let clock = Clock::starting_now();
    let names = ["localhost".to_owned()];
    let tls = TlsServer::self_signed(&names, &TlsServerOptions::default()).expect("a certificate");
    let mut config = ServerConfig::clone(&config::server(&tls).expect("it has the cipher").0);
    let mut transport = TransportConfig::default();
    transport.max_idle_timeout(Some(IdleTimeout::try_from(idle_timeout).expect("a short time")));
    config.transport_config(Arc::new(transport));
    let mut server = QuicListener::with_config(clock, config::server_endpoint(&tls), Some(Arc::new(config)));
    let (_, address) = server.listen((Ipv4Addr::LOCALHOST, 0).into()).expect("a free port");
    let plan = TlsPlan::for_tests(&["h3"]);
    let tls = Arc::new(TlsClient::new(&plan, &names).expect("a good plan"));
    let inner = Epoll::new(&DriverConfig::small(clock)).expect("a driver");
    let mut client = Quic::wrap(inner, Some(tls)).expect("it has the cipher");
    let tls = Some(DialTls { name: 0, session: 0 });
    let conn = client.connect(&Dial { tls, ..Dial::plain(address) }).expect("it begins");
    for _ in 0..TURNS_MAX {
        client.wait(clock.now().after(TURN)).expect("it waits");
        while client.next().is_some() {}
        server.wait(clock.now()).expect("it waits");
        while server.next().is_some() {}
        let now = client.instants.now();
        let entry = client.get(conn).expect("it is open");
        let next = entry.quic.connection.poll_timeout();
        // Timers of loss detection fire much earlier than that of the library's PING.
        if let Some(next) = next.filter(|next| entry.quic.is_connected && *next > now + KEEP_ALIVE / 2) {
            let arrived = next.checked_sub(KEEP_ALIVE).expect("it is that of the PING");
            let arrived = client.instants.nanos(arrived);
            return (client, arrived);
        }
    }
    panic!("it is never silent");
}

/// A client is silent for a third of the time after which its server would close the connection.
#[test]
fn silent_connections_are_kept_from_their_idle_timeout() {
    let (mut client, arrived) = settled(Duration::from_secs(18));
    let sent = client.packets.sent;
    client.expire(arrived.after(Nanos::from_millis(5_900)));
    assert_eq!(client.packets.sent, sent, "it is early");
    client.expire(arrived.after(Nanos::from_millis(6_100)));
    // A probe may follow, because the PING is not acknowledged by then.
    assert!(client.packets.sent > sent, "a PING");
}
