//! Settings below `net.core`, `net.netfilter` and the interfaces.

use super::{CONNTRACK, INT_MAX, IP_SYSCTL, NET_SYSCTL, Rule, Scope, Setting, Test, Unit};
use crate::{KernelVersion, Verdict};

const fn rule(test: Test, verdict: Verdict, sentence: &'static str, hint: &'static str) -> Rule {
    Rule { test, verdict, sentence, hint }
}

/// A switch for one network.
const fn switch(key: &'static str, about: &'static str, rules: &'static [Rule]) -> Setting {
    Setting {
        key,
        scope: Scope::Network,
        unit: Unit::Switch,
        fields: 1,
        range: (0, 2),
        removed: None,
        about,
        source: IP_SYSCTL,
        rules,
    }
}

/// A number for the whole host.
const fn number(key: &'static str, unit: Unit, about: &'static str, rules: &'static [Rule]) -> Setting {
    Setting {
        key,
        scope: Scope::Host,
        unit,
        fields: 1,
        range: (0, INT_MAX),
        removed: None,
        about,
        source: NET_SYSCTL,
        rules,
    }
}

const NEVER: &str = "remove the line";
const BUFFER_DEFAULT: &str = "TCP does not use it; every UDP, raw and unix socket may now pin {}";

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        scope: Scope::Network,
        ..number(
            "net.core.somaxconn",
            Unit::Count,
            "it caps the backlog of listen(2), and with it the queue of half-open connections",
            &[
                rule(
                    Test::Above(0, 65_535),
                    Verdict::TooLarge,
                    "{} is no use: older kernels kept the backlog in 16 bits, and a longer queue only turns overload into waiting",
                    "write 65535 at most, and raise the backlog of the server's own listen as well",
                ),
                rule(
                    Test::Below(0, 4_096),
                    Verdict::Lowers,
                    "{} is lower than the default of Linux 5.4 and later, 4,096",
                    "remove the line, or write 4096 to 65535",
                ),
            ],
        )
    },
    number(
        "net.core.netdev_max_backlog",
        Unit::Count,
        "it is the queue of each CPU for packets from RPS, veth and loopback; physical cards do not use it",
        &[
            rule(
                Test::Above(0, 30_000),
                Verdict::TooLarge,
                "{} packets per CPU hold more than a second of traffic and gigabytes of memory",
                "write 4096 to 16384, and only if the second column of /proc/net/softnet_stat grows",
            ),
            rule(Test::Below(0, 1_000), Verdict::Lowers, "{} is lower than the default, 1,000", NEVER),
        ],
    ),
    number(
        "net.core.rmem_max",
        Unit::Bytes,
        "it caps SO_RCVBUF only; TCP's own growth of buffers follows net.ipv4.tcp_rmem",
        &[rule(
            Test::Above(0, 1 << 28),
            Verdict::TooLarge,
            "{} for one socket is far above what any link needs",
            "write 16777216",
        )],
    ),
    number(
        "net.core.wmem_max",
        Unit::Bytes,
        "it caps SO_SNDBUF only; TCP's own growth of buffers follows net.ipv4.tcp_wmem",
        &[rule(
            Test::Above(0, 1 << 28),
            Verdict::TooLarge,
            "{} for one socket is far above what any link needs",
            "write 16777216",
        )],
    ),
    number(
        "net.core.rmem_default",
        Unit::Bytes,
        "it is the buffer of UDP, raw and unix sockets; TCP does not use it",
        &[
            rule(
                Test::AboveReceiveMax,
                Verdict::Harmful,
                "it is above net.core.rmem_max, and every UDP, raw and unix socket may now pin {}",
                NEVER,
            ),
            rule(Test::Above(0, 212_992), Verdict::Harmful, BUFFER_DEFAULT, NEVER),
            rule(Test::Always, Verdict::NoEffect, "TCP does not use it: net.ipv4.tcp_rmem applies", NEVER),
        ],
    ),
    number(
        "net.core.wmem_default",
        Unit::Bytes,
        "it is the buffer of UDP, raw and unix sockets; TCP does not use it",
        &[
            rule(Test::Above(0, 212_992), Verdict::Harmful, BUFFER_DEFAULT, NEVER),
            rule(Test::Always, Verdict::NoEffect, "TCP does not use it: net.ipv4.tcp_wmem applies", NEVER),
        ],
    ),
    Setting {
        scope: Scope::Network,
        ..number(
            "net.core.optmem_max",
            Unit::Bytes,
            "it bounds the ancillary data of a socket",
            &[rule(
                Test::Above(0, 131_072),
                Verdict::NoEffect,
                "it bounds ancillary data and MSG_ZEROCOPY; web servers need neither in this size",
                NEVER,
            )],
        )
    },
    Setting {
        key: "net.netfilter.nf_conntrack_max",
        source: CONNTRACK,
        ..number(
            "",
            Unit::Count,
            "it is the greatest number of tracked connections, some 320 B each; raise nf_conntrack_buckets with it",
            &[],
        )
    },
    Setting {
        key: "net.nf_conntrack_max",
        source: CONNTRACK,
        ..number(
            "",
            Unit::Count,
            "it is the same variable as net.netfilter.nf_conntrack_max; raise nf_conntrack_buckets with it",
            &[],
        )
    },
    Setting {
        source: CONNTRACK,
        ..number(
            "net.netfilter.nf_conntrack_buckets",
            Unit::Count,
            "it is the size of the table of tracked connections: as large as nf_conntrack_max, or half",
            &[],
        )
    },
    Setting {
        key: "net.ipv4.netfilter.ip_conntrack_max",
        removed: Some(KernelVersion(2, 6)),
        source: CONNTRACK,
        ..number(
            "",
            Unit::Count,
            "it is the former name of net.netfilter.nf_conntrack_max",
            &[rule(
                Test::Always,
                Verdict::Obsolete,
                "it is the former name of net.netfilter.nf_conntrack_max, which kernels no longer know",
                NEVER,
            )],
        )
    },
    Setting {
        source: IP_SYSCTL,
        ..number(
            "net.ipv4.neigh.default.gc_thresh3",
            Unit::Count,
            "it is the greatest number of neighbours on a link: twice the addresses on it",
            &[rule(Test::Below(0, 1_024), Verdict::Lowers, "{} is lower than the default, 1,024", NEVER)],
        )
    },
    switch(
        "net.ipv4.ip_forward",
        "a router and LVS-NAT need it; direct routing does not. A change resets net.ipv4.conf.* to the defaults of a router",
        &[],
    ),
    switch(
        "net.ipv4.ip_nonlocal_bind",
        "the standby of a VRRP pair needs it to bind the shared address",
        &[rule(
            Test::Is(1),
            Verdict::Conflict,
            "every server on this host may now bind a mistyped address without an error",
            "keep it only on the standby of a VRRP pair",
        )],
    ),
    switch(
        "net.ipv4.vs.conntrack",
        "0 keeps connection tracking out of IPVS",
        &[rule(
            Test::Is(1),
            Verdict::Conflict,
            "every packet of IPVS passes connection tracking too",
            "write 0 unless a firewall needs it",
        )],
    ),
    switch(
        "net.ipv4.vs.expire_nodest_conn",
        "1 ends connections to a server that is gone, so that clients connect again",
        &[],
    ),
    switch(
        "net.ipv4.vs.conn_reuse_mode",
        "1 schedules a reused port again in place of sending it to a server that is full",
        &[],
    ),
    switch(
        "net.ipv4.conf.all.arp_ignore",
        "1 keeps a server behind direct routing from answering ARP for the shared address",
        &[],
    ),
    switch(
        "net.ipv4.conf.all.arp_announce",
        "2 keeps a server behind direct routing from announcing the shared address",
        &[],
    ),
];
