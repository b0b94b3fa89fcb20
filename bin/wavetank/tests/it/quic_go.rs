//! HTTP/3 with quic-go, the QUIC of Caddy and Traefik: its server answers the load, and `serve`
//! answers its client. One of ten datagrams is lost in each direction.

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{Outcome, Program, RunHarness, TestDir, skip};

use crate::go_program::built;

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const SERVER: &str = "github.com/quic-go/quic-go/example@v0.65.0";
const CLIENT: &str = "github.com/quic-go/quic-go/example/client@v0.65.0";

/// Runs `script` in a network of its own that loses datagrams of port 8443, with quic-go's program
/// in `$1`; `None` if this machine cannot.
fn run_with_loss(test: &str, package: &str, script: &str) -> Option<Outcome> {
    if !NetNs::available(test) {
        return None;
    }
    if Program::foreign("nft").is_none() {
        skip(test, "`nft` is not installed");
        return None;
    }
    let place = TestDir::new();
    let program = built(test, package, &place)?;
    let script = format!(
        "ip link set lo up; nft add table inet t; \
         nft add chain inet t i '{{ type filter hook input priority 0; }}'; \
         nft add rule inet t i udp dport 8443 numgen inc mod 10 == 7 counter drop; \
         nft add rule inet t i udp sport 8443 numgen inc mod 10 == 7 counter drop; \
         until_ready() {{ tries=0; until \"$@\" || [ $((tries += 1)) -gt 100000 ]; do :; done; }}; \
         {script}"
    );
    let harness = RunHarness::new(PROGRAM);
    let peer = program.arguments().last().expect("the program").clone();
    let shell = NetNs::shell(&harness.program().arguments()[0], &script);
    Some(shell.args([peer]).in_folder(harness.place().path()).run())
}

#[test]
fn quic_go_answers() {
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let place = TestDir::new();
    let certificate = place.write("c.pem", certified.cert.pem());
    let key = place.write("k.pem", certified.signing_key.serialize_pem());
    for engine in ["epoll", "auto"] {
        let script = format!(
            "\"$1\" -bind 127.0.0.1:8443 -cert {certificate} -key {key} >server.txt & trap \"kill $!\" EXIT; \
             until_ready sh -c 'ss -Hlun sport = 8443 | grep -q .'; \
             \"$0\" run https://127.0.0.1:8443/3000 --http 3 --insecure -c 4 -n 200 --engine {engine} \
             --format json"
        );
        let Some(outcome) = run_with_loss("quic_go_answers", SERVER, &script) else { return };
        let result = outcome.expect_exit(0).result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (200, 0), "{outcome}");
        assert!(result.count("bytes.received") >= 600_000, "{outcome}");
    }
}

#[test]
fn quic_go_is_answered() {
    let script = "\"$0\" serve --listen 127.0.0.1:8080 --tls --http3 8443 >serve.txt & trap \"kill $!\" EXIT; \
                  until_ready grep -q serving serve.txt; \
                  \"$1\" -insecure -q https://127.0.0.1:8443/bytes/300 https://127.0.0.1:8443/bytes/3000000";
    let Some(outcome) = run_with_loss("quic_go_is_answered", CLIENT, script) else { return };
    outcome.expect_exit(0);
    for body in ["300 bytes", "3000000 bytes"] {
        assert!(outcome.stderr.contains(body) || outcome.stdout.contains(body), "{outcome}");
    }
}
