//! OpenSSL as the peer: an independent implementation of the same RFCs.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use wavetank_driver::{Driver, Epoll, TlsServerOptions};
use wavetank_plan::{Close, TlsPlan, TlsResume, TlsVersions};
use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{Program, Running, TestDir, free_port, skip};

use crate::suite::bench::Heard;
use crate::tls::peer::{bench, client, dial_tls, server, trusting};

fn openssl(test: &str) -> Option<Program> {
    let found = Program::foreign("openssl");
    if found.is_none() {
        skip(test, "openssl is not installed");
    }
    found
}

/// Starts `openssl s_server` with more arguments and a new certificate. It returns each line
/// reversed.
fn s_server(openssl: &Program, place: &TestDir, words: &[&str]) -> (Running, SocketAddr) {
    let [cert, key] = [place.file("cert.pem"), place.file("key.pem")];
    let request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost";
    openssl
        .clone()
        .args(request.split(' '))
        .args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=CA:FALSE"])
        .args(["-keyout", &key, "-out", &cert])
        .run()
        .expect_exit(0);
    // A separate address: no other process gets this port before the server has started.
    let at = SocketAddr::from(([127, 77, 0, 1], free_port()));
    let listen = at.to_string();
    let running = openssl
        .clone()
        .args(["s_server", "-accept", &listen, "-cert", &cert, "-key", &key, "-quiet", "-rev"])
        .args(words)
        .start();
    let up = poll_until(Duration::from_mins(1), || TcpStream::connect(at).is_ok().then_some(()));
    assert_eq!(up, Some(()), "s_server does not listen: {}", running.stderr());
    (running, at)
}

#[test]
fn its_server_is_understood() {
    let Some(openssl) = openssl("its_server_is_understood") else { return };
    let place = TestDir::new();
    let check = |words: &[&str], versions, expected: (&str, &str, &str)| {
        let (_running, at) = s_server(&openssl, &place, words);
        let ca_pem = std::fs::read(place.file("cert.pem")).expect("just written");
        let plan =
            TlsPlan { verify: true, ca_pem: Some(ca_pem), versions, resume: TlsResume::User, ..trusting() };
        let mut bench = bench::<Epoll>(Some(client(&plan)), None);
        for round in 0..3 {
            let conn = bench.driver.connect(&dial_tls(at, 0)).expect("loopback connects");
            assert_eq!(bench.hear(), Heard::Connected(conn));
            assert_eq!(bench.hear(), Heard::Secured(conn));
            let secured = bench.driver.secured(conn).expect("secured");
            assert_eq!(secured.resumed, round > 0, "{words:?}, connection {round}");
            let group = if round == 0 { secured.group } else { Some(expected.2) };
            assert_eq!((secured.version, secured.cipher, group), (expected.0, expected.1, Some(expected.2)));
            for line in ["live on evil\n", "a\n"] {
                bench.driver.send(conn, line.as_bytes()).expect("open");
                let mut back: Vec<u8> = line.trim_end().bytes().rev().collect();
                back.push(b'\n');
                assert_eq!(bench.receive(conn, back.len()), back);
            }
            bench.driver.close(conn, Close::Fin);
        }
    };
    let (new, old) = (TlsVersions::Tls13, TlsVersions::Tls12);
    check(&[], new, ("TLSv1.3", "TLS_AES_256_GCM_SHA384", "X25519"));
    let chosen = ["-ciphersuites", "TLS_AES_128_GCM_SHA256", "-groups", "P-256"];
    check(&chosen, TlsVersions::Both, ("TLSv1.3", "TLS_AES_128_GCM_SHA256", "secp256r1"));
    check(&["-tls1_2"], TlsVersions::Both, ("TLSv1.2", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "X25519"));
    check(&["-no_ticket"], old, ("TLSv1.2", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "X25519"));
}

#[test]
fn its_client_is_understood() {
    let Some(openssl) = openssl("its_client_is_understood") else { return };
    for words in [&["-tls1_2"][..], &["-tls1_3"], &["-tls1_3", "-groups", "P-384:X25519"], &[]] {
        let mut bench = bench::<Epoll>(None, Some(server(&TlsServerOptions::default())));
        let at = bench.listen().to_string();
        let client = openssl.clone().args(["s_client", "-connect", &at, "-quiet"]).args(words);
        let asking = std::thread::spawn(move || client.input("question\n").run());
        let Heard::Accepted(conn) = bench.hear() else { panic!("a peer dials") };
        assert_eq!(bench.hear(), Heard::Secured(conn));
        assert_eq!(bench.receive(conn, 9), b"question\n");
        bench.driver.send(conn, b"answer\n").expect("open");
        bench.driver.close(conn, Close::Fin);
        let outcome = asking.join().expect("it runs");
        assert_eq!(outcome.stdout, "answer\n", "{words:?}: {outcome}");
    }
}
