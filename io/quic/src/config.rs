//! Configurations of connections.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, EndpointConfig, HashedConnectionIdGenerator, ServerConfig, TransportConfig, VarInt,
};
use wavetank_driver::{QuicSessions, QuicSignatures, TlsClient, TlsServer};

/// The window for all streams and for each one. A client that lets the server wait for its window
/// updates measures itself.
const RECEIVE_WINDOW: u32 = 1 << 30;
/// Bytes that may be sent without an acknowledgement.
const SEND_WINDOW: u64 = 8 << 20;
/// The most requests of a client at a time, of which a server is informed ahead.
const REQUESTS_MAX: u32 = 1_000;
/// Streams of the peer in one direction: control, QPACK, and unknown ones.
const UNI_STREAMS_MAX: u32 = 16;

/// A client sends a PING on a connection that was silent for this long, so that neither side closes
/// a held connection, which happens after 30 s by default. For servers with a shorter time there is
/// [`KeepAlive`](crate::keep_alive::KeepAlive).
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(10);

fn transport(requests_max: u32, keep_alive: Option<Duration>) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(requests_max.into())
        .max_concurrent_uni_streams(UNI_STREAMS_MAX.into())
        .stream_receive_window(RECEIVE_WINDOW.into())
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW))
        .send_window(SEND_WINDOW)
        .keep_alive_interval(keep_alive)
        // Its probes need sockets that forbid fragments.
        .mtu_discovery_config(None)
        .datagram_receive_buffer_size(None);
    Arc::new(transport)
}

/// Returns the configurations of a client's profiles, with their sessions. `None`: one has no
/// cipher that QUIC needs.
pub(crate) fn clients(tls: &TlsClient) -> Option<Vec<(ClientConfig, QuicSessions)>> {
    let transport = transport(0, Some(KEEP_ALIVE));
    let configs = tls.quic_configs().into_iter().map(|(config, sessions)| {
        let crypto = QuicClientConfig::try_from(config).ok()?;
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(Arc::clone(&transport));
        Some((config, sessions))
    });
    configs.collect()
}

/// Returns the configuration of the endpoint of a server. It resets the connections of an earlier
/// server with the same key, which it does not know (RFC 9000 §10.3). Otherwise their clients would
/// wait for their time-outs.
pub(crate) fn server_endpoint(tls: &TlsServer) -> EndpointConfig {
    let key = hmac::Key::new(hmac::HMAC_SHA256, tls.reset_secret());
    let mut id_key = [0; 8];
    id_key.copy_from_slice(&hmac::sign(&key, b"connection ids").as_ref()[..8]);
    let id_key = u64::from_le_bytes(id_key);
    let mut config = EndpointConfig::new(Arc::new(key));
    config
        .cid_generator(move || Box::new(HashedConnectionIdGenerator::from_key(id_key)))
        // All connections end at the same time. A reset is shorter than its cause, so there is no
        // exchange of resets without end.
        .min_reset_interval(Duration::ZERO);
    config
}

/// Returns the configuration of a server, and the count of its signatures. `None`: it has no cipher
/// that QUIC needs.
pub(crate) fn server(tls: &TlsServer) -> Option<(Arc<ServerConfig>, QuicSignatures)> {
    let (config, signatures) = tls.quic_config();
    let crypto = QuicServerConfig::try_from(config).ok()?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(transport(REQUESTS_MAX, None)).migration(false);
    Some((Arc::new(config), signatures))
}
