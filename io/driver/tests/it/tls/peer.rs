//! Plans, certificates, and a driver with TLS on the test bench.

use std::sync::Arc;

use wavetank_driver::{
    Clock, ConnId, Dial, DialTls, Driver, DriverConfig, Tls, TlsClient, TlsServer, TlsServerOptions,
};
use wavetank_plan::TlsPlan;

use crate::suite::bench::{Bench, Heard};

pub(crate) type TlsBench<D> = Bench<Tls<D>>;

/// Returns the plan of a client that accepts any certificate.
pub(crate) fn trusting() -> TlsPlan {
    TlsPlan::for_tests(&[])
}

/// Returns the plan of a client that trusts `server`.
pub(crate) fn trusting_in(server: &TlsServer) -> TlsPlan {
    TlsPlan { verify: true, ca_pem: Some(server.chain_pem().to_vec()), ..trusting() }
}

/// Returns the client side of `plan`, for servers called `localhost`.
pub(crate) fn client(plan: &TlsPlan) -> Arc<TlsClient> {
    client_of(plan, "localhost")
}

/// As [`client`], for servers called `name`.
pub(crate) fn client_of(plan: &TlsPlan, name: &str) -> Arc<TlsClient> {
    Arc::new(TlsClient::new(plan, &[name.to_owned()]).expect("a good plan"))
}

/// Returns a server with a self-signed certificate for `localhost` and 127.0.0.1.
pub(crate) fn server(options: &TlsServerOptions) -> Arc<TlsServer> {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    Arc::new(TlsServer::self_signed(&names, options).expect("good options"))
}

/// Returns a bench with a driver that has these sides.
pub(crate) fn bench<D: Driver>(
    client: Option<Arc<TlsClient>>,
    server: Option<Arc<TlsServer>>,
) -> TlsBench<D> {
    let setup = DriverConfig::small(Clock::starting_now());
    Bench::of(Tls::wrap(D::new(&setup).expect("a driver"), client, server))
}

/// Returns a dial to `to` with the first server name and the sessions of user `session`.
pub(crate) fn dial_tls(to: std::net::SocketAddr, session: u32) -> Dial {
    Dial { tls: Some(DialTls { name: 0, session }), ..Dial::plain(to) }
}

/// Connects one driver to itself, handshake included. Returns both ends: the client's, the
/// server's.
pub(crate) fn pair<D: Driver>(
    bench: &mut TlsBench<D>,
    at: std::net::SocketAddr,
    session: u32,
) -> (ConnId, ConnId) {
    let client = bench.driver.connect(&dial_tls(at, session)).expect("loopback connects");
    let mut server = None;
    let (mut connected, mut secured) = (false, 0);
    while secured < 2 {
        match bench.hear() {
            Heard::Connected(conn) if conn == client => connected = true,
            Heard::Accepted(conn) => server = Some(conn),
            Heard::Secured(conn) => {
                assert!(connected && (conn == client || Some(conn) == server));
                secured += 1;
            }
            other => panic!("heard {other:?}"),
        }
    }
    (client, server.expect("accepted"))
}

/// Makes drivers with delayed sends send now.
pub(crate) fn flush<D: Driver>(bench: &mut TlsBench<D>) {
    let now = bench.clock.now();
    bench.driver.wait(now).expect("waiting works");
}
