//! Plans of all files that are read without an error, as agents on other hosts get them.

use std::net::SocketAddr;

use wavetank_experiment::{Experiment, LowerContext, ParseInput, UrlBody, UrlRequest, lower, read_url};
use wavetank_plan::{EngineChoice, PemFile, RunOptions, Secret, SourcesPlan, TlsOptions, parse_sources};
use wavetank_units::UserError;

use crate::support::files::{names_in, of_tests};
use crate::support::packages::check_package;
use crate::support::plans::host;
use crate::support::{example_names, example_text, reading};

const CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE-----\nMIIBCg==\n-----END CERTIFICATE-----\n";
const KEY: &[u8] = b"-----BEGIN PRIVATE KEY-----\nMIIBDA==\n-----END PRIVATE KEY-----\n";

/// Checks the plan of a file; returns why it has none. Each name has two addresses, and each file
/// exists.
fn check(name: &str, experiment: &Experiment) -> Result<(), UserError> {
    let tables: Vec<_> = experiment.data.iter().map(|_| None).collect();
    let mut host = host();
    host.local_networks.push(([0, 0, 0, 0].into(), 0));
    let lowering = LowerContext {
        host: &host,
        tables: &tables,
        addresses: &|url| Ok([2, 3].map(|last| SocketAddr::from(([127, 0, 0, last], url.port))).to_vec()),
        file: &|file| {
            Ok(match file.rsplit('.').next() {
                Some("key") => KEY.to_vec(),
                Some("pem") => CERTIFICATE.to_vec(),
                Some("csv") => b"time\n0s\n100ms\n2s\n".to_vec(),
                _ => vec![0, 255, 7],
            })
        },
        secret: &|_| Some(Secret::new("planted")),
        sources: SourcesPlan {
            ranges: parse_sources("10.0.8.0/28").expect("a network"),
            ..SourcesPlan::default()
        },
        threads: None,
        engine: EngineChoice::Auto,
    };
    let lowered = lower(experiment, &lowering).map_err(|unfit| unfit.into_user_error(name))?;
    check_package(name, &lowered.plan);
    Ok(())
}

#[test]
fn plans_of_files_come_back() {
    for name in example_names() {
        let read = reading(&name, example_text(&name).as_bytes(), &[]);
        assert_eq!(check(&name, &read.experiment.expect("is read")), Ok(()));
    }
    // What no plan has: TLS without https, a proxy with several URLs, a file's name that changes, a
    // spike on a wave of requests, a phase after one without a length.
    let changes = [
        ("${env:HOME_URL}", "https://127.0.0.1:8080"),
        ("http://127.0.0.1:8081", "https://127.0.0.1:8081"),
        ("  proxy: http://127.0.0.1:3128\n", ""),
        ("cat-${seq()}.png", "cat.png"),
        (", spike: 5k/s for 10s every 1m", ""),
        ("sessions: 1 each}", "sessions: 1 each, for: 1m}"),
        ("{verify: false, ca", "{ca"),
        // A WebSocket carries any number of messages.
        ("  requests_per_connection: 100\n", ""),
    ];
    let everything = include_str!("../golden/everything.yaml").to_owned();
    let everything = changes.iter().fold(everything, |text, (from, to)| text.replace(from, to));
    let everything = reading("everything.yaml", everything.as_bytes(), &[]);
    assert_eq!(check("everything.yaml", &everything.experiment.expect("is read")), Ok(()));
    // Some of the mistakes are only warnings.
    let folder = of_tests("mistakes");
    let plans = names_in(&folder, "yaml").into_iter().filter(|name| {
        let bytes = std::fs::read(folder.join(name)).expect("is there");
        reading(name, &bytes, &[]).experiment.is_some_and(|experiment| check(name, &experiment).is_ok())
    });
    assert!(plans.count() >= 5, "some mistakes have a plan");
}

#[test]
fn plans_of_urls_come_back() {
    let pem = |name: &str, bytes: &[u8]| Some(PemFile { name: name.to_owned(), bytes: bytes.to_vec() });
    let (cert, key) = (pem("a.pem", CERTIFICATE), pem("a.key", KEY));
    let secret = ("X-Key".to_owned(), Secret::new("${secret:PASSWORD}"));
    let options = RunOptions {
        headers: vec![secret],
        tls: TlsOptions { ca: cert.clone(), cert, key, ..TlsOptions::default() },
        ..RunOptions::default()
    };
    let long = UrlBody::Text("a".repeat(100_000));
    for (url, body) in [("https://127.0.0.1/a?b=${random(1,9)}", None), ("https://[::1]/", Some(long))] {
        let request = UrlRequest { url: url.to_owned(), body, ..UrlRequest::default() };
        let input = ParseInput {
            name: url,
            bytes: &[],
            set: &[],
            env: &|_| None,
            has_secret: &|_| true,
            options: &options,
        };
        let read = read_url(&request, &input);
        let experiment = read.experiment.unwrap_or_else(|| panic!("{url}: {:?}", read.diagnostics.sorted()));
        assert_eq!(check(url, &experiment), Ok(()));
    }
}
