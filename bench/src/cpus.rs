//! [`Pair`]: a CPU for the generator and one for the target.

use std::process::{Child, Command};

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Two CPUs this process may use.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) generator: usize,
    pub(crate) target: usize,
}

impl Pair {
    /// Returns the first two allowed CPUs, or `None` if there is only one.
    pub(crate) fn current_affinity() -> Result<Option<Self>> {
        let mut cpus = allowed()?.into_iter();
        Ok(cpus.next().zip(cpus.next()).map(|(target, generator)| Self { generator, target }))
    }
}

/// Returns the CPUs that this process may use.
pub(crate) fn allowed() -> Result<Vec<usize>> {
    let allowed = sched_getaffinity(None).context("sched_getaffinity")?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect())
}

/// Confines the calling thread to one CPU, and all processes that it starts from now on.
pub(crate) fn pin(cpu: usize) -> Result<()> {
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).with_context(|| format!("cannot run on CPU {cpu}"))
}

/// Starts a program on one CPU. The program inherits the affinity that this thread has at that
/// moment.
pub(crate) fn spawn_on(cpu: usize, command: &mut Command) -> Result<Child> {
    let before = sched_getaffinity(None).context("sched_getaffinity")?;
    pin(cpu)?;
    let child = command.spawn().with_context(|| format!("cannot start {}", command.get_program().display()));
    sched_setaffinity(None, &before).context("sched_setaffinity")?;
    child
}

/// Formats a set of CPUs as the kernel reads it: groups of 32 bits in hexadecimal, the highest
/// first.
pub(crate) fn mask(cpus: &[usize]) -> String {
    let highest = cpus.iter().max().map_or(0, |cpu| cpu / 32);
    let word = |word: usize| {
        let bits = cpus.iter().filter(|cpu| **cpu / 32 == word);
        format!("{:08x}", bits.fold(0_u32, |bits, cpu| bits | 1 << (cpu % 32)))
    };
    (0..=highest).rev().map(word).collect::<Vec<_>>().join(",")
}

/// Returns the model name of the CPU.
pub(crate) fn model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| "unknown CPU".to_owned(), |(_, model)| model.trim().to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_set_of_cpus_is_words_of_32() {
        let check = |cpus: &[usize], words: &str| assert_eq!(super::mask(cpus), words, "{cpus:?}");
        check(&[], "00000000");
        check(&[0], "00000001");
        check(&[1, 3, 31], "8000000a");
        check(&[32], "00000001,00000000");
        check(&[0, 33, 95], "80000000,00000002,00000001");
    }
}
