//! `bench million`: a million connections held on this machine, and what that costs both ends.
//!
//! Four parts, each with a target, a load and a network of its own: a request on each connection every minute, silence,
//! one request on all of them at once, and as many as one source address can have. What is judged is what the kernel, the target and `/proc` say of it; what
//! `run` says must agree. A second look would take as long as the first: there is one round, whatever is asked for.

use std::net::SocketAddr;
use std::ops::RangeInclusive;

use anyhow::Result;
use clap::Args;

use self::judge::Judge;
use self::memory::Memory;
use self::part::{Part, SOURCE, Scene};
use self::watch::Watch;
use super::load_generator::{file_words_on, shown};
use super::server::Server;
use super::{Engine, Session, namespace};

mod course;
mod judge;
mod memory;
mod part;
mod run_report;
mod size_estimate;
mod snapshot;
mod target_poller;
mod watch;

/// Bytes that must be to be had for a connection: what is asked of both ends, and a little for the rest of the machine.
const BYTES_EACH: u64 = 10_000;
/// Connections beside those that are held: the bench's own questions.
const SPARE: usize = 1_000;
/// Where the target listens: below the ports that connections may come from, so that none of them is taken.
const PORT: u16 = 1_000;
/// Ports that connections may come from.
const PORTS: RangeInclusive<u16> = 1_024..=65_535;

/// `cargo xtask bench million`.
#[derive(Args)]
pub(super) struct MillionArguments {
    /// Our driver, and that of `wavetank serve`, the target.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// Connections held [default: 1,000,000; 5,000 in a smoke run]
    #[arg(long)]
    connections: Option<usize>,
    /// Connections opened per second [default: 25,000; 5,000 in a smoke run]
    #[arg(long)]
    open_rate: Option<usize>,
    /// Seconds they are held for with a request on each every 60 s [default: 120; 2, with one every second, in a smoke run]
    #[arg(long)]
    hold: Option<usize>,
    /// Which parts [default: all]
    #[arg(long, value_delimiter = ',')]
    part: Vec<Part>,
}

impl MillionArguments {
    /// As it stands among the numbers.
    pub(super) fn for_engine(engine: Engine) -> Self {
        Self { engine, connections: None, open_rate: None, hold: None, part: Vec::new() }
    }

    fn scene(&self, session: &Session, part: Part) -> Result<Scene> {
        let connections = if part == Part::Ports {
            size_estimate::connections_of_a_source(session, SOURCE)?
        } else {
            self.connections.unwrap_or(session.size.choose(1_000_000, 5_000)).max(100)
        };
        Ok(Scene {
            part,
            engine: self.engine,
            connections,
            open_rate: self.open_rate.unwrap_or(session.size.choose(25_000, 5_000)).max(1),
            hold_s: self.hold.unwrap_or(session.size.choose(120, 2)).max(1),
            beat_s: session.size.choose(60, 1),
            address: SocketAddr::from(([127, 0, 0, 1], PORT)),
        })
    }
}

/// Runs each part, one after the other; one that fails does not keep the others from their turn.
pub(super) fn run(session: &mut Session, arguments: &MillionArguments) -> Result<()> {
    let engine = arguments.engine;
    if !namespace::usable(session, "million") || !engine.usable(session, "million")? {
        return Ok(());
    }
    let parts: &[Part] = if arguments.part.is_empty() { &Part::ALL } else { &arguments.part };
    for &part in parts {
        let scene = arguments.scene(session, part)?;
        let (needed, available) = (scene.connections as u64 * BYTES_EACH, Memory::available()?);
        if available < needed {
            session.skip(format!(
                "bench million: {} connections need {:.1} GB of memory, {:.1} GB are to be had",
                scene.connections,
                needed as f64 / 1e9,
                available as f64 / 1e9
            ));
            return Ok(());
        }
        if let Err(error) = play(session, &scene) {
            session.broken(scene.title(), "to run".to_owned(), format!("{error:#}"));
        }
    }
    Ok(())
}

/// One part, from a fresh network to the last socket gone.
fn play(session: &mut Session, scene: &Scene) -> Result<()> {
    let watched = namespace::inside(|namespace| {
        namespace.widen_backlog()?;
        // What `size` reckons with: the ports that it tells to open up.
        namespace.set("ip_local_port_range", &format!("{} {}", PORTS.start(), PORTS.end()))?;
        let threads = scene.engine.threads_for(scene.connections + SPARE);
        let text = scene.text();
        let words = file_words_on(session, scene.engine, threads, scene.part.name(), &text)?;
        let server =
            Server::wavetank_at(session, scene.engine, scene.address, Some(scene.connections + SPARE))?;
        println!("\nload       {}", shown(&words));
        for line in text.lines() {
            println!("           {line}");
        }
        println!("target     {}", server.command);
        let watched = Watch { session, namespace, server: &server, scene }.run(&words);
        drop(server);
        watch::until_gone(namespace)?;
        watched
    })?;
    Judge { session, scene, watched: &watched }.tell()
}
