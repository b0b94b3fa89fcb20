//! Describes this machine, since a number without its machine is meaningless.

use rustix::system::uname;

use crate::cpus;

/// Runnable processes above which other work affects the numbers.
const LOAD_MAX: f64 = 0.5;

/// Prints CPU, kernel, load average and the CPUs in use. Warns if other programs are running.
pub(crate) fn print_facts(cpus: cpus::Pair, rounds: usize, counts_cycles: bool) {
    let load = load_average();
    println!(
        "{}, Linux {}, load average {}; generator on CPU {}, target on CPU {}, {} rounds, {}",
        cpus::model(),
        uname().release().to_string_lossy(),
        load.map_or_else(|| "unknown".to_owned(), |load| format!("{load:.2}")),
        cpus.generator,
        cpus.target,
        rounds,
        if counts_cycles { "cycles by perf stat" } else { "no cycles: perf stat cannot count them here" }
    );
    if load.is_some_and(|load| load > LOAD_MAX) {
        println!("WARNING    other programs are running on this machine and affect these numbers");
    }
}

/// Returns the load average of the last minute.
fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}
