//! [`LossFilter`]: an interface that loses packets, a share of them or all, in either direction.
//!
//! Filters of the `netdev` family see every frame first, including ARP, so nothing gets through a
//! cable that is cut. Addresses and routes stay, as they do if a cable is pulled at the far end of
//! a switch.

use std::io::Write;
use std::process::{Command, Stdio};

use wavetank_units::{Code, UserError, sentence};

/// Runs before any other filter at this hook.
const PRIORITY: i32 = -500;

/// The unit of shares.
const MILLION: u32 = 1_000_000;

/// A filter that loses packets on an interface.
#[derive(Debug)]
pub(super) struct LossFilter {
    host: String,
    table: String,
}

impl LossFilter {
    /// Starts losing `share_ppm` of a million packets of `interface`, or all of them.
    pub(super) fn begin(
        host: &str,
        id: u64,
        interface: &str,
        share_ppm: Option<u32>,
    ) -> Result<Self, UserError> {
        let table = format!("wavetank_fault_{id}");
        nft(host, &ruleset(&table, interface, share_ppm))?;
        Ok(Self { host: host.to_owned(), table })
    }

    /// Removes the filter.
    pub(super) fn end(self) -> Result<(), UserError> {
        nft(&self.host, &format!("delete table netdev {}\n", self.table))
    }
}

/// The two directions lose packets independently. An exchange of two packets fails more often than
/// a single packet.
fn ruleset(table: &str, interface: &str, share_ppm: Option<u32>) -> String {
    let rule = match share_ppm {
        Some(share) if share < MILLION => format!("numgen random mod {MILLION} < {share} drop"),
        Some(_) | None => "drop".to_owned(),
    };
    let chain = |name: &str, hook: &str| {
        format!(
            "  chain {name} {{\n    type filter hook {hook} device \"{interface}\" priority {PRIORITY}; policy accept;\n    \
             {rule}\n  }}\n"
        )
    };
    format!("table netdev {table} {{\n{}{}}}\n", chain("in", "ingress"), chain("out", "egress"))
}

/// Runs `commands` in nft, as one transaction.
fn nft(host: &str, commands: &str) -> Result<(), UserError> {
    let failed = |said: &str| {
        let message = sentence!("host {host}: nft: {}", said.lines().next().unwrap_or_default());
        let hint = "cut and drop need nftables (apt install nftables) and a kernel with netdev filters, 5.16 or later";
        UserError::refused(Code::LabFaultFailed, message, hint)
    };
    let pipes = |command: &mut Command| {
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
    };
    let mut child =
        pipes(Command::new("nft").args(["-f", "-"])).map_err(|error| failed(&error.to_string()))?;
    if let Some(mut input) = child.stdin.take() {
        // A few hundred bytes fit into any pipe. If nft does not read them, its error is reported
        // below.
        let _ = input.write_all(commands.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| failed(&error.to_string()))?;
    if output.status.success() { Ok(()) } else { Err(failed(&String::from_utf8_lossy(&output.stderr))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_as_nft_reads_them() {
        let half = ruleset("wavetank_fault_7", "eth0", Some(500_000));
        let expected = "table netdev wavetank_fault_7 {\n  chain in {\n    \
                        type filter hook ingress device \"eth0\" priority -500; policy accept;\n    \
                        numgen random mod 1000000 < 500000 drop\n  }\n  chain out {\n    \
                        type filter hook egress device \"eth0\" priority -500; policy accept;\n    \
                        numgen random mod 1000000 < 500000 drop\n  }\n}\n";
        assert_eq!(half, expected);
        for share in [None, Some(1_000_000)] {
            let all = ruleset("t", "eth1", share);
            assert_eq!(all.matches("accept;\n    drop\n").count(), 2, "{all}");
        }
    }
}
