//! [`hold`]: measures the memory of a connection.
//!
//! Half of the connections are opened and held, then all of them. Memory is sampled each time,
//! together with the target's own count of open connections. The growth between the two numbers
//! belongs to the connections, whatever threads and rings use themselves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use wavetank_capacity::calibration::{CalibrationSchedule, median};
use wavetank_experiment::{LowerContext, ParseInput, lower, read};
use wavetank_observe::{slab_bytes, written_bytes};
use wavetank_plan::{
    ConnectionEnd, EngineChoice, FileBudget, FileTables, MemoryModel, RunOptions, SourcesPlan, Transport,
    plannable_bytes,
};
use wavetank_record::{HeldMemoryDoc, RunRecord};
use wavetank_units::{Code, Nanos, UserError};

use super::CalibrationTarget;
use super::bench::{Bench, CalibrationError};
use super::rounds::rounded;

/// How often memory is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Numbers of connections at which memory is looked at.
const STAIRS: u64 = 2;
/// Looks that are kept.
const LOOKS_MAX: usize = 10_000;
/// With fewer connections, other allocations of the process falsify the figure: a megabyte is 200
/// bytes of each. If files do not allow this many, no figure is better than a wrong one.
const HELD_MIN: u64 = CalibrationSchedule::HELD_MIN;
/// One in this many files stays for other uses.
const FILES_LEFT: u64 = 5;

/// Memory at one moment.
#[derive(Clone, Copy, Debug)]
struct MemorySnapshot {
    /// Connections open at the target.
    open: u64,
    written: u64,
    slab: Option<u64>,
}

/// Connections of `wanted` that this host can hold at both ends, and why it is fewer, if it is.
pub(super) fn max_holdable(bench: &Bench<'_>, wanted: u64) -> (u64, Option<String>) {
    let facts = &bench.host.facts;
    let threads = u32::try_from(facts.cpus.len()).unwrap_or(1).max(1);
    let budget = FileBudget::new(facts, bench.engine, threads, false, true);
    // The target's threads have tables of their own only where threads can have them.
    let tables = bench.engine == EngineChoice::Uring || facts.sockets.own_files == FileTables::PerThread;
    let files = if tables {
        budget.without_extra_threads()
    } else {
        budget.without_extra_threads().min(facts.files_max.saturating_sub(200))
    };
    let by_files = files - files / FILES_LEFT;
    let by_ports = facts.ports.count() * 2 / 3;
    let each = [ConnectionEnd::Client, ConnectionEnd::Target]
        .map(|end| MemoryModel::for_end(end, bench.engine, Transport::Tcp).with_request_in_flight());
    let by_memory = plannable_bytes(facts.memory_available_bytes) / each.iter().sum::<u64>();
    let most = by_files.min(by_ports).min(by_memory);
    if most >= wanted {
        return (wanted, None);
    }
    let what = if most == by_files {
        format!("files (ulimit -n is {})", facts.files_max)
    } else if most == by_ports {
        "ports (net.ipv4.ip_local_port_range)".to_owned()
    } else {
        "memory".to_owned()
    };
    let reported = if most < HELD_MIN {
        format!(
            "memory per connection was not measured: this host has {what} for only {most} connections, and at \
             least {HELD_MIN} are needed"
        )
    } else {
        format!("{most} connections were held instead of {wanted}: this host has {what} for no more")
    };
    (most, Some(reported))
}

/// Holds `most` connections to `own` and samples memory. `None` if too few can be held for a
/// figure.
pub(super) fn hold(
    bench: &mut Bench<'_>,
    own: &mut dyn CalibrationTarget,
    course: &CalibrationSchedule,
    most: u64,
) -> Result<Option<(RunRecord, Option<HeldMemoryDoc>)>, CalibrationError> {
    if most < HELD_MIN {
        return Ok(None);
    }
    let first = most / STAIRS;
    let text = experiment(&own.url().url(), first * STAIRS, course);
    let options = RunOptions::default();
    let reading = read(&ParseInput {
        name: "calibrate.yaml",
        bytes: text.as_bytes(),
        set: &[],
        env: &|_| None,
        has_secret: &|_| false,
        options: &options,
    });
    let experiment = reading.experiment.expect("our own experiment is a good one");
    let lowering = LowerContext {
        host: &bench.host.facts,
        tables: &[],
        addresses: &|url| Ok(url.address().into_iter().collect()),
        file: &|name| Err(UserError::usage(Code::NoFile, name, "")),
        secret: &|_| None,
        sources: SourcesPlan::default(),
        threads: None,
        engine: bench.engine,
    };
    let lowered = lower(&experiment, &lowering).map_err(|unfit| unfit.into_user_error("calibrate"))?;
    let over = AtomicBool::new(false);
    let (record, looks) = thread::scope(|scope| {
        let looking = scope.spawn(|| look_around(own, &over));
        let record = bench.plan(lowered);
        over.store(true, Ordering::Relaxed);
        (record, looking.join())
    });
    let looks = looks.unwrap_or_default();
    Ok(Some((record?, memory(&looks, first, first * STAIRS))))
}

/// Two stairs of one phase, because each phase has histograms of its own, which would count as the
/// connections'. A heartbeat uses each connection, as a real hold does.
fn experiment(url: &str, most: u64, course: &CalibrationSchedule) -> String {
    let ms = |length: Nanos| length.0 / 1_000_000;
    let step = most / STAIRS;
    let ramp = ms(Nanos::from_secs(1)) * step as i64 / course.held_at as i64;
    format!(
        "wavetank: 1\nname: calibrate-hold\ntarget: {url}\nhttp: {{close: rst}}\ndrain: 2s\nsteps:\n  - get: /\n  - \
         think: 60s\nphases:\n  - {{hold: 0 to {most}, step: {step}, every: {}ms, ramp: {ramp}ms}}\n",
        ramp + ms(course.hold)
    )
}

fn look_around(own: &mut dyn CalibrationTarget, over: &AtomicBool) -> Vec<MemorySnapshot> {
    let mut looks = Vec::new();
    while !over.load(Ordering::Relaxed) && looks.len() < LOOKS_MAX {
        let Ok(counts) = own.counts() else { break };
        looks.push(MemorySnapshot { open: counts.open, written: written_bytes(), slab: slab_bytes() });
        thread::park_timeout(LOOK);
    }
    looks
}

/// What it grew by from `first` to `most` connections.
fn memory(looks: &[MemorySnapshot], first: u64, most: u64) -> Option<HeldMemoryDoc> {
    let at = |open: u64| -> Vec<MemorySnapshot> {
        looks.iter().filter(|look| look.open == open).copied().collect()
    };
    let (few, many) = (at(first), at(most));
    let middle = |looks: &[MemorySnapshot], of: &dyn Fn(&MemorySnapshot) -> Option<u64>| {
        median(&looks.iter().filter_map(of).map(|bytes| bytes as f64).collect::<Vec<_>>())
    };
    // Connections that take nothing: something else gave back what they took.
    let each = |of: &dyn Fn(&MemorySnapshot) -> Option<u64>| {
        let each = (middle(&many, of)? - middle(&few, of)?) / (most - first) as f64;
        (each >= 1.0).then_some(each)
    };
    Some(HeldMemoryDoc {
        from: first,
        connections: most,
        user_bytes: rounded(each(&|look| Some(look.written))?),
        // Both ends are on this host.
        kernel_bytes: each(&|look| look.slab).map(|both| rounded(both / 2.0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(looks: &[(u64, u64, Option<u64>)], expected: Option<(f64, Option<f64>)>) {
        let looks: Vec<MemorySnapshot> =
            looks.iter().map(|&(open, written, slab)| MemorySnapshot { open, written, slab }).collect();
        let found = memory(&looks, 1_000, 4_000);
        assert_eq!(found.map(|one| (one.user_bytes.0, one.kernel_bytes.map(|bytes| bytes.0))), expected);
    }

    #[test]
    fn what_grows_between_two_numbers_is_the_connections_own() {
        check(&[], None);
        check(&[(1_000, 5, Some(5)), (3_999, 9, Some(9))], None);
        let steps = [
            (0, 1, Some(1)),
            (1_000, 500_000, Some(7_000_000)),
            (2_345, 9, None),
            (4_000, 1_400_000, Some(31_000_000)),
        ];
        check(&steps, Some((300.0, Some(4_000.0))));
        check(&[(1_000, 100, None), (4_000, 100, None)], None);
        // A look in a bad moment is no matter.
        let noisy = [
            (1_000, 0, Some(0)),
            (1_000, 0, Some(0)),
            (1_000, 9_999_999, Some(0)),
            (4_000, 600_000, Some(0)),
        ];
        check(&noisy, Some((200.0, None)));
    }
}
