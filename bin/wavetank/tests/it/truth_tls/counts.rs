//! The counts of connections, handshakes and resumed sessions agree with the server's.

use std::collections::BTreeSet;

use super::server::{Seen, Server, sum};

/// Returns the number of connections in a log.
fn connections(seen: &[Seen]) -> u64 {
    seen.iter().map(|one| one.connection).collect::<BTreeSet<_>>().len() as u64
}

/// Returns the number of connections with a handshake that resumed a session.
fn resumed(seen: &[Seen]) -> u64 {
    let resumed = seen.iter().filter(|one| one.reused).map(|one| one.connection);
    resumed.collect::<BTreeSet<_>>().len() as u64
}

#[test]
fn kept_connections_shake_hands_once() {
    let Some(server) = Server::start("kept_connections_shake_hands_once", "good", "") else { return };
    for words in ["-c 4 -n 400", "-c 4 -n 400 --threads 2", "-c 4 --pipeline 4 -n 400", "-r 500/s -c 4 -d 1s"]
    {
        let (result, seen) = server.run(words);
        assert_eq!(result.count("requests.failed"), 0, "{words}: {result}");
        assert_eq!(result.count("tls.handshakes"), 4, "{words}: {result}");
        // The probe has its own connection. Some connections of a pool may never be used, and nginx
        // logs only requests.
        let used = if words.starts_with("-r") { 2..=5 } else { 5..=5 };
        assert!(used.contains(&connections(&seen)), "{words}: {result}");
        assert_eq!((result.count("tls.resumed"), resumed(&seen)), (0, 0), "{words}: {result}");
        assert_eq!(result.at("tls.version")["TLSv1.3"], 4, "{words}: {result}");
        assert!(seen.iter().all(|one| one.protocol == "TLSv1.3"), "{words}: {seen:?}");
    }
}

#[test]
fn new_connections_resume_as_configured() {
    let Some(server) = Server::start("new_connections_resume_as_configured", "good", "") else { return };
    for version in ["1.2", "1.3"] {
        for (resume, full) in [("never", 60), ("user", 3), ("shared", 3)] {
            let words =
                format!("-c 3 -n 60 --threads 1 --no-keepalive --tls {version} --tls-resume {resume}");
            let (result, seen) = server.run(&words);
            assert_eq!(result.count("tls.handshakes"), 60, "{words}: {result}");
            assert_eq!(connections(&seen), 61, "{words}: {result}");
            assert_eq!(result.count("tls.resumed"), resumed(&seen), "{words}: {result}");
            // With one cache for all, the first few find it empty, and tickets of TLS 1.3 are used
            // only once. At most as many handshakes are full as there are simultaneous users.
            let all_full = result.count("tls.handshakes") - result.count("tls.resumed");
            let expected = if resume == "shared" { 1..=full } else { full..=full };
            assert!(expected.contains(&all_full), "{words}: {all_full} full: {result}");
            let protocol = format!("TLSv{version}");
            assert!(seen.iter().all(|one| one.protocol == protocol), "{words}: {seen:?}");
            assert_eq!(result.at("tls.version")[&protocol], 60, "{words}: {result}");
        }
    }
}

/// If the server neither caches sessions nor issues tickets, nothing can be resumed, and the report
/// says so.
#[test]
fn a_server_that_keeps_no_sessions_resumes_none() {
    let settings = "ssl_session_tickets off;";
    let Some(server) = Server::start("a_server_that_keeps_no_sessions_resumes_none", "good", settings) else {
        return;
    };
    let (result, seen) = server.run("-c 2 -n 20 --no-keepalive --tls 1.2 --tls-resume user");
    // The server's cache holds TLS 1.2 sessions by their ids, which also work without tickets.
    assert_eq!(result.count("tls.resumed"), resumed(&seen), "{result}");
    let (result, seen) = server.run("-c 2 -n 20 --no-keepalive --tls-resume never");
    assert_eq!((result.count("tls.resumed"), resumed(&seen)), (0, 0), "{result}");
}

#[test]
fn what_is_agreed_on_is_what_the_server_says() {
    let test = "what_is_agreed_on_is_what_the_server_says";
    let Some(server) = Server::start(test, "good", "ssl_ecdh_curve X25519:prime256v1:secp384r1;") else {
        return;
    };
    let openssl_name = |curve: &str| if curve == "secp256r1" { "prime256v1" } else { curve }.to_owned();
    for (words, cipher, seen_as, curve) in [
        (
            "--tls 1.3 --tls-groups X25519 --tls-ciphers TLS_AES_128_GCM_SHA256",
            "TLS_AES_128_GCM_SHA256",
            "",
            "X25519",
        ),
        (
            "--tls-groups P-256 --tls-ciphers TLS_AES_256_GCM_SHA384",
            "TLS_AES_256_GCM_SHA384",
            "",
            "secp256r1",
        ),
        (
            "--tls 1.2 --tls-groups prime256v1 --tls-ciphers ECDHE-ECDSA-AES128-GCM-SHA256",
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "ECDHE-ECDSA-AES128-GCM-SHA256",
            "secp256r1",
        ),
    ] {
        let (result, seen) = server.run(&format!("-c 2 -n 10 --no-keepalive {words}"));
        assert_eq!(result.at("tls.cipher")[cipher], 10, "{words}: {result}");
        assert_eq!(result.at("tls.group")[curve], 10, "{words}: {result}");
        assert_eq!(result.at("tls.alpn")["http/1.1"], 10, "{words}: {result}");
        let seen_as = if seen_as.is_empty() { cipher } else { seen_as };
        for one in &seen {
            assert_eq!((one.cipher.as_str(), one.curve.clone()), (seen_as, openssl_name(curve)), "{words}");
        }
    }
    let outcome = server.load("-c 1 -n 5 --alpn none").run();
    let result = outcome.expect_exit(0).result();
    assert_eq!((result.count("tls.handshakes"), sum(&result, "tls.alpn")), (1, 0), "{result}");
}

#[test]
fn warm_up_and_load_share_their_connections() {
    let Some(server) = Server::start("warm_up_and_load_share_their_connections", "good", "") else { return };
    let (result, seen) = server.run("-c 3 -n 300 --warmup 300ms");
    assert_eq!(result.count("tls.handshakes"), 3, "{result}");
    assert_eq!(connections(&seen), 4, "{result}");
    // They were opened for the warm-up, so their times belong to the warm-up.
    assert_eq!(result.count("tls_us.count"), 0, "{result}");
}

/// The wait time includes connect and handshake if the request had to wait for them.
#[test]
fn wait_covers_the_handshake() {
    let Some(server) = Server::start("wait_covers_the_handshake", "good", "") else { return };
    let (result, _) = server.run("-c 1 -n 30 --no-keepalive --no-probe");
    // All requests but the first, which has a connection opened before the load.
    let sum = |series: &str| result.number(&format!("{series}.mean")) * 30.0;
    assert!(sum("wait_us") >= sum("tls_us") - result.number("tls_us.max"), "{result}");
    assert!(result.number("tls_us.min") > 0.0 && result.number("connect_us.min") > 0.0, "{result}");
}

/// A thousand idle connections and their memory.
#[test]
fn memory_of_a_connection_is_measured_and_reported() {
    let Some(server) = Server::start("memory_of_a_connection_is_measured_and_reported", "good", "") else {
        return;
    };
    // A slow machine needs more than the default time for a thousand handshakes.
    let patient = "-c 1000 --connect-timeout 60s";
    let (result, seen) = server.run(&format!("{patient} -n 2000"));
    assert_eq!(connections(&seen), 1_001, "{result}");
    assert_eq!(result.count("generator.connection_memory.connections"), 1_000, "{result}");
    let each = result.count("generator.connection_memory.bytes_per_connection");
    // A TLS connection needs memory at least for its keys, and a hundred kilobytes would be a leak.
    assert!((1_000..100_000).contains(&each), "{each} bytes: {result}");
    let printed = server.program(&server.url(), &format!("--cacert @ca.pem {patient} -n 1000")).run();
    assert!(printed.stdout.contains("per connection: wavetank grew by"), "{printed}");
    let few = server.load("-c 10 -n 100").run().result();
    assert!(few.at("generator.connection_memory").is_null(), "{few}");
}
