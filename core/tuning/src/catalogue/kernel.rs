//! Settings below `fs`, `kernel` and `vm`.

use super::{FS_SYSCTL, INT_MAX, KERNEL_SYSCTL, Rule, Scope, Setting, Test, Unit, VM_SYSCTL};
use crate::{KernelVersion, Verdict};

const NEVER: &str = "remove the line";
const IPC: &str = "nginx, HAProxy and load generators use no System V IPC";
const LOWERS_IPC: &str = "the default is unlimited, so this lowers it; nginx and HAProxy use no System V IPC";

const fn rule(test: Test, verdict: Verdict, sentence: &'static str, hint: &'static str) -> Rule {
    Rule { test, verdict, sentence, hint }
}

const fn setting(
    key: &'static str,
    source: &'static str,
    about: &'static str,
    rules: &'static [Rule],
) -> Setting {
    Setting {
        key,
        scope: Scope::Host,
        unit: Unit::Count,
        fields: 1,
        range: (0, INT_MAX),
        removed: None,
        about,
        source,
        rules,
    }
}

const fn ipc(key: &'static str, range: (u64, u64), rules: &'static [Rule]) -> Setting {
    Setting { range, ..setting(key, KERNEL_SYSCTL, IPC, rules) }
}

const LOWERED: &[Rule] = &[
    rule(Test::Above(0, 1 << 60), Verdict::NoEffect, IPC, NEVER),
    rule(Test::Always, Verdict::Lowers, LOWERS_IPC, NEVER),
];
const UNUSED: &[Rule] = &[rule(Test::Always, Verdict::NoEffect, IPC, NEVER)];

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        range: (0, u64::MAX),
        ..setting(
            "fs.file-max",
            FS_SYSCTL,
            "it is the number of open files of the whole host; systemd 240 and later sets it to the greatest value",
            &[
                rule(
                    Test::BelowFileMax,
                    Verdict::Lowers,
                    "{} is lower than what this host has",
                    "remove the line; it is needed only on hosts with a lower default",
                ),
                rule(
                    Test::Below(0, 1_048_576),
                    Verdict::Lowers,
                    "{} is lower than what current distributions set",
                    NEVER,
                ),
                rule(
                    Test::Always,
                    Verdict::Obsolete,
                    "systemd 240 and later sets the greatest value at boot, so this lowers it",
                    NEVER,
                ),
            ],
        )
    },
    setting(
        "fs.nr_open",
        FS_SYSCTL,
        "it is the ceiling of LimitNOFILE= and ulimit -n of one process; the default is 1,048,576",
        &[
            rule(
                Test::Below(0, 1_048_576),
                Verdict::Lowers,
                "{} is lower than the default, 1,048,576, and lowers the ceiling of every process",
                "remove the line, or write more than 1048576",
            ),
            rule(Test::BelowNrOpen, Verdict::Lowers, "{} is lower than what this host has", NEVER),
            rule(
                Test::Above(0, 1_073_741_816),
                Verdict::Rejected,
                "the kernel rejects {}: its greatest value is 1,073,741,816",
                "write a smaller number",
            ),
        ],
    ),
    Setting {
        range: (0, 200),
        ..setting(
            "vm.swappiness",
            VM_SYSCTL,
            "it is how readily the kernel swaps out memory of programs",
            &[rule(
                Test::Is(0),
                Verdict::TooLarge,
                "since Linux 3.5, 0 swaps only when memory is all but gone, and then the OOM killer acts",
                "write 1 to 10, or switch swap off on hosts under test",
            )],
        )
    },
    ipc("kernel.shmmax", (0, u64::MAX), LOWERED),
    ipc("kernel.shmall", (0, u64::MAX), LOWERED),
    ipc("kernel.shmmni", (0, 32_768), UNUSED),
    ipc("kernel.msgmax", (0, INT_MAX), UNUSED),
    ipc("kernel.msgmnb", (0, INT_MAX), UNUSED),
    ipc("kernel.msgmni", (0, 32_768), UNUSED),
    Setting {
        fields: 4,
        ..ipc(
            "kernel.sem",
            (0, INT_MAX),
            &[
                rule(
                    Test::Below(0, 32_000),
                    Verdict::Lowers,
                    "the default is 32000 1024000000 500 32000, so this lowers it; nginx and HAProxy use no semaphores of it",
                    NEVER,
                ),
                rule(Test::Always, Verdict::NoEffect, IPC, NEVER),
            ],
        )
    },
    Setting {
        removed: Some(KernelVersion(5, 13)),
        ..setting(
            "kernel.sched_migration_cost_ns",
            "Linux commit 8a99b6833c88",
            "it is how long the scheduler takes a task to be warm in its cache",
            &[rule(
                Test::Always,
                Verdict::Obsolete,
                "Linux 5.13 moved it to debugfs, so sysctl cannot find it",
                NEVER,
            )],
        )
    },
    setting(
        "kernel.perf_cpu_time_max_percent",
        KERNEL_SYSCTL,
        "it throttles the sampling of perf and nothing else",
        &[rule(Test::Always, Verdict::NoEffect, "it throttles the sampling of perf and nothing else", NEVER)],
    ),
    setting(
        "kernel.perf_event_max_sample_rate",
        KERNEL_SYSCTL,
        "it throttles the sampling of perf and nothing else",
        &[rule(Test::Always, Verdict::NoEffect, "it throttles the sampling of perf and nothing else", NEVER)],
    ),
    setting(
        "kernel.sysrq",
        KERNEL_SYSCTL,
        "it enables keys that rescue a hung host",
        &[rule(
            Test::Is(0),
            Verdict::Harmful,
            "it removes the keys that rescue a hung host, and has nothing to do with load",
            NEVER,
        )],
    ),
    Setting {
        unit: Unit::Switch,
        ..setting(
            "kernel.numa_balancing",
            KERNEL_SYSCTL,
            "it moves memory between NUMA nodes; 0 avoids its pauses on hosts with pinned processes",
            &[],
        )
    },
];
