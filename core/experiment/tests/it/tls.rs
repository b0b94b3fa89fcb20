//! How TLS options are resolved: the defaults, and every contradiction with its hint.

use std::net::{IpAddr, SocketAddr};

use wavetank_experiment::{UrlPlan, plan_url};
use wavetank_plan::pem::{self, PemFault};
use wavetank_plan::{
    HostFacts, PemFile, Plan, RunOptions, SourcesPlan, TargetUrl, TlsOptions, TlsResume, TlsVersions,
};
use wavetank_units::UserError;

/// PEM sections with dummy content: this crate checks only the frame.
const CERT: &str = "-----BEGIN CERTIFICATE-----\nMIIBCg==\n-----END CERTIFICATE-----\n";
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nTUlJQg==\n-----END PRIVATE KEY-----\n";

fn file(name: &str, text: &str) -> PemFile {
    PemFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

fn cert(text: &str) -> TlsOptions {
    TlsOptions { cert: Some(file("own.pem", text)), ..TlsOptions::default() }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn on(url: &str, options: &RunOptions) -> Result<UrlPlan, UserError> {
    let host = HostFacts {
        memory_available_bytes: 16 << 30,
        addresses: vec![IpAddr::from([127, 0, 0, 1])],
        local_networks: vec![(IpAddr::from([127, 0, 0, 0]), 8)],
        ..HostFacts::for_tests(2)
    };
    let url = TargetUrl::parse(url)?;
    plan_url(options, &url, &[SocketAddr::from(([127, 0, 0, 1], url.port))], &host)
}

fn with(tls: TlsOptions) -> Result<UrlPlan, UserError> {
    on("https://shop.example/", &RunOptions { tls, ..RunOptions::default() })
}

fn plan(tls: TlsOptions) -> Plan {
    with(tls).unwrap_or_else(|error| panic!("{error}")).plan
}

/// Checks that `tls` is refused with this code, a message with `said` in it and a hint with `cure`
/// in it.
#[track_caller]
fn check_refused(tls: TlsOptions, code: &str, said: &str, cure: &str) {
    let error = with(tls).expect_err(said);
    assert_eq!(error.code, code, "{error}");
    assert!(error.message.contains(said), "{error}\nshould say: {said}");
    assert!(error.hint.contains(cure), "{error}\nshould hint: {cure}");
}

#[test]
fn https_is_spoken_in_tls_with_the_urls_own_name() {
    let resolved = on("https://shop.example/x", &RunOptions::default()).expect("a plan");
    let tls = resolved.plan.tls.as_ref().expect("TLS");
    assert!(tls.verify && tls.ca_pem.is_none() && tls.client.is_none());
    assert_eq!((tls.resume, tls.versions), (TlsResume::Never, TlsVersions::Both));
    assert_eq!(tls.alpn, ["http/1.1"]);
    assert_eq!(resolved.plan.server_names(), ["shop.example"]);
    assert_eq!(resolved.plan.server_name_indices(), [Some(0)]);
    let target = &resolved.plan.targets[0];
    assert_eq!((target.name.as_str(), target.host.as_str()), ("shop.example:443", "shop.example"));
    assert_eq!(target.url, "https://shop.example/x");
    assert!(resolved.remarks[0].contains("every TLS handshake is a full one"), "{:?}", resolved.remarks);

    let plain = on("http://shop.example:443/x", &RunOptions::default()).expect("a plan");
    assert_eq!((plain.plan.tls, plain.plan.targets[0].server_name.as_deref()), (None, None));
    assert_eq!(plain.plan.targets[0].host, "shop.example:443");
    assert!(!plain.remarks.iter().any(|remark| remark.contains("TLS")), "{:?}", plain.remarks);
}

#[test]
fn the_name_stays_wherever_connections_go() {
    let connect_to = vec![wavetank_plan::ConnectTo::parse("127.0.0.1:8443").expect("a rule")];
    let elsewhere = RunOptions { connect_to: connect_to.clone(), ..RunOptions::default() };
    let resolved = on("https://shop.example/", &elsewhere).expect("a plan");
    assert_eq!(resolved.plan.server_names(), ["shop.example"]);
    let tls = TlsOptions { sni: Some("other.example".to_owned()), ..TlsOptions::default() };
    let resolved = on("https://shop.example/", &RunOptions { connect_to, tls, ..RunOptions::default() });
    let plan = resolved.expect("a plan").plan;
    assert_eq!(plan.server_names(), ["other.example"]);
    assert_eq!(plan.targets[0].host, "shop.example", "the Host header is the URL's");
}

#[test]
fn names_in_other_spellings_are_understood() {
    let tls = plan(TlsOptions {
        groups: words(&["x25519", "P-256"]),
        ciphers: words(&["ECDHE-RSA-AES128-GCM-SHA256", "tls_aes_128_gcm_sha256"]),
        alpn: Some(Vec::new()),
        resume: Some(TlsResume::Shared),
        ..TlsOptions::default()
    })
    .tls
    .expect("TLS");
    assert_eq!(tls.groups, ["X25519", "secp256r1"]);
    assert_eq!(tls.ciphers, ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"]);
    assert_eq!((tls.alpn.len(), tls.resume), (0, TlsResume::Shared));
}

#[test]
fn a_certificate_comes_with_its_key_in_one_file_or_two() {
    let both = plan(cert(&format!("{CERT}{KEY}"))).tls.and_then(|tls| tls.client).expect("an identity");
    assert_eq!(both.chain_pem, both.key_pem);
    let apart = TlsOptions { key: Some(file("own.key", KEY)), ..cert(CERT) };
    let apart = plan(apart).tls.and_then(|tls| tls.client).expect("an identity");
    assert_eq!((apart.chain_pem, apart.key_pem), (CERT.into(), KEY.into()));
}

#[test]
fn no_option_of_tls_is_ignored_without_tls() {
    let given = [
        TlsOptions { insecure: true, ..TlsOptions::default() },
        TlsOptions { ca: Some(file("ca", CERT)), ..TlsOptions::default() },
        TlsOptions { cert: Some(file("own", CERT)), ..TlsOptions::default() },
        TlsOptions { key: Some(file("own", KEY)), ..TlsOptions::default() },
        TlsOptions { sni: Some("a".to_owned()), ..TlsOptions::default() },
        TlsOptions { version: Some(TlsVersions::Tls13), ..TlsOptions::default() },
        TlsOptions { groups: words(&["X25519"]), ..TlsOptions::default() },
        TlsOptions { ciphers: words(&["TLS_AES_128_GCM_SHA256"]), ..TlsOptions::default() },
        TlsOptions { alpn: Some(Vec::new()), ..TlsOptions::default() },
        TlsOptions { resume: Some(TlsResume::Never), ..TlsOptions::default() },
    ];
    for tls in given {
        let names = tls.given_flags();
        assert_eq!(names.len(), 1, "{tls:?}");
        let error =
            on("http://localhost/x", &RunOptions { tls, ..RunOptions::default() }).expect_err(names[0]);
        assert_eq!(error.code, "conflict", "{error}");
        assert!(error.message.starts_with(names[0]), "{error}");
        assert!(error.hint.contains("https://localhost/x"), "{error}");
    }
}

#[test]
fn contradictions_are_refused() {
    let both = TlsOptions { insecure: true, ca: Some(file("ca.pem", CERT)), ..TlsOptions::default() };
    check_refused(both, "conflict", "--insecure and --cacert", "keep one");
    let keyless = TlsOptions { key: Some(file("own.key", KEY)), ..TlsOptions::default() };
    check_refused(keyless, "conflict", "--key means nothing without --cert", "--cert FILE");
    check_refused(cert(CERT), "conflict", "own.pem holds no private key", "--key FILE");
    let twice = TlsOptions { key: Some(file("own.key", KEY)), ..cert(&format!("{KEY}{CERT}")) };
    check_refused(twice, "conflict", "own.pem holds a private key", "leave --key out");
    let old = TlsOptions {
        version: Some(TlsVersions::Tls12),
        ciphers: words(&["TLS_AES_128_GCM_SHA256"]),
        ..TlsOptions::default()
    };
    check_refused(old, "conflict", "belongs to TLS 1.3", "--tls 1.3");
    let unknown = TlsOptions { groups: words(&["P-521"]), ..TlsOptions::default() };
    check_refused(unknown, "value_unknown", "--tls-groups", "X25519");
    for alpn in [&["h2"][..], &["h2", "http/1.1"]] {
        let alpn = TlsOptions { alpn: Some(words(alpn)), ..TlsOptions::default() };
        check_refused(alpn, "conflict", "HTTP/2", "--alpn http/1.1");
    }
    let none = TlsOptions { alpn: Some(words(&["none", "http/1.1"])), ..TlsOptions::default() };
    check_refused(none, "conflict", "--alpn none,http/1.1", "--alpn none");
    for (sni, said) in [
        ("127.0.0.1", "is an address"),
        ("", "not a host name"),
        ("a:443", "not a host name"),
        ("999.1.1.1", "not a host name"),
    ] {
        check_refused(
            TlsOptions { sni: Some(sni.to_owned()), ..TlsOptions::default() },
            "bad_sni",
            said,
            " ",
        );
    }
}

#[test]
fn files_that_are_of_no_use_are_reported() {
    let cut = &CERT[..40];
    let garbled = "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n";
    for (text, said) in [
        ("", "is empty"),
        ("hello", "is not PEM"),
        (KEY, "no certificate"),
        (cut, "incomplete"),
        (garbled, "not base64"),
    ] {
        let ca = TlsOptions { ca: Some(file("ca.pem", text)), ..TlsOptions::default() };
        check_refused(ca, "bad_pem", said, "--cacert");
    }
    let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nTUlJQg==\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let older = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nTUlJQg==\n-----END RSA PRIVATE KEY-----\n";
    for (text, said) in
        [(encrypted, "encrypted"), (older, "encrypted"), (CERT, "no private key"), ("", "empty")]
    {
        let key = TlsOptions { key: Some(file("own.key", text)), ..cert(CERT) };
        check_refused(key, "bad_pem", said, "key");
    }
    check_refused(cert(&format!("{CERT}{encrypted}")), "bad_pem", "encrypted", "openssl pkey");
    assert_eq!(pem::certificates(format!("{CERT}{CERT}").as_bytes()).map(|all| all.len()), Ok(2));
    assert!(pem::private_key(KEY.as_bytes()).is_ok());
    assert_eq!(pem::private_key(cut.as_bytes()).err(), Some(PemFault::Truncated));
}

#[test]
fn nothing_of_a_key_is_shown() {
    let secret = "-----BEGIN PRIVATE KEY-----\nUExBTlRFRA==\n-----END PRIVATE KEY-----\n";
    let tls = TlsOptions { key: Some(file("own.key", secret)), ..cert(CERT) };
    let options = RunOptions { tls, ..RunOptions::default() };
    let shown = format!("{options:?}{:?}", on("https://localhost/", &options).expect("a plan"));
    // The text and its bytes as numbers must not appear.
    assert!(!shown.contains("UExB") && !shown.contains("85, 69, 120, 66"), "{shown}");
}

/// A connection with TLS takes more memory than one without, so fewer fit.
#[test]
fn memory_is_planned_for_tls() {
    let many = || RunOptions { connections: Some(900_000), ..RunOptions::default() };
    let sources = || wavetank_plan::parse_sources("127.0.0.0/8").expect("sources");
    let plain = RunOptions { sources: SourcesPlan { ranges: sources(), ..SourcesPlan::default() }, ..many() };
    assert!(on("http://localhost/", &plain).is_ok());
    let error = on(
        "https://localhost/",
        &RunOptions { sources: SourcesPlan { ranges: sources(), ..SourcesPlan::default() }, ..many() },
    )
    .expect_err("too many");
    assert_eq!(error.code, "no_memory", "{error}");
}
