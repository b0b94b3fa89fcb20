//! The resources that a server with many connections needs, and the errors if the host lacks them.

use wavetank_plan::{EngineChoice, FileTables, HostFacts, HostLimits, ServerCapacity, SocketSupport};

/// The host on which a million were held: 2 CPUs, 24 GB, 20,000 files.
fn host() -> HostFacts {
    let sockets = SocketSupport {
        own_files: FileTables::PerThread,
        files_left: Some(2_465_000),
        ..SocketSupport::plain()
    };
    HostFacts { memory_available_bytes: 22 << 30, files_max: 20_000, sockets, ..HostFacts::for_tests(2) }
}

fn limits(change: impl FnOnce(&mut HostLimits)) -> HostFacts {
    let mut host = host();
    change(&mut host.limits);
    host
}

/// How a million are held with the program's own number of threads.
fn check(engine: EngineChoice, files: FileTables, threads: u32) {
    let host = host();
    let holding =
        ServerCapacity::new(&host, engine, None, true, false).holding(1_000_000).expect("it has all");
    assert_eq!((holding.files, holding.threads), (files, threads), "{engine:?}");
}

#[test]
fn a_million_are_held_on_either_engine() {
    check(EngineChoice::Uring, FileTables::Shared, 2);
    // 1.05 million in tables of 19,968.
    check(EngineChoice::Epoll, FileTables::PerThread, 53);
}

/// Checks the whole error when a million connections are refused, one shortfall after the other.
fn check_refused(host: &HostFacts, engine: EngineChoice, lacks: &[(&str, &str)]) {
    let error = ServerCapacity::new(host, engine, None, true, false)
        .holding(1_000_000)
        .expect_err("it lacks something");
    let codes: Vec<_> = [error.code].into_iter().chain(error.others.iter().map(|other| other.code)).collect();
    assert_eq!(codes, lacks.iter().map(|(code, _)| *code).collect::<Vec<_>>(), "{error}");
    let said = error.to_string();
    for (_, part) in lacks {
        assert!(said.contains(part), "`{part}` is missing: {said}");
    }
    assert_eq!(said.matches("hint: ").count(), lacks.len(), "{said}");
}

#[test]
fn all_that_a_host_lacks_is_reported_with_what_mends_it() {
    let few_files =
        HostFacts { sockets: SocketSupport { files_left: Some(500_000), ..host().sockets }, ..host() };
    check_refused(&few_files, EngineChoice::Uring, &[("no_files", "fs.file-max")]);
    let short = HostFacts { memory_available_bytes: 2 << 30, ..few_files };
    check_refused(
        &short,
        EngineChoice::Uring,
        &[("no_files", "; or fewer: --connections "), ("no_memory", "fit")],
    );
    let unlocked = limits(|limits| limits.lockable_bytes = Some(1 << 20));
    check_refused(&unlocked, EngineChoice::Uring, &[("no_locked_memory", "--engine epoll")]);
    let few_threads = limits(|limits| limits.threads_left = Some(20));
    check_refused(&few_threads, EngineChoice::Epoll, &[("no_threads", "53 threads of the server")]);
    let tracking = limits(|limits| limits.tracked = Some((200_000, 262_144)));
    check_refused(
        &tracking,
        EngineChoice::Epoll,
        &[("no_tracking", "net.netfilter.nf_conntrack_max=1062144")],
    );
}

#[test]
fn as_many_as_are_said_to_fit_do() {
    let host = HostFacts { memory_available_bytes: 2 << 30, ..host() };
    for tls in [false, true] {
        let serving = ServerCapacity::new(&host, EngineChoice::Uring, None, true, tls);
        let error = serving.holding(1_000_000).expect_err("it lacks memory");
        let most = error.hint.split("--connections ").nth(1).and_then(|rest| rest.parse().ok());
        let most: u64 = most.unwrap_or_else(|| panic!("{error}"));
        assert!(serving.holding(most).is_ok() && serving.holding(most + 1).is_err(), "{most}: {error}");
    }
}

#[test]
fn tight_limits_are_noted_and_refuse_no_run() {
    let tight = limits(|limits| {
        limits.backlog_max = Some(4_096);
        limits.tcp_pages = Some([287_901, 383_869, 575_802]);
        limits.hash_buckets = Some(262_144);
    });
    let serving = ServerCapacity::new(&tight, EngineChoice::Uring, None, true, false);
    assert!(serving.holding(1_000_000).is_ok());
    let notes = serving.notes(1_000_000);
    for part in ["net.core.somaxconn=65535", "net.ipv4.tcp_mem=", "262,144 lists"] {
        assert!(notes.iter().any(|note| note.contains(part)), "`{part}` is missing: {notes:#?}");
    }
    assert_eq!(notes.len(), 3, "{notes:#?}");
    // So few connections are not opened at a high rate, and they reach no limit of the host.
    assert_eq!(serving.notes(1_000), Vec::<String>::new());
    assert_eq!(
        ServerCapacity::new(&host(), EngineChoice::Uring, None, true, false).notes(1_000_000),
        Vec::<String>::new()
    );
}
