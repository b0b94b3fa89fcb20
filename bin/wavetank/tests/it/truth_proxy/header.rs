//! The PROXY protocol's header: its receiver sees the addresses of our actual sockets.

use wavetank_testkit::{Nginx, RunResult, TestDir, skip};

use super::foreign::{Foreign, WAYS, secure_nginx, trial};

/// Both addresses by the header, both by the server's own socket, and the bytes of each request.
const LOG: &str = "$proxy_protocol_addr:$proxy_protocol_port $remote_addr:$remote_port \
    $proxy_protocol_server_addr:$proxy_protocol_server_port $server_addr:$server_port $request_length";

/// Bytes of a header between two IPv4 loopback addresses. In version 1 the length depends on the
/// digits of the ports.
const V2_BYTES: u64 = 28;

fn words(version: &str, engine: &str) -> Vec<String> {
    let words =
        format!("--proxy-protocol {version} --engine {engine} -c 3 -n 30 --requests-per-connection 5");
    words.split(' ').map(str::to_owned).collect()
}

/// Returns the result of a run in `way`. Returns `None` and records a skip if this host does not
/// support it.
#[track_caller]
fn run(test: &str, url: &str, way: (&str, &str), version: &str) -> Option<RunResult> {
    let insecure = url.starts_with("https").then_some("--insecure".to_owned());
    let trial = trial();
    let program = trial.load(url, words(version, way.0).into_iter().chain(insecure));
    let outcome = program.environment("WAVETANK_MASK", way.1).run();
    if outcome.exit == Some(5) {
        skip(test, &format!("{way:?} is not available here"));
        return None;
    }
    let result = outcome.expect_exit(0).result();
    result.conserved();
    assert_eq!(result.count("requests.done"), 30, "{way:?} {version}: {result}");
    Some(result)
}

fn check(test: &str, nginx: &Nginx, scheme: &str) {
    let url = format!("{scheme}://{}/", nginx.address());
    for way in WAYS {
        for version in ["v1", "v2"] {
            nginx.forget();
            let Some(result) = run(test, &url, way, version) else { continue };
            let lines = nginx.log(31);
            let mut bytes = 0;
            for line in &lines {
                let [said, own, said_server, server, length] = line.split(' ').collect::<Vec<_>>()[..] else {
                    panic!("a line of another kind: {line}");
                };
                assert_eq!((said, said_server), (own, server), "{way:?} {version}: {line}");
                bytes += length.parse::<u64>().expect("a number");
            }
            if scheme == "http" && version == "v2" {
                // All requests have one length, including the probe, which no count includes.
                let requests = bytes / 31 * 30;
                let headers = V2_BYTES * result.count("connections.opened");
                assert_eq!(result.count("bytes.sent"), requests + headers, "{way:?}: {result}");
            }
        }
    }
}

#[test]
fn nginx_receives_the_addresses_of_our_sockets() {
    let test = "nginx_receives_the_addresses_of_our_sockets";
    let server = "listen LISTEN proxy_protocol; location / { return 200 \"ok\"; }";
    let Some(nginx) = Nginx::start(test, TestDir::new(), LOG, server) else { return };
    check(test, &nginx, "http");
}

#[test]
fn tls_begins_behind_the_header() {
    let test = "tls_begins_behind_the_header";
    let Some(nginx) = secure_nginx(test, "proxy_protocol", LOG) else { return };
    check(test, &nginx, "https");
}

#[test]
fn haproxy_takes_both_versions_of_both_families() {
    let test = "haproxy_takes_both_versions_of_both_families";
    for ip in ["127.0.0.1", "[::1]"] {
        let Some(haproxy) = Foreign::haproxy(test, ip) else { return };
        let url = format!("http://{}/", haproxy.address);
        let mut expected = 0;
        for way in WAYS {
            for version in ["v1", "v2"] {
                let Some(_) = run(test, &url, way, version) else { continue };
                expected += 31;
                let seen = haproxy.lines("seen ", expected);
                let to = haproxy.address.to_string().replace(['[', ']'], "");
                let last = seen.last().expect("some were seen");
                assert!(last.ends_with(&format!(" {to} 200")), "{way:?} {version}: {last}");
            }
        }
    }
}

/// A server that misses the header, or receives an unexpected one, closes or responds with 400.
/// Nothing hangs.
#[test]
fn a_header_that_is_not_expected_is_reported() {
    let test = "a_header_that_is_not_expected_is_reported";
    let server = "listen LISTEN; location / { return 200 \"ok\"; }";
    let Some(nginx) = Nginx::start(test, TestDir::new(), LOG, server) else { return };
    let url = format!("http://{}/", nginx.address());
    let trial = trial();
    let outcome = trial.load(&url, ["--proxy-protocol", "v1", "-n", "5", "-c", "1", "--no-probe"]).run();
    let result = outcome.expect_exit(1).result();
    result.conserved();
    assert_eq!(result.count("requests.failed"), 5, "{result}");
    assert_eq!(result.count("requests.open"), 0, "{result}");
}
