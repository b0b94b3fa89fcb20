//! The count of QUIC handshakes.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::crypto::rustls::QuicClientConfig;
use wavetank_driver::DialTls;
use wavetank_plan::TlsResume;
use wavetank_target::Server;
use wavetank_testkit::poll_until;

use crate::serve::http3_client::{Http3Client, client_tls, serve_http3};

/// Waits until the server has counted these handshakes: full, resumed and failed ones.
#[track_caller]
fn expect(server: &Server, expected: [u64; 3]) {
    let counted = || {
        let counts = server.truth().handshakes;
        [counts.full, counts.resumed, counts.failed]
    };
    poll_until(Duration::from_mins(1), || (counted() == expected).then_some(()));
    assert_eq!(counted(), expected);
}

#[test]
fn handshakes_are_counted_by_kind() {
    let (server, at) = serve_http3();
    let (tls, sessions) = client_tls(false, TlsResume::Shared).quic_configs().remove(0);
    let tls = Arc::new(QuicClientConfig::try_from(tls).expect("its cipher"));
    sessions.select(DialTls { name: 0, session: 0 });
    let mut first = Http3Client::connect_with(at, &tls);
    first.turn_until(|_| sessions.has_ticket());
    expect(&server, [1, 0, 0]);
    let _second = Http3Client::connect_with(at, &tls);
    expect(&server, [1, 1, 0]);
    let (tls, _) = client_tls(true, TlsResume::Never).quic_configs().remove(0);
    let mut third = Http3Client::dial(at, &Arc::new(QuicClientConfig::try_from(tls).expect("its cipher")));
    third.turn_until(|client| client.has_ended);
    expect(&server, [1, 1, 1]);
    assert_eq!(server.truth().connections.accepted, 3);
}
