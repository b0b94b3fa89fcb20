//! Both ends on one driver.

use wavetank_driver::{CloseReason, Driver, SendStatus, TlsServerOptions};
use wavetank_plan::{Close, TlsPlan, TlsResume, TlsVersions};

use crate::suite::bench::{Heard, pattern};
use crate::tls::peer::{bench, client, client_of, dial_tls, pair, server, trusting, trusting_in};

#[track_caller]
fn check_echo<D: Driver>(
    plan: &TlsPlan,
    options: &TlsServerOptions,
    version: &str,
    cipher: &str,
    group: &str,
) {
    let mut bench = bench::<D>(Some(client(plan)), Some(server(options)));
    let at = bench.listen();
    let (client, server) = pair(&mut bench, at, 0);
    for conn in [client, server] {
        let secured = bench.driver.secured(conn).expect("secured");
        assert_eq!((secured.version, secured.cipher), (version, cipher));
        assert_eq!((secured.group, secured.resumed, secured.alpn), (Some(group), false, None));
    }
    for round in 0_u8..10 {
        let ping = [round; 100];
        assert_eq!(bench.driver.send(client, &ping), Ok(SendStatus::All));
        assert_eq!(bench.receive(server, 100), ping);
        assert_eq!(bench.driver.send(server, &ping[..50]), Ok(SendStatus::All));
        assert_eq!(bench.receive(client, 50), &ping[..50]);
    }
    assert_eq!(bench.driver.bytes_sent(), 1_500, "plaintext is counted");
    bench.driver.close(client, Close::Fin);
    assert_eq!(bench.hear(), Heard::Ended(server, CloseReason::Eof));
    bench.driver.close(server, Close::Fin);
    bench.hear_nothing();
}

pub(crate) fn echoes<D: Driver>() {
    let plain = TlsServerOptions::default();
    check_echo::<D>(&trusting(), &plain, "TLSv1.3", "TLS_AES_256_GCM_SHA384", "X25519");
    let old = TlsPlan { versions: TlsVersions::Tls12, ..trusting() };
    check_echo::<D>(&old, &plain, "TLSv1.2", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "X25519");
    let chosen = TlsPlan {
        groups: vec!["secp256r1".to_owned()],
        ciphers: vec!["TLS_AES_128_GCM_SHA256".to_owned()],
        ..trusting()
    };
    check_echo::<D>(&chosen, &plain, "TLSv1.3", "TLS_AES_128_GCM_SHA256", "secp256r1");
    let chacha = TlsServerOptions { ciphers: vec!["TLS_CHACHA20_POLY1305_SHA256".to_owned()], ..plain };
    check_echo::<D>(&trusting(), &chacha, "TLSv1.3", "TLS_CHACHA20_POLY1305_SHA256", "X25519");
}

pub(crate) fn the_negotiated_protocol_is_reported<D: Driver>() {
    let offer = TlsPlan { alpn: vec!["h2".to_owned(), "http/1.1".to_owned()], ..trusting() };
    let answer = TlsServerOptions { alpn: vec!["http/1.1".to_owned()], ..TlsServerOptions::default() };
    let mut bench = bench::<D>(Some(client(&offer)), Some(server(&answer)));
    let at = bench.listen();
    let (client, server) = pair(&mut bench, at, 0);
    for conn in [client, server] {
        let alpn = bench.driver.secured(conn).and_then(|secured| secured.alpn);
        assert_eq!(alpn.expect("agreed on").as_str(), "http/1.1");
    }
}

/// Checks whether the second of two connections, made by `users`, resumes the session of the first.
#[track_caller]
fn check_resumption<D: Driver>(
    resume: TlsResume,
    versions: TlsVersions,
    tickets: bool,
    users: [u32; 2],
    expected: bool,
) {
    let options = TlsServerOptions { tickets, ..TlsServerOptions::default() };
    let mut bench =
        bench::<D>(Some(client(&TlsPlan { resume, versions, ..trusting() })), Some(server(&options)));
    let at = bench.listen();
    for (round, user) in users.into_iter().enumerate() {
        let (client, server) = pair(&mut bench, at, user);
        // Tickets of TLS 1.3 arrive with or before the first data.
        bench.driver.send(server, b"hi").expect("open");
        assert_eq!(bench.receive(client, 2), b"hi");
        for conn in [client, server] {
            let resumed = bench.driver.secured(conn).expect("secured").resumed;
            assert_eq!(resumed, round == 1 && expected, "{resume:?} {versions:?} {users:?}");
        }
        bench.driver.close(client, Close::Fin);
        assert_eq!(bench.hear(), Heard::Ended(server, CloseReason::Eof));
        bench.driver.close(server, Close::Fin);
    }
}

pub(crate) fn sessions_are_resumed_by_whom_they_belong_to<D: Driver>() {
    for versions in [TlsVersions::Tls12, TlsVersions::Tls13] {
        check_resumption::<D>(TlsResume::Never, versions, true, [1, 1], false);
        check_resumption::<D>(TlsResume::User, versions, true, [1, 1], true);
        check_resumption::<D>(TlsResume::User, versions, true, [1, 2], false);
        check_resumption::<D>(TlsResume::Shared, versions, true, [1, 2], true);
        check_resumption::<D>(TlsResume::Shared, versions, false, [1, 1], false);
    }
}

pub(crate) fn what_is_sent_early_follows_the_handshake<D: Driver>() {
    let mut bench = bench::<D>(Some(client(&trusting())), Some(server(&TlsServerOptions::default())));
    let at = bench.listen();
    let client = bench.driver.connect(&dial_tls(at, 0)).expect("loopback connects");
    let all = pattern(300_000);
    assert_eq!(bench.driver.send(client, &all[..10]), Ok(SendStatus::Pending));
    assert_eq!(bench.driver.send(client, &all[10..]), Ok(SendStatus::Pending));
    let (mut got, mut secured, mut flushed) = (Vec::new(), false, false);
    while got.len() < all.len() || !flushed {
        match bench.hear() {
            Heard::Secured(conn) if conn == client => secured = true,
            Heard::Flushed(conn) => flushed = conn == client && secured,
            Heard::Received(_, bytes) => got.extend(bytes),
            Heard::Connected(_) | Heard::Accepted(_) | Heard::Secured(_) => {}
            other => panic!("heard {other:?}"),
        }
    }
    assert!(got == all, "what came is not what was sent");
}

pub(crate) fn certificates_are_judged<D: Driver>() {
    let good = server(&TlsServerOptions::default());
    let check = |plan: &TlsPlan, name: &str, expected: Option<&str>| {
        let mut bench = bench::<D>(Some(client_of(plan, name)), Some(std::sync::Arc::clone(&good)));
        let at = bench.listen();
        let conn = bench.driver.connect(&dial_tls(at, 0)).expect("loopback connects");
        loop {
            match bench.hear() {
                Heard::Secured(of) if of == conn => break assert_eq!(expected, None),
                Heard::Ended(of, CloseReason::Tls) if of == conn => {
                    let fault = bench.driver.tls_fault().expect("a fault is reported");
                    break assert!(expected.is_some_and(|words| fault.contains(words)), "{fault}");
                }
                // The server's view of it does not matter here.
                Heard::Connected(_) | Heard::Accepted(_) | Heard::Secured(_) | Heard::Ended(..) => {}
                other => panic!("heard {other:?}"),
            }
        }
    };
    check(&trusting_in(&good), "localhost", None);
    check(&trusting(), "localhost", None);
    check(&TlsPlan { verify: true, ..trusting() }, "localhost", Some("issuer is unknown"));
    let other = Some("is for localhost, 127.0.0.1, not for other.example");
    check(&trusting_in(&good), "other.example", other);
    check(&trusting_in(&good), "127.0.0.1", None);
    let group = TlsPlan { groups: vec!["MLKEM1024".to_owned()], ..trusting() };
    check(&group, "localhost", Some("alert handshake_failure"));
}
