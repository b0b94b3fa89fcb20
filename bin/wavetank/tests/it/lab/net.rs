//! `wavetank net` between hosts of a lab.

use serde_json::Value;
use wavetank_testkit::{Outcome, Program};

use super::place::{HOSTS, Place};

/// Measures in the lab for a short time.
fn net(place: &Place, words: &[&str]) -> Outcome {
    let labs = place.labs();
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank"))
        .args(["net", "--lab", &place.name, "--duration", "100ms", "--streams", "1", "--format", "json"])
        .args(["--no-archive"])
        .args(words)
        .environment("WAVETANK_LABS", &labs.to_string_lossy());
    program.run()
}

fn codes(doc: &Value) -> Vec<&str> {
    let findings = doc["findings"].as_array().expect("findings");
    findings.iter().filter_map(|finding| finding["code"].as_str()).collect()
}

#[test]
fn pairs_and_many_to_one_are_measured_between_hosts() {
    let Some(place) = Place::new("net-pairs", HOSTS) else { return };
    place.up();
    let doc = net(&place, &["--tests", "tcp,rr,mtu"]).expect_exit(0).json();
    let pairs: Vec<_> =
        doc["pairs"].as_array().expect("pairs").iter().map(|pair| (&pair["from"], &pair["to"])).collect();
    assert_eq!(pairs.len(), 3, "{pairs:?}");
    for pair in doc["pairs"].as_array().expect("pairs") {
        assert_eq!(pair["tcp"].as_array().map(Vec::len), Some(4), "{pair}");
        assert_eq!(
            (&pair["mtu"]["forward"], &pair["mtu"]["reverse"]),
            (&1_500.into(), &1_500.into()),
            "{pair}"
        );
    }
    let many = net(&place, &["--many-to-one", "app"]).expect_exit(0).json();
    assert_eq!(many["many_to_one"]["to"], "app");
    let senders = many["many_to_one"]["senders"].as_array().expect("senders");
    assert_eq!(senders.len(), 2, "{many}");
    assert!(
        senders.iter().all(|one| one["together_bits_per_s"].as_f64().is_some_and(|rate| rate > 1e6)),
        "{many}"
    );
    let unknown = net(&place, &["--from", "lode"]).expect_exit(2).json();
    assert_eq!(unknown["code"], "net_host_unknown");
    place.lab(&["down", "--lab", &place.name]).run().expect_exit(0);
    place.nothing_left("measurements");
}

#[test]
fn a_black_hole_and_a_filter_in_one_direction_are_named() {
    let Some(place) = Place::new("net-faults", HOSTS) else { return };
    place.up();
    // Larger frames than the interface's MTU are dropped without any message.
    place.said("app", "ip link set eth0 mtu 1400");
    let doc = net(&place, &["--from", "load1", "--to", "app", "--tests", "mtu"]).expect_exit(0).json();
    let forward = doc["pairs"][0]["mtu"]["forward"].as_u64();
    // A virtual link carries 4 bytes more, for the tag of a VLAN.
    assert!(matches!(forward, Some(1_400 | 1_404)), "{doc}");
    assert_eq!(codes(&doc), ["net_mtu_black_hole"], "{doc}");
    place.said("app", "ip link set eth0 mtu 1500");

    let rules = "nft 'add table inet t; add chain inet t i { type filter hook input priority 0; }; \
                 add rule inet t i tcp dport 7077 reject with tcp reset'";
    place.said("load2", rules);
    let pair = ["--from", "load1", "--to", "load2", "--tests", "rr"];
    let failed = net(&place, &pair).expect_exit(4).json();
    assert_eq!(failed["pairs"][0]["failures"][0]["code"], "net_refused", "{failed}");
    // The other way round it was possible.
    assert_eq!(failed["pairs"][1]["from"], "load2", "{failed}");
    assert_eq!(codes(&failed), ["net_one_way"], "{failed}");
}
