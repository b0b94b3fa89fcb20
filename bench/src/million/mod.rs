//! `bench million`: a million connections held on this machine, and their cost at both ends.
//!
//! Each of the four parts has its own target, load and network. The parts are a request per minute
//! on each connection, silence, one request on all connections simultaneously, and the most
//! connections of one source address. The numbers come from the kernel, the target and `/proc`, and
//! the output of `run` must agree with them. There is always one round, since a round takes long.

use std::net::SocketAddr;
use std::ops::RangeInclusive;

use anyhow::Result;
use clap::Args;

use self::judge::Judge;
use self::memory::Memory;
use self::part::{Part, SOURCE, Scene};
use self::watch::Watch;
use crate::command_text::shown;
use crate::engine::Engine;
use crate::load_generator::file_words_on;
use crate::namespace;
use crate::server::Server;
use crate::session::Session;

mod course;
mod judge;
mod memory;
mod part;
mod run_report;
mod size_estimate;
mod snapshot;
mod target_poller;
mod watch;

/// Bytes that must be available per connection: the limit for both ends, and a reserve for the rest
/// of the machine.
const BYTES_EACH: u64 = 10_000;
/// Connections in addition to the held ones, for the bench's own requests.
const SPARE: usize = 1_000;
/// Port of the target. It is below the ports of the connections, so that it takes none of them.
const PORT: u16 = 1_000;
/// Ports that connections may come from.
const PORTS: RangeInclusive<u16> = 1_024..=65_535;

/// `cargo xtask bench million`.
#[derive(Args)]
pub(crate) struct MillionArguments {
    /// Our driver, also used by the target `wavetank serve`.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// Connections held [default: 1,000,000; 5,000 in a smoke run]
    #[arg(long)]
    connections: Option<usize>,
    /// Connections opened per second [default: 25,000; 5,000 in a smoke run]
    #[arg(long)]
    open_rate: Option<usize>,
    /// Seconds to hold them, with a request on each every 60 s [default: 120; in a smoke run 2,
    /// with a request every second]
    #[arg(long)]
    hold: Option<usize>,
    /// Which parts [default: all]
    #[arg(long, value_delimiter = ',')]
    part: Vec<Part>,
}

impl MillionArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
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

/// Runs the parts one after the other. A part that fails does not stop the next ones.
pub(crate) fn run(session: &mut Session, arguments: &MillionArguments) -> Result<()> {
    let engine = arguments.engine;
    if !session.has_namespaces("million") || !engine.usable(session, "million")? {
        return Ok(());
    }
    let parts: &[Part] = if arguments.part.is_empty() { &Part::ALL } else { &arguments.part };
    for &part in parts {
        let scene = arguments.scene(session, part)?;
        let (needed, available) = (scene.connections as u64 * BYTES_EACH, Memory::available()?);
        if available < needed {
            session.skip(format!(
                "bench million: {} connections need {:.1} GB of memory, {:.1} GB are available",
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

/// Runs one part, from a fresh network until the last socket is gone.
fn play(session: &mut Session, scene: &Scene) -> Result<()> {
    let watched = namespace::inside(|namespace| {
        namespace.widen_backlog()?;
        // `size` assumes this port range, which it recommends to set.
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
    Judge { session, scene, watched: &watched }.print_scores()
}
