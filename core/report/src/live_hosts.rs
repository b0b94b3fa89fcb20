//! [`live_hosts`]: what the hosts of a running run do now.

use wavetank_measure::{HostSample, HostStats, Observations};
use wavetank_record::{LiveHost, Number};

/// Returns each host with two samples: the run's own host first, then the others by name.
pub fn live_hosts(observed: &Observations) -> Vec<LiveHost> {
    let host = |stats: &HostStats| {
        let (before, now) = stats.latest_two()?;
        Some(live_host(stats.name(), before, now))
    };
    let mut others: Vec<LiveHost> = observed.other_hosts().iter().filter_map(host).collect();
    others.sort_by(|one, other| one.name.cmp(&other.name));
    observed.this_host().and_then(host).into_iter().chain(others).collect()
}

fn live_host(name: &str, before: &HostSample, now: &HostSample) -> LiveHost {
    let net = now.net_since(before);
    let whole = |bits: f64| Number(bits.round());
    LiveHost {
        name: name.to_owned(),
        at_s: Number(now.at.as_secs_f64()),
        cpu: now.cpu_since(before).map(|share| percent(share.min(1.0))),
        cores: now.core_shares_since(before).into_iter().map(percent).collect(),
        in_bits_per_s: net.map(|(bits, _)| whole(bits)),
        out_bits_per_s: net.map(|(_, bits)| whole(bits)),
        tcp_sockets: now.tcp_inuse,
        memory_used_bytes: now.mem_used_bytes,
        memory_bytes: now.mem_all_bytes,
    }
}

/// A share in whole percent, which is enough for a bar.
fn percent(share: f64) -> Number {
    Number((share * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use wavetank_measure::Ledger;
    use wavetank_plan::{Plan, TargetUrl};
    use wavetank_units::Nanos;

    use super::*;

    fn sample(at_s: i64, cores: Vec<(u64, u64)>, bytes: u64) -> HostSample {
        HostSample {
            at: Nanos::from_secs(at_s),
            cores,
            net_in_bytes: bytes,
            net_out_bytes: 2 * bytes,
            tcp_inuse: 7,
            mem_used_bytes: 3,
            mem_all_bytes: 9,
            ..HostSample::default()
        }
    }

    #[test]
    fn hosts_are_shown_between_their_two_latest_samples() {
        let url = TargetUrl::parse("127.0.0.1:8080/").expect("a URL");
        let mut ledger = Ledger::new(&Plan::for_tests(&url, &[]));
        for name in ["load2", "load1"] {
            ledger.observe_other(name, &sample(0, vec![(0, 0), (0, 0)], 0));
        }
        assert_eq!(live_hosts(ledger.observed()), [], "a rate needs two samples");
        ledger.observe_other("load2", &sample(1, vec![(90, 100), (10, 100)], 125));
        ledger.observe_other("load2", &sample(2, vec![(140, 200), (10, 200)], 250));
        ledger.observe_other("load1", &sample(2, Vec::new(), 0));
        let hosts = live_hosts(ledger.observed());
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        assert_eq!(names, ["load1", "load2"]);
        assert_eq!((hosts[0].cpu, hosts[0].cores.len()), (None, 0), "unknown CPUs are no idle ones");
        let busy = &hosts[1];
        assert_eq!((busy.cpu, &busy.cores[..]), (Some(Number(0.25)), &[Number(0.5), Number(0.0)][..]));
        assert_eq!((busy.in_bits_per_s, busy.out_bits_per_s), (Some(Number(1e3)), Some(Number(2e3))));
        assert_eq!(
            (busy.at_s, busy.tcp_sockets, busy.memory_used_bytes, busy.memory_bytes),
            (Number(2.0), 7, 3, 9)
        );
    }
}
