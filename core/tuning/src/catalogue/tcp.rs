//! Settings below `net.ipv4.tcp_…` and the range of local ports.

use super::{INT_MAX, IP_SYSCTL, Rule, Scope, Setting, Test, Unit};
use crate::{KernelVersion, Verdict};

const NEVER: &str = "remove the line";
const BUFFER_HINT: &str = "write 4096 131072 16777216";
const SEND_HINT: &str = "write 4096 16384 16777216";

const fn rule(test: Test, verdict: Verdict, sentence: &'static str, hint: &'static str) -> Rule {
    Rule { test, verdict, sentence, hint }
}

const fn setting(key: &'static str, unit: Unit, about: &'static str, rules: &'static [Rule]) -> Setting {
    Setting {
        key,
        scope: Scope::Network,
        unit,
        fields: 1,
        range: (0, INT_MAX),
        removed: None,
        about,
        source: IP_SYSCTL,
        rules,
    }
}

pub(super) const SETTINGS: &[Setting] = &[
    setting(
        "net.ipv4.tcp_max_syn_backlog",
        Unit::Count,
        "with SYN cookies on, the kernel ignores it: the backlog of listen(2) bounds half-open connections",
        &[
            rule(
                Test::Above(0, 65_535),
                Verdict::NoEffect,
                "with SYN cookies on it is ignored, and net.core.somaxconn caps it otherwise",
                "raise net.core.somaxconn and the backlog of the server instead",
            ),
            rule(Test::Below(0, 128), Verdict::Lowers, "{} is lower than the least default, 128", NEVER),
        ],
    ),
    Setting {
        fields: 2,
        range: (1, 65_535),
        ..setting(
            "net.ipv4.ip_local_port_range",
            Unit::Count,
            "it has the ports of outgoing connections; hosts that connect need `1024 65535`",
            &[
                rule(
                    Test::SameParity,
                    Verdict::Conflict,
                    "first and last port are both even or both odd, and connect(2) takes one parity first",
                    "write 1024 65535, with every listening port in net.ipv4.ip_local_reserved_ports",
                ),
                rule(
                    Test::Below(0, 1_024),
                    Verdict::Harmful,
                    "outgoing connections would take ports of privileged services",
                    "write 1024 65535",
                ),
            ],
        )
    },
    Setting {
        fields: 0,
        ..setting(
            "net.ipv4.ip_local_reserved_ports",
            Unit::Name,
            "it keeps the ports of listeners out of the range of outgoing connections",
            &[],
        )
    },
    setting(
        "net.ipv4.tcp_tw_reuse",
        Unit::Switch,
        "1 lets a host that connects use a port in TIME_WAIT again after a second; a pure server gains nothing",
        &[rule(Test::Above(0, 2), Verdict::Rejected, "the kernel takes 0, 1 or 2", "write 1")],
    ),
    Setting {
        removed: Some(KernelVersion(4, 12)),
        source: "Linux commit 4396e46187ca",
        ..setting(
            "net.ipv4.tcp_tw_recycle",
            Unit::Switch,
            "it drops connections of clients behind one address",
            &[
                rule(
                    Test::Is(0),
                    Verdict::Obsolete,
                    "Linux 4.12 removed it, so sysctl cannot find it",
                    NEVER,
                ),
                rule(
                    Test::Above(0, 0),
                    Verdict::Harmful,
                    "it drops connections of clients behind one address (NAT)",
                    "remove the line and set net.ipv4.tcp_tw_reuse on hosts that connect",
                ),
            ],
        )
    },
    setting(
        "net.ipv4.tcp_fin_timeout",
        Unit::Seconds,
        "it bounds orphaned connections in FIN_WAIT_2; TIME_WAIT always takes 60 s",
        &[rule(
            Test::Below(0, 15),
            Verdict::NoEffect,
            "it does not shorten TIME_WAIT, which always takes 60 s; it only bounds orphans in FIN_WAIT_2",
            "remove the line, or write 15 to 30 if connections pile up in FIN_WAIT_2",
        )],
    ),
    setting(
        "net.ipv4.tcp_max_tw_buckets",
        Unit::Count,
        "it is the most connections in TIME_WAIT, 256 B each: 1.2 × closes per second × 60",
        &[
            rule(
                Test::Above(0, 2_000_000),
                Verdict::TooLarge,
                "{} is 1.2 × 60 s of more closes per second than any host has",
                "write 1.2 × closes per second × 60",
            ),
            rule(
                Test::Below(0, 4_096),
                Verdict::Lowers,
                "the kernel ends TIME_WAIT early above {}; its documentation says not to lower it",
                NEVER,
            ),
        ],
    ),
    Setting {
        scope: Scope::Host,
        ..setting(
            "net.ipv4.tcp_max_orphans",
            Unit::Count,
            "it is the most connections that no process owns, up to 64 KiB each, which cannot be swapped",
            &[rule(
                Test::Above(0, 500_000),
                Verdict::Harmful,
                "{} orphans of up to 64 KiB each are more memory than hosts have",
                "remove the line: the kernel sets it at boot from the memory",
            )],
        )
    },
    Setting {
        scope: Scope::Host,
        fields: 3,
        ..setting(
            "net.ipv4.tcp_mem",
            Unit::Pages,
            "it has three limits of all TCP memory in pages; the kernel sets them at boot from the memory",
            &[
                rule(
                    Test::AboveMemory(100),
                    Verdict::WrongUnit,
                    "the numbers are pages of 4 KiB, not bytes: the last is {}, so the OOM killer acts before TCP saves memory",
                    "remove the line, or write 20 %, 30 % and 40 % of memory in pages",
                ),
                rule(
                    Test::AboveMemory(45),
                    Verdict::TooLarge,
                    "the numbers are pages of 4 KiB: TCP may take {}, almost half of the memory or more",
                    "remove the line, or write 20 %, 30 % and 40 % of memory in pages",
                ),
            ],
        )
    },
    Setting {
        fields: 3,
        ..setting(
            "net.ipv4.tcp_rmem",
            Unit::Bytes,
            "it has least, first and greatest receive buffer of a connection; net.core.rmem_max does not bound it",
            &[
                rule(
                    Test::Below(1, 65_536),
                    Verdict::Harmful,
                    "a first buffer of {} makes each new connection wait for its window to grow",
                    BUFFER_HINT,
                ),
                rule(
                    Test::Above(0, 16_384),
                    Verdict::Harmful,
                    "each connection keeps {} even when memory is short",
                    BUFFER_HINT,
                ),
                rule(
                    Test::Above(1, 524_288),
                    Verdict::TooLarge,
                    "{} as the first buffer of each connection wastes memory",
                    BUFFER_HINT,
                ),
                rule(
                    Test::Below(1, 131_072),
                    Verdict::Lowers,
                    "a first buffer of {} is lower than today's default, 131072",
                    BUFFER_HINT,
                ),
                rule(
                    Test::Above(2, 1 << 26),
                    Verdict::TooLarge,
                    "{} for one connection is far above what a link needs",
                    BUFFER_HINT,
                ),
            ],
        )
    },
    Setting {
        fields: 3,
        ..setting(
            "net.ipv4.tcp_wmem",
            Unit::Bytes,
            "it has least, first and greatest send buffer of a connection; net.core.wmem_max does not bound it",
            &[
                rule(
                    Test::Below(1, 16_384),
                    Verdict::Lowers,
                    "a first buffer of {} is lower than the default, 16384",
                    SEND_HINT,
                ),
                rule(
                    Test::Above(0, 16_384),
                    Verdict::Harmful,
                    "each connection keeps {} even when memory is short",
                    SEND_HINT,
                ),
                rule(
                    Test::Above(1, 65_535),
                    Verdict::TooLarge,
                    "{} as the first buffer of each connection is above the default, 16384, for no gain",
                    SEND_HINT,
                ),
                rule(
                    Test::Above(2, 1 << 26),
                    Verdict::TooLarge,
                    "{} for one connection is far above what a link needs",
                    SEND_HINT,
                ),
            ],
        )
    },
    setting(
        "net.ipv4.tcp_notsent_lowat",
        Unit::Bytes,
        "it bounds data that is written and not sent; 131072 saves memory on proxies",
        &[],
    ),
    Setting {
        range: (0, 2),
        ..setting(
            "net.ipv4.tcp_syncookies",
            Unit::Switch,
            "it answers floods of SYN; during a test, a growing TCPReqQFullDoCookies means a short backlog",
            &[
                rule(
                    Test::Is(1),
                    Verdict::Default,
                    "1 is the default; TCPReqQFullDoCookies above 0 during a test means a short backlog",
                    "",
                ),
                rule(
                    Test::Is(2),
                    Verdict::Harmful,
                    "2 sends cookies always, which drops TCP options of every connection; it is for tests",
                    "write 1",
                ),
                rule(
                    Test::Is(0),
                    Verdict::Conflict,
                    "0 makes net.ipv4.tcp_max_syn_backlog a hard limit, and floods fill it",
                    "write 1",
                ),
            ],
        )
    },
    Setting {
        range: (0, 255),
        ..setting(
            "net.ipv4.tcp_synack_retries",
            Unit::Count,
            "it is how often a SYN-ACK is repeated; 2 or 3 frees half-open connections sooner on hosts under test",
            &[],
        )
    },
    Setting {
        range: (1, 127),
        ..setting(
            "net.ipv4.tcp_syn_retries",
            Unit::Count,
            "it is how often a SYN is repeated; 2 or 3 is right for balancers and generators",
            &[],
        )
    },
    setting(
        "net.ipv4.tcp_keepalive_time",
        Unit::Seconds,
        "it applies only to sockets with SO_KEEPALIVE: nginx `so_keepalive`, HAProxy `option clitcpka`",
        &[],
    ),
    Setting {
        range: (0, 1),
        ..setting(
            "net.ipv4.tcp_slow_start_after_idle",
            Unit::Switch,
            "0 keeps the congestion window of an idle connection, which keep-alive needs",
            &[],
        )
    },
    Setting {
        range: (0, 1),
        ..setting(
            "net.ipv4.tcp_window_scaling",
            Unit::Switch,
            "1 has been the default for twenty years",
            &[
                rule(Test::Is(1), Verdict::Default, "1 has been the default for twenty years", ""),
                rule(
                    Test::Is(0),
                    Verdict::Harmful,
                    "0 limits every connection to 64 KiB in flight",
                    "write 1",
                ),
            ],
        )
    },
    Setting {
        fields: 0,
        ..setting(
            "net.ipv4.tcp_congestion_control",
            Unit::Name,
            "it is the congestion control; compare only runs with the same",
            &[],
        )
    },
    Setting {
        range: (0, 1),
        ..setting(
            "net.ipv4.tcp_timestamps",
            Unit::Switch,
            "net.ipv4.tcp_tw_reuse needs it",
            &[rule(
                Test::Is(0),
                Verdict::Harmful,
                "without timestamps net.ipv4.tcp_tw_reuse has no effect, and old packets may be accepted",
                "write 1",
            )],
        )
    },
];
