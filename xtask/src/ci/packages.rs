//! Lists the programs that tests and benches need, and installs them with apt where possible.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use wavetank_bench::programs::find;

use super::Ci;

/// A program that tests or benches call, and Debian's packages that bring it.
const NEEDED: [(&str, &str); 31] = [
    // Java's HdrHistogram, which reads the log that `wavetank report` writes. It is a library, so
    // it is found by its path.
    ("/usr/share/java/hdrhistogram.jar", "libhdrhistogram-java"),
    // What the flash sale of a lab is written in; a module of nginx, known by its place.
    ("/usr/lib/nginx/modules/ngx_http_lua_module.so", "libnginx-mod-http-lua"),
    // A foreign WebSocket server; a Python package, known by its place.
    ("/usr/lib/python3/dist-packages/websockets/__init__.py", "python3-websockets"),
    ("ab", "apache2-utils"), // a foreign client, and a peer of the benches
    // The C inside some crates, for the other architecture.
    ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
    ("chromium", "chromium"),         // opens the pages that `wavetank report` writes
    ("curl", "curl"),                 // a foreign client against `wavetank serve`
    ("h2load", "nghttp2-client"),     // a peer of the benches
    ("haproxy", "haproxy"),           // a foreign balancer that wants the PROXY protocol's header
    ("ip", "iproute2"),               // addresses and namespaces for tests; `tc` is in it, too
    ("java", "default-jre-headless"), // runs that library
    ("iperf3", "iperf3"),             // the peer of `wavetank net`
    ("keepalived", "keepalived"),     // judges what a lab makes for IPVS
    ("musl-gcc", "musl-tools"),       // the C inside some crates, for static binaries
    ("nginx", "nginx-light"),
    ("nghttpd", "nghttp2-server"),  // the foreign server of the benches and tests
    ("nats-server", "nats-server"), // the broker between a controller and its agents
    ("nft", "nftables"),            // direct routing, NAT and lost packets in labs
    ("openssl", "openssl"),         // certificates, and a foreign peer on both sides of TLS
    ("prometheus", "prometheus"),   // takes the metrics of a run
    ("ps", "procps"),               // looking at processes in tests
    ("python3", "python3"),         // scripted servers of the cases from the field
    ("qemu-aarch64", "qemu-user"),  // runs the other architecture's binary
    ("ssh", "openssh-client"),      // enters a host of a lab
    ("sshd", "openssh-server"),     // lets it in
    ("strace", "strace"),           // counting system calls on the load path
    ("tcpdump", "tcpdump"),         // nothing is sent before a refusal
    ("tinyproxy", "tinyproxy-bin"), // a foreign proxy
    ("tsung", "tsung"),             // a peer of the benches
    ("valgrind", "valgrind"),       // counts instructions of the load path
    ("wrk", "wrk"),                 // the peer of the benches
];

/// What Debian's packages ask before they start a daemon.
const POLICY: &str = "/usr/sbin/policy-rc.d";
/// The answer while packages are installed here: none.
const NO_DAEMONS: &str = "#!/bin/sh\n# Of `cargo ci` of wavetank, while it installs packages.\nexit 101\n";

/// Installs missing packages as root on a machine with apt. Elsewhere it prints the command and
/// notes the skip.
pub(super) fn install(ci: &mut Ci<'_>) -> Result<()> {
    let missing = missing(|program| find(program).is_some());
    if missing.is_empty() {
        println!("all programs that tests need are here");
        return Ok(());
    }
    let root = rustix::process::geteuid().is_root();
    if !root || find("apt-get").is_none() {
        println!("missing: {0}. Install with: sudo apt-get install {0}", missing.join(" "));
        ci.skipped
            .push(format!("packages: {} not installed; tests that need them are skipped", missing.join(" ")));
        return Ok(());
    }
    apt(&["update", "-q"])?;
    let _quiet = NoDaemons::new()?;
    let mut arguments = vec!["install", "-q", "-y", "--no-install-recommends"];
    arguments.extend(&missing);
    apt(&arguments)
}

/// Returns the packages of programs that are missing.
fn missing(is_there: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let absent = NEEDED.iter().filter(|(program, _)| !is_there(program));
    absent.flat_map(|(_, packages)| packages.split(' ')).collect()
}

/// Keeps installed packages from starting daemons while it exists. Tests start their own, and a
/// machine that only runs tests should not open server ports.
struct NoDaemons {
    /// There was a policy before, which is left as it is.
    own: bool,
}

impl NoDaemons {
    fn new() -> Result<Self> {
        // One that was broken off may have left its own.
        if std::fs::read_to_string(POLICY).is_ok_and(|text| text == NO_DAEMONS) {
            std::fs::remove_file(POLICY).context(POLICY)?;
        }
        let own = !Path::new(POLICY).exists();
        if own {
            let file = OpenOptions::new().write(true).create_new(true).mode(0o755).open(POLICY);
            file.and_then(|mut file| file.write_all(NO_DAEMONS.as_bytes())).context(POLICY)?;
        }
        Ok(Self { own })
    }
}

impl Drop for NoDaemons {
    fn drop(&mut self) {
        if self.own
            && let Err(error) = std::fs::remove_file(POLICY)
        {
            println!("{POLICY} is to be removed: {error}");
        }
    }
}

fn apt(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    let status =
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").status().context("apt-get")?;
    if !status.success() {
        bail!("`apt-get {}` ended with {status}", arguments.join(" "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_installed() {
        assert_eq!(missing(|program| program != "ip"), ["iproute2"]);
        assert!(missing(|_| true).is_empty());
    }
}
