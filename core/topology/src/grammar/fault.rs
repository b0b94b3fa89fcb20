//! Faults.

use wavetank_grammar::{key, required};

use super::CustomKind::Share;
use super::{Kind, Section};

/// A fault.
pub(crate) static FAULT: Section = Section {
    name: "a fault",
    title: "Faults",
    about: "A fault injected during a run: exactly one of kill, stop, pause, cut, drop, files, slow. It is \
        reverted after its time, and whenever the run ends.",
    keys: &[
        required("when", Kind::Duration, "Time after the start of the load."),
        required("host", Kind::Text, "The host, or a pattern: \"app[1-2]\"."),
        key("for", Kind::Duration, "Its duration; default: until the end of the run."),
        key("kill", Kind::Name, "The service to kill with SIGKILL; reverted by starting it again."),
        key("stop", Kind::Name, "The service to shut down in an orderly way; reverted by starting it again."),
        key("pause", Kind::Name, "The service to pause (SIGSTOP)."),
        key("cut", Kind::Name, "The network to cut the host off from."),
        key("drop", Kind::Name, "The network on which a share of the host's packets is lost."),
        key("share", Kind::Own(Share), "With drop: the share of packets."),
        key("files", Kind::Name, "The service with a limit on open files."),
        key("limit", Kind::Count, "With files: the highest number that can be opened."),
        key("slow", Kind::Name, "The service to slow down."),
        key("by", Kind::Duration, "With slow: the delay."),
    ],
    verbs: &["kill", "stop", "pause", "cut", "drop", "files", "slow"],
};
