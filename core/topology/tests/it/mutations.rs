//! Reading a mutated topology file always ends with a lab or an error. It never panics and takes
//! little work.

use crate::mutation;
use crate::support;

use mutation::read_mutated;
use support::files::{of_tests, texts_in};
use support::{example_labs, reading};
use wavetank_grammar::render;
use wavetank_topology::Lab;

const MUTATIONS: u64 = 5_000;

/// Texts that have a meaning in a lab.
const WORDS: [&str; 20] = [
    "0",
    "-1",
    "99999999999999999999",
    "10.30.0.0/24",
    "10.30.0.10",
    "::1",
    "fd00::/64",
    " to ",
    "app[1-4]",
    "[01-99]",
    ":8080",
    "lo",
    "5%",
    "1Gbit/s",
    "100ms",
    "servers: ",
    "listen: ",
    "networks: ",
    "address: ",
    "copies: ",
];

/// What holds of every lab, however its file looks.
fn sound(lab: &Lab) {
    let mut addresses: Vec<_> =
        lab.hosts.iter().flat_map(|host| &host.interfaces).flat_map(|one| &one.addresses).collect();
    let count = addresses.len();
    addresses.sort();
    addresses.dedup();
    assert_eq!(addresses.len(), count, "each address is used once");
    for (index, host) in lab.hosts.iter().enumerate() {
        assert!(!host.interfaces.is_empty(), "{} is on a network", host.name);
        for interface in &host.interfaces {
            let subnet = lab.networks[interface.network].subnet;
            assert!(!interface.addresses.is_empty(), "{} has an address", host.name);
            assert!(
                interface.addresses.iter().all(|(address, _)| subnet.contains(*address)),
                "{}",
                host.name
            );
        }
        for backend in host.services.iter().flat_map(wavetank_topology::Service::backends) {
            let there = &lab.hosts[backend.host];
            assert_eq!(there.name, backend.name);
            let network = host.interfaces[backend.interface].network;
            let theirs = there.interface_on(network).expect("a network in common");
            assert_eq!((theirs.mac, theirs.addresses[0].0), (backend.mac, backend.address));
        }
        assert!(lab.source_address(0, index).is_some(), "{} has an address for others", host.name);
    }
}

fn use_all(bytes: &[u8]) {
    let reading = reading("mutated.yaml", bytes);
    let shown = render(&reading.diagnostics, "mutated.yaml", &reading.text);
    assert_eq!(reading.lab.is_none(), reading.diagnostics.has_errors(), "{shown}");
    if let Some(lab) = &reading.lab {
        sound(lab);
    }
}

#[test]
fn nothing_panics() {
    let mut files: Vec<String> = example_labs().into_iter().map(|(_, text)| text).collect();
    for folder in ["golden", "mistakes"] {
        files.extend(texts_in(&of_tests(folder), "yaml"));
    }
    read_mutated(&files, &WORDS, MUTATIONS, use_all);
}

/// Short files that would be long labs are refused before they are.
#[test]
fn much_out_of_little_is_refused() {
    let head = "wavetank_lab: 1\nname: big\nnetworks: {a: 10.0.0.0/8}\nhosts:\n";
    let host = |at: usize| format!("  h{at}-[1-256]: {{networks: [a], sources: 1k}}");
    let hosts: Vec<String> = (0..2_000).map(host).collect();
    let hosts = hosts.join("\n") + "\n";
    let servers = "\"h[1-256]\",".repeat(20_000);
    let balancer = format!(
        "  h[1-256]:\n    networks: [a]\n    services: [{{haproxy: {{listen: 80, servers: [{servers}]}}}}]\n"
    );
    let addresses = "  h[1-256]: {networks: [a], sources: 1k}\n".to_owned();
    for (what, hosts) in [("hosts", hosts), ("servers", balancer), ("addresses", addresses)] {
        let reading = reading("big.yaml", format!("{head}{hosts}").as_bytes());
        let codes: Vec<&str> =
            reading.diagnostics.sorted().iter().map(|diagnostic| diagnostic.code.as_str()).collect();
        assert!(codes.contains(&"lab_too_many") && reading.lab.is_none(), "{what}: {codes:?}");
    }
}
