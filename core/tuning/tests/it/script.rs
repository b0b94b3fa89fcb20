//! Lines of shell scripts and of rules for nft.

use wavetank_tuning::FileKind::Script;

use crate::support::check;

#[test]
fn commands_that_change_a_host() {
    for (line, expected) in [
        ("cat 65535 > /proc/sys/net/core/somaxconn", Some("setting_unknown")),
        ("echo 65535 > /proc/sys/net/core/somaxconn", None),
        ("echo 1 >/proc/sys/net/ipv4/tcp_tw_recycle", Some("setting_obsolete")),
        ("sysctl -w net.core.somaxconn=6553600", Some("setting_too_large")),
        ("sysctl -w net.ipv4.ip_local_port_range='1024 65535'", None),
        ("ulimit -n 200000", None),
        ("ulimit -n 20000500", Some("setting_rejected")),
        ("ethtool -G eth0 rx 4096", None),
        ("iptables -A INPUT -m state --state NEW -p tcp --dport 80 -j ACCEPT", Some("setting_harmful")),
        ("ip addr add 10.0.0.1 dev eth0:1", Some("setting_rejected")),
        ("ip addr add 10.0.0.1/32 dev lo label lo:vip", None),
        ("arptables -A IN -d 10.0.0.1 -j DROP", Some("setting_obsolete")),
        ("service pulse start", Some("setting_obsolete")),
        ("yum -y groupinstall 'Load Balancer'", Some("setting_obsolete")),
        ("chkconfig nginx on", Some("setting_obsolete")),
        ("make TARGET=linux2628 USE_CPU_AFFINITY=1", Some("setting_obsolete")),
        ("make TARGET=linux-glibc", None),
        ("cat /proc/net/netstat | awk '/TcpExt/ { print $21,$22 }'", Some("setting_conflict")),
        ("httperf --server web1 --rate 2000 --num-conns=100000", Some("setting_capped")),
        ("httperf --server web1 --wsess 5000,10,2", Some("setting_capped")),
        ("httperf --server web1 --num-conns 1000", None),
        ("ab -k -c 30000 -n 100000 http://web1/", Some("setting_rejected")),
        ("ab -c 1000 -n 100000 http://web1/", None),
        ("siege -c500 http://web1/", Some("setting_capped")),
        ("siege --concurrent=200 http://web1/", None),
        ("modprobe ip_vs conn_tab_bits=20", None),
        ("ipvsadm -A -t 10.0.0.1:80 -s mh", None),
        (
            "ip daddr 10.0.0.1 tcp dport 80 ether daddr set numgen inc mod 2 map { 0 : a } fwd to eth0",
            Some("setting_harmful"),
        ),
        ("ip daddr 10.0.0.1 tcp dport 80 ether daddr set jhash ip saddr . tcp sport mod 2 fwd to eth0", None),
        ("tcp dport 80 ct state new accept", Some("setting_harmful")),
    ] {
        let expected: Vec<String> = expected.iter().map(|code| format!("1 {code}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(Script, line, &expected);
    }
}
