//! Tests of the TLS options.

use wavetank_plan::{TlsOptions, TlsResume, TlsVersions};

use super::files::with_file;
use super::{error, plan, run};

const CERT: &str = "-----BEGIN CERTIFICATE-----\nMIIBCg==\n-----END CERTIFICATE-----\n";

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn every_option_of_tls_arrives() {
    let options =
        run("https://localhost --insecure --sni shop.example --tls 1.3 --tls-groups X25519,secp256r1 \
                       --tls-ciphers TLS_AES_128_GCM_SHA256 --alpn http/1.1,http/1.0 --tls-resume user")
        .options
        .tls;
    let expected = TlsOptions {
        insecure: true,
        sni: Some("shop.example".to_owned()),
        version: Some(TlsVersions::Tls13),
        groups: words(&["X25519", "secp256r1"]),
        ciphers: words(&["TLS_AES_128_GCM_SHA256"]),
        alpn: Some(words(&["http/1.1", "http/1.0"])),
        resume: Some(TlsResume::User),
        ..TlsOptions::default()
    };
    assert_eq!(options, expected);
    // The spellings of curl and OpenSSL.
    let options = run("https://localhost --tls TLSv1.2 --tls-groups X25519:P-256 --alpn none").options.tls;
    assert_eq!(options.version, Some(TlsVersions::Tls12));
    assert_eq!(options.groups, ["X25519", "P-256"]);
    assert_eq!(options.alpn, Some(Vec::new()));
}

#[test]
fn files_are_read_and_named() {
    let tls = with_file("ca", CERT.as_bytes(), "https://localhost --cacert FILE", run).options.tls;
    let ca = tls.ca.expect("a file");
    assert_eq!(ca.bytes, CERT.as_bytes());
    assert!(ca.name.ends_with("-ca"), "{}", ca.name);
    let made =
        with_file("ca-plan", CERT.as_bytes(), "https://localhost --cacert FILE", |line| plan(&run(line)));
    assert_eq!(made.expect("a plan").plan.tls.and_then(|tls| tls.ca_pem).as_deref(), Some(CERT.as_bytes()));
    let wrong = with_file("garbage", b"\0\xff", "https://localhost --cacert FILE", error);
    assert_eq!(wrong.code, "bad_pem", "{wrong}");
    let wrong = error("https://localhost --key /nowhere/at/all --cert /nowhere/at/all");
    assert!(wrong.code == "bad_file" && wrong.message.contains("no such file"), "{wrong}");
}

#[test]
fn nonsense_is_reported() {
    for (line, code, said, cure) in [
        ("localhost --insecure", "conflict", "--insecure", "https://localhost/"),
        ("localhost:80 --tls 1.3", "conflict", "--tls means nothing", "https://localhost/"),
        ("https://localhost --tls-ciphers ,", "value_missing", "a name is empty", "commas"),
        ("https://localhost --tls 1.1", "value_unknown", "--tls `1.1` is insecure", "1.2 or 1.3"),
        ("https://localhost --tls ssl3", "value_unknown", "--tls", "1.3 or 1.2"),
        ("https://localhost --tls-resume yes", "value_unknown", "--tls-resume", "never or user or shared"),
        ("https://localhost --tls-groups X25519,,P-256", "value_missing", "empty", "commas"),
        ("https://localhost --tls-groups X25519,X25519", "conflict", "twice", "once"),
        ("https://localhost --alpn h2", "conflict", "HTTP/2", "http/1.1"),
        ("https://localhost --sni 10.0.0.5", "bad_sni", "address", "URL"),
        ("https://localhost --once --tls-resume user", "conflict", "--once", "one request"),
    ] {
        let error = error(line);
        assert_eq!(error.code, code, "{line}: {error}");
        assert!(error.message.contains(said), "{line}: {error}\nshould say: {said}");
        assert!(error.hint.contains(cure), "{line}: {error}\nshould hint: {cure}");
    }
}
