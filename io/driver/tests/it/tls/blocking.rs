//! Peers on blocking sockets. They use the library's buffered interface, which the TLS filter does
//! not use.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, LazyLock};

use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConnection, RootCertStore, ServerConnection, StreamOwned};
use wavetank_driver::{ConnId, Dial, DialTls, Driver, TlsServer, TlsServerOptions};

use crate::suite::bench::{Heard, any_port, patient, read};
use crate::tls::peer::{TlsBench, bench, client, dial_tls, flush, server, trusting};

pub(crate) type ServerPeer = StreamOwned<ServerConnection, TcpStream>;
pub(crate) type ClientPeer = StreamOwned<ClientConnection, TcpStream>;

static SERVER: LazyLock<Arc<rustls::ServerConfig>> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let chain = vec![CertificateDer::from_pem_slice(made.cert.pem().as_bytes()).expect("PEM")];
    let key = PrivateKeyDer::from_pem_slice(made.signing_key.serialize_pem().as_bytes()).expect("PEM");
    let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key);
    Arc::new(config.expect("the key fits"))
});

/// Connects a driver to a blocking server; both have completed the handshake.
pub(crate) fn connected<D: Driver>() -> (TlsBench<D>, ConnId, ServerPeer) {
    let mut bench = bench::<D>(Some(client(&trusting())), None);
    let (conn, peer) = connect(&mut bench);
    (bench, conn, peer)
}

/// Opens one more connection of this driver.
pub(crate) fn connect<D: Driver>(bench: &mut TlsBench<D>) -> (ConnId, ServerPeer) {
    let listener = TcpListener::bind(any_port()).expect("a free port");
    let to = listener.local_addr().expect("it is bound");
    let conn = bench.driver.connect(&dial_tls(to, 0)).expect("loopback connects");
    let shaking = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("the driver connects");
        let mut tls = ServerConnection::new(Arc::clone(&SERVER)).expect("a server");
        let mut stream = patient(stream);
        while tls.is_handshaking() {
            tls.complete_io(&mut stream).expect("a handshake");
        }
        StreamOwned::new(tls, stream)
    });
    assert_eq!(bench.hear(), Heard::Connected(conn));
    assert_eq!(bench.hear(), Heard::Secured(conn));
    flush(bench);
    (conn, shaking.join().expect("a handshake"))
}

/// The way a tunnel is opened: both sides send plaintext, and TLS starts after it.
pub(crate) fn begins_behind_words_in_the_clear<D: Driver>() {
    let mut bench = bench::<D>(Some(client(&trusting())), None);
    let listener = TcpListener::bind(any_port()).expect("a free port");
    let to = listener.local_addr().expect("it is bound");
    let conn = bench.driver.connect(&Dial::plain(to)).expect("loopback connects");
    let serving = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("the driver connects");
        let mut stream = patient(stream);
        assert_eq!(read(&mut stream, 6), b"CALL a");
        stream.write_all(b"fine").expect("the driver reads");
        let tls = ServerConnection::new(Arc::clone(&SERVER)).expect("a server");
        let mut stream = StreamOwned::new(tls, stream);
        let mut asked = [0; 4];
        stream.read_exact(&mut asked).expect("the driver sends");
        stream.write_all(&asked).expect("the driver reads");
        stream
    });
    assert_eq!(bench.hear(), Heard::Connected(conn));
    bench.driver.send(conn, b"CALL a").expect("it is connected");
    assert_eq!(bench.receive(conn, 4), b"fine");
    assert_eq!(bench.driver.secured(conn), None);
    let none = DialTls { name: 7, session: 0 };
    assert!(bench.driver.secure(conn, none).is_err(), "an unknown server name");
    bench.driver.secure(conn, DialTls { name: 0, session: 0 }).expect("it is connected");
    // Kept until the handshake is complete.
    bench.driver.send(conn, b"echo").expect("it is connected");
    assert_eq!(bench.hear(), Heard::Secured(conn));
    assert!(bench.driver.secured(conn).is_some());
    loop {
        match bench.hear() {
            Heard::Flushed(flushed) => assert_eq!(flushed, conn),
            Heard::Received(from, bytes) => break assert_eq!((from, bytes), (conn, b"echo".to_vec())),
            other => panic!("heard {other:?}"),
        }
    }
    assert_eq!(bench.driver.bytes_sent(), 10, "plaintext of both kinds");
    drop(serving.join().expect("the peer is content"));
}

/// Accepts a blocking client with a driver; both have completed the handshake.
pub(crate) fn accepted<D: Driver>() -> (TlsBench<D>, ConnId, ClientPeer) {
    let server = server(&TlsServerOptions::default());
    let mut bench = bench::<D>(None, Some(Arc::clone(&server)));
    let at = bench.listen();
    let shaking = std::thread::spawn(move || shake(&server, at));
    let Heard::Accepted(conn) = bench.hear() else { panic!("a peer dials") };
    assert_eq!(bench.hear(), Heard::Secured(conn));
    flush(&mut bench);
    (bench, conn, shaking.join().expect("a handshake"))
}

fn shake(server: &TlsServer, at: SocketAddr) -> ClientPeer {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(server.chain_pem()).expect("PEM")).expect("a root");
    let config = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = "localhost".try_into().expect("a name");
    let mut tls = ClientConnection::new(Arc::new(config), name).expect("a client");
    let mut stream = patient(TcpStream::connect(at).expect("the driver listens"));
    while tls.is_handshaking() {
        tls.complete_io(&mut stream).expect("a handshake");
    }
    StreamOwned::new(tls, stream)
}

/// Tries a handshake with the certificate of another server.
pub(crate) fn forge(listener: &TcpListener) -> std::io::Result<()> {
    let [own, other] = [0, 1].map(|_| rcgen::generate_simple_self_signed(["localhost".to_owned()]));
    let (own, other) = (own.expect("a certificate"), other.expect("a certificate"));
    let key = PrivateKeyDer::from_pem_slice(own.signing_key.serialize_pem().as_bytes()).expect("PEM");
    let key = any_supported_type(&key).expect("a key");
    let forged = CertifiedKey::new(vec![other.cert.der().clone()], key);
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(forged)));
    let mut tls = ServerConnection::new(Arc::new(config)).expect("a server");
    let mut stream = patient(listener.accept().expect("the driver connects").0);
    while tls.is_handshaking() {
        tls.complete_io(&mut stream)?;
    }
    Ok(())
}
