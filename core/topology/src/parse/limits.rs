//! The resource limits of a host.

use wavetank_grammar::Node;
use wavetank_units::Code;

use super::{Reader, TreeReader as _};
use crate::Limits;
use crate::grammar::MapName;

/// Minimum memory: with less, no program starts.
const MEMORY_BYTES_MIN: u64 = 4 << 20;
/// Minimum number of open files: with fewer, no program starts.
const OPEN_FILES_MIN: u64 = 32;
/// Highest CPU number that Linux supports (`CONFIG_NR_CPUS` of distribution kernels).
const CPU_MAX: u32 = 8_191;
/// Minimum CPU time that the kernel can assign (a quota of 1 ms in 100 ms).
const CPU_SHARE_MILLI_MIN: u64 = 10;

impl Reader<'_> {
    pub(super) fn limits(&mut self, node: &Node) -> Option<Limits> {
        let mut keys = self.open(node, MapName::Limits)?;
        let limits = Limits {
            cpus: keys.take("cpus").and_then(|node| self.cpus(node)),
            cpu_share_milli: keys.take("cpu").and_then(|node| self.cpu_share(node)),
            memory_bytes: keys.take("memory").and_then(|node| {
                let memory = self.size(node)?;
                self.at_least(memory.value, MEMORY_BYTES_MIN, "4MiB", node)
            }),
            open_files: keys.take("open_files").and_then(|node| {
                let files = self.count(node)?;
                self.at_least(files.value, OPEN_FILES_MIN, "32", node)
            }),
            place: keys.place,
        };
        keys.finish();
        Some(limits)
    }

    fn at_least(&mut self, value: u64, least: u64, shown: &str, node: &Node) -> Option<u64> {
        if value >= least {
            return Some(value);
        }
        let message = "this is too little for any program to start";
        self.fail(Code::LabValue, node.place, message, format!("at least {shown}"))
    }

    /// Reads CPU numbers: `0-3`, `0,2`, or a list. The result is in ascending order without
    /// duplicates.
    pub(super) fn cpus(&mut self, node: &Node) -> Option<Vec<u32>> {
        let mut all = Vec::new();
        for item in node.as_list() {
            let text = self.text(item, "CPUs")?;
            for part in text.value.split(',') {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                let number = |word: &str| word.trim().parse::<u32>().ok().filter(|cpu| *cpu <= CPU_MAX);
                match (number(first), number(last)) {
                    (Some(first), Some(last)) if first <= last => all.extend(first..=last),
                    _ => {
                        let message = format!("`{}` are not CPUs", text.value);
                        return self.fail(
                            Code::LabCpus,
                            text.place,
                            message,
                            "numbers from 0: 0-3, or \"0,2\"",
                        );
                    }
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        Some(all).filter(|all| !all.is_empty())
    }

    /// Reads a share of CPU time (`50%`, `150%`) in thousandths of one CPU.
    fn cpu_share(&mut self, node: &Node) -> Option<u64> {
        let text = self.text(node, "a share of a CPU")?;
        let number =
            text.value.strip_suffix('%').map(str::trim).and_then(|number| number.parse::<f64>().ok());
        let milli = number.map(|number| (number * 10.0).round()).filter(|milli| (0.0..=1e9).contains(milli));
        match milli.map(|milli| milli as u64) {
            Some(milli) if milli >= CPU_SHARE_MILLI_MIN => Some(milli),
            Some(_) => self.fail(
                Code::LabValue,
                text.place,
                "this is too little CPU for any program to run",
                "at least 1%",
            ),
            None => {
                let message = format!("`{}` is not a share of a CPU", text.value);
                self.fail(Code::LabCpus, text.place, message, "50% is half a CPU, 150% one and a half")
            }
        }
    }
}
