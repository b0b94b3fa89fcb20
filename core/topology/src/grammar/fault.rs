//! Faults.

use super::CustomKind::Share;
use super::{Kind, Section, key, required};

/// A fault.
pub(crate) static FAULT: Section = Section {
    name: "a fault",
    title: "Faults",
    about: "Something that goes wrong on purpose during a run: exactly one of kill, stop, pause, cut, drop, files, slow. \
            It is undone after its time, and on any end of the run.",
    keys: &[
        required("when", Kind::Duration, "Time after the start of the load."),
        required("host", Kind::Text, "The host, or a pattern: \"app[1-2]\"."),
        key("for", Kind::Duration, "How long it lasts; default: to the end of the run."),
        key("kill", Kind::Name, "The service whose processes get SIGKILL; undone by starting it again."),
        key("stop", Kind::Name, "The service that is stopped in order; undone by starting it again."),
        key("pause", Kind::Name, "The service whose processes stand still (SIGSTOP)."),
        key("cut", Kind::Name, "The network to which the host's cable is cut."),
        key("drop", Kind::Name, "The network on which a share of the host's packets is lost."),
        key("share", Kind::Own(Share), "With drop: the share."),
        key("files", Kind::Name, "The service that can open no more files than limit."),
        key("limit", Kind::Count, "With files: that number."),
        key("slow", Kind::Name, "The service that takes longer to answer."),
        key("by", Kind::Duration, "With slow: by how much."),
    ],
    verbs: &["kill", "stop", "pause", "cut", "drop", "files", "slow"],
};
