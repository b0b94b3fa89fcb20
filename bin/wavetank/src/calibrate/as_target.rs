//! [`as_target`]: the server process that a calibration loads.
//!
//! It is a separate process, so that its CPU time and memory are not counted as the load's. It
//! communicates with its parent over standard streams: one line with its addresses, then for each
//! input line one line with its counters. It ends when its input ends, so nothing is left however
//! the parent ends.

use std::io::{BufRead, stdin};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::json;
use wavetank_driver::{Signals, TlsProblem, TlsServer};
use wavetank_observe::process_usage;
use wavetank_plan::feasibility::choose_engine;
use wavetank_plan::{EngineChoice, FileTables, TlsServerOptions};
use wavetank_runner::{Host, host_error};
use wavetank_target::{ServeOptions, Server, start};
use wavetank_units::{Code, ExitCode, UserError};

use crate::output;

/// Connections it makes ready for: as many as are ever held for a calibration.
const CONNECTIONS: u64 = 20_000;

/// Serve on `cpus` until standard input ends.
pub(crate) fn as_target(cpus: &[u32], engine: EngineChoice) -> Result<u8, UserError> {
    // A Ctrl-C at the terminal reaches both processes; the parent decides what follows.
    let _ = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let mut set = CpuSet::new();
    for &cpu in cpus {
        let message = format!("there is no CPU {cpu}");
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(UserError::usage(Code::BadCpus, message, "those of `nproc`"));
        }
        set.set(cpu as usize);
    }
    // Where the kernel says no, it serves on whichever there are.
    let _ = sched_setaffinity(None, &set);
    let host = Host::inspect()?;
    let engine = choose_engine(engine, &host.facts.sockets)?.choice;
    let own = host.found.best_file_tables();
    let tables = engine == EngineChoice::Epoll && own == FileTables::PerThread;
    let options = ServeOptions {
        listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
        threads: Some(u32::try_from(cpus.len()).unwrap_or(1).max(1)),
        engine,
        features: host.found.features,
        files: if tables { own } else { FileTables::Shared },
        connections: CONNECTIONS,
        ..ServeOptions::default()
    };
    let tls = TlsServer::self_signed(&["127.0.0.1".to_owned()], &TlsServerOptions::default())
        .map_err(|TlsProblem { what, hint }| UserError::refused(Code::NoTls, what, hint))?;
    let plain = start(options.clone())?;
    let secure = start(ServeOptions { tls: Some(Arc::new(tls)), ..options })?;
    output::print(&format!("{}\n", json!({"plain": plain.addresses()[0], "tls": secure.addresses()[0]})))?;
    for line in stdin().lock().lines() {
        if line.is_err() || output::print(&format!("{}\n", counts(&plain, &secure))).is_err() {
            break;
        }
    }
    plain.stop();
    secure.stop();
    Ok(ExitCode::Pass as u8)
}

fn counts(plain: &Server, secure: &Server) -> serde_json::Value {
    let (of_plain, of_secure) = (plain.truth(), secure.truth());
    let usage = process_usage();
    json!({
        "requests": of_plain.requests + of_secure.requests,
        "open": of_plain.connections.open,
        "cpu_s": (usage.user + usage.system).as_secs_f64(),
    })
}
