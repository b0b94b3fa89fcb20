//! Whatever becomes of a topology file, reading it ends: with a lab or with an error, never in a panic, and with little work.
//!
//! 5,000 mutated files are read, or as many as `WAVETANK_MUTATIONS` says. A failing one is told by its seed:
//! `WAVETANK_MUTATION_SEED` reads that one alone.

mod support;

use support::{example_labs, names_in, reading, root};
use wavetank_experiment::render;
use wavetank_topology::Lab;

const MUTATIONS_DEFAULT: u64 = 5_000;

/// What mutations put in: the words and signs that mean something.
const WORDS: [&str; 36] = [
    "{",
    "}",
    "[",
    "]",
    ": ",
    "- ",
    "\n",
    "  ",
    "\t",
    "\"",
    "#",
    "&a ",
    "*a",
    "null",
    "~",
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
    "ü",
];

/// A generator of numbers from a seed (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Below `bound`; 0 of 0.
    fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }
}

/// One to five changes of a file, some of them by parts of another.
fn mutated(seed: u64, files: &[String]) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut bytes = files[dice.below(files.len())].clone().into_bytes();
    for _ in 0..=dice.below(5) {
        let (at, length) = (dice.below(bytes.len() + 1), dice.below(24));
        let end = (at + length).min(bytes.len());
        let word = WORDS[dice.below(WORDS.len())].as_bytes();
        match dice.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, word.iter().copied())),
            2 => drop(bytes.splice(at..end, word.iter().copied())),
            3 if at < bytes.len() => bytes[at] = dice.next() as u8,
            _ => {
                let other = files[dice.below(files.len())].as_bytes();
                let from = dice.below(other.len() + 1);
                let piece = &other[from..(from + dice.below(200)).min(other.len())];
                drop(bytes.splice(at..at, piece.iter().copied()));
            }
        }
    }
    bytes
}

/// What holds of every lab, however its file looks.
fn sound(lab: &Lab) {
    let mut addresses: Vec<_> =
        lab.hosts.iter().flat_map(|host| &host.interfaces).flat_map(|one| &one.addresses).collect();
    let count = addresses.len();
    addresses.sort();
    addresses.dedup();
    assert_eq!(addresses.len(), count, "each address once");
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
        assert!(lab.address_seen(0, index).is_some(), "{} has an address for others", host.name);
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
    let folder = root().join("core/topology/tests");
    let mut files: Vec<String> = example_labs().into_iter().map(|(_, text)| text).collect();
    files.extend(std::fs::read_to_string(folder.join("golden/everything.yaml")));
    let mistakes = folder.join("mistakes");
    for name in names_in(&mistakes, "yaml") {
        files.extend(std::fs::read_to_string(mistakes.join(name)));
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("WAVETANK_MUTATION_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("WAVETANK_MUTATIONS").unwrap_or(MUTATIONS_DEFAULT),
    };
    for seed in seeds {
        let bytes = mutated(seed, &files);
        let done = std::panic::catch_unwind(|| use_all(&bytes));
        assert!(done.is_ok(), "WAVETANK_MUTATION_SEED={seed}:\n{}", String::from_utf8_lossy(&bytes));
    }
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
        let codes: Vec<&str> = reading.diagnostics.sorted().iter().map(|told| told.code).collect();
        assert!(codes.contains(&"lab_too_many") && reading.lab.is_none(), "{what}: {codes:?}");
    }
}
