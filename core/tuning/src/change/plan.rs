//! [`ChangePlan`]: every file and value that a fix writes.

use super::drop_in::{LIMITS_DROP_IN, SYSCTL_DROP_IN, limits_text, sysctl_text, unit_drop_in, unit_text};
use crate::{Fix, Row, Snapshot, sysctl_path};

/// The present texts of drop-ins; `None`: there is no such file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DropIns {
    /// That for kernel settings.
    pub sysctl: Option<String>,
}

/// One value of the kernel to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueChange {
    /// What it is: a key, or the name of a governor's CPU.
    pub what: String,
    /// Its file.
    pub path: String,
    /// Its present value.
    pub now: String,
    /// The value to write.
    pub wanted: String,
    /// Why, in one sentence.
    pub why: String,
}

/// One file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Its path.
    pub path: String,
    /// Its text.
    pub text: String,
    /// What makes it effective; empty if it is so already.
    pub then: String,
}

/// Everything that a fix writes, in order: values, then files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangePlan {
    /// Values of the running kernel.
    pub values: Vec<ValueChange>,
    /// Files that keep them.
    pub files: Vec<FileChange>,
}

impl ChangePlan {
    /// Plans the fixes of `rows`. `units` are services that need more open files in addition to
    /// sessions.
    pub fn new(rows: &[Row], snapshot: &Snapshot, before: &DropIns, units: &[String]) -> Self {
        let mut plan = Self::default();
        let mut files_needed = None;
        for row in rows {
            match &row.fix {
                Some(Fix::Setting { key, value }) => plan.values.push(ValueChange {
                    what: key.clone(),
                    path: sysctl_path(key),
                    now: snapshot.setting(key).unwrap_or_default(),
                    wanted: value.clone(),
                    why: row.why.clone(),
                }),
                Some(Fix::OpenFiles(files)) => files_needed = Some(*files),
                Some(Fix::Governor(governor)) => plan.add_governor(governor, &row.why, snapshot),
                None => {}
            }
        }
        plan.reserve_before_range();
        plan.add_files(before, files_needed, units);
        plan
    }

    /// Whether there is nothing to write.
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty() && self.files.is_empty()
    }

    /// Kernel settings, with their values and reasons.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let of_kernel = self.values.iter().filter(|value| value.path.starts_with("/proc/sys/"));
        of_kernel.map(|value| (value.what.as_str(), value.wanted.as_str(), value.why.as_str()))
    }

    fn add_governor(&mut self, governor: &str, why: &str, snapshot: &Snapshot) {
        let (start, end) = ("/sys/devices/system/cpu/", "/cpufreq/scaling_governor");
        for (cpu, now) in snapshot.between(start, end).filter(|(_, now)| *now != governor) {
            self.values.push(ValueChange {
                what: format!("governor of {cpu}"),
                path: format!("{start}{cpu}{end}"),
                now: now.to_owned(),
                wanted: governor.to_owned(),
                why: why.to_owned(),
            });
        }
    }

    /// Ports are reserved before the range grows over them.
    fn reserve_before_range(&mut self) {
        self.values.sort_by_key(|value| value.what != "net.ipv4.ip_local_reserved_ports");
    }

    fn add_files(&mut self, before: &DropIns, files_needed: Option<u64>, units: &[String]) {
        let settings: Vec<(&str, &str, &str)> = self.settings().collect();
        let mut files = Vec::new();
        if !settings.is_empty() {
            let text = sysctl_text(before.sysctl.as_deref(), &settings);
            files.push(FileChange { path: SYSCTL_DROP_IN.to_owned(), text, then: String::new() });
        }
        if let Some(needed) = files_needed {
            files.push(FileChange {
                path: LIMITS_DROP_IN.to_owned(),
                text: limits_text(needed),
                then: "log in again".to_owned(),
            });
            files.extend(units.iter().map(|unit| FileChange {
                path: unit_drop_in(unit),
                text: unit_text(needed),
                then: format!("systemctl daemon-reload; systemctl restart {unit}"),
            }));
        }
        self.files = files;
    }
}
