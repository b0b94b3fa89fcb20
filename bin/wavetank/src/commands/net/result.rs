//! The result of `wavetank net`: collected, stored and printed.

use wavetank_driver::{Clock, WallClock};
use wavetank_netbench::find_net_problems;
use wavetank_record::{ManyToOneDoc, NET_SCHEMA, NetDoc, NetPairDoc, NetSettingsDoc, Number, WallTime};
use wavetank_store::{NetFolder, RunsDir, new_id};
use wavetank_units::{ExitCode, Nanos, UserError, sanitize};

use crate::cli::NetMeasureArgs;
use crate::output::open_all;
use crate::output::{self, Console};
use wavetank_runner::RunConsole as _;

/// What was measured so far.
pub(super) struct Measured {
    pub(super) pairs: Vec<NetPairDoc>,
    pub(super) many_to_one: Option<ManyToOneDoc>,
    pub(super) notes: Vec<String>,
    /// Whether a signal ended the measurements.
    pub(super) interrupted: bool,
    name: String,
    started: WallTime,
    clock: Clock,
}

impl Measured {
    /// Starts to measure now.
    pub(super) fn begin(args: &NetMeasureArgs) -> Self {
        let fleet = args.fleet.as_deref().and_then(|file| file.file_stem());
        let fleet = fleet.map(|stem| stem.to_string_lossy().into_owned());
        let name = args.name.clone().or_else(|| args.lab.clone()).or(fleet);
        Self {
            pairs: Vec::new(),
            many_to_one: None,
            notes: Vec::new(),
            interrupted: false,
            name: name.unwrap_or_else(|| "net".to_owned()),
            started: WallTime(u64::try_from(WallClock::unix_ns()).unwrap_or_default()),
            clock: Clock::starting_now(),
        }
    }

    fn into_doc(self, args: &NetMeasureArgs) -> NetDoc {
        let settings = args.settings();
        let tests = settings.tests.iter().map(|test| test.name().to_owned());
        let mut doc = NetDoc {
            schema: NET_SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: self.name,
            id: new_id(),
            command: args.command.clone(),
            started_at: self.started.rfc3339(),
            took_s: Number(self.clock.now().as_secs_f64()),
            settings: NetSettingsDoc {
                tests: if args.many_to_one.is_some() { vec!["tcp".to_owned()] } else { tests.collect() },
                streams: settings.streams,
                duration_s: Number(settings.duration.as_secs_f64()),
                udp_bits_per_s: Number(settings.udp_bits_per_s as f64),
                link_bits_per_s: args.link.map(|speed| Number(speed as f64)),
            },
            pairs: self.pairs,
            many_to_one: self.many_to_one,
            findings: Vec::new(),
            notes: self.notes,
        };
        doc.findings = find_net_problems(&doc);
        doc
    }
}

/// Says how long it will take.
pub(super) fn announce(console: &mut Console, pairs: usize, rounds: usize, seconds: f64) {
    let plural = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let length = Nanos((seconds * 1e9) as i64);
    let rounds = if rounds == pairs { String::new() } else { format!(" in {}", plural(rounds, "round")) };
    console.info(&format!("estimate   {}{rounds}, about {length}", plural(pairs, "pair")));
}

/// Stores and prints the result. Exit 0 if everything was measured, 4 if something is missing, 130
/// after a signal.
pub(super) fn deliver(
    args: &NetMeasureArgs,
    measured: Measured,
    console: &mut Console,
) -> Result<u8, UserError> {
    let (started, interrupted) = (measured.started, measured.interrupted);
    let doc = measured.into_doc(args);
    let many_failed =
        doc.many_to_one.iter().flat_map(|many| &many.senders).any(|one| !one.failure.is_empty());
    let is_incomplete = many_failed || doc.pairs.iter().any(|pair| !pair.failures.is_empty());
    let delivered = output::deliver_net(&doc, args.format, open_all(&args.out)?);
    if !args.no_archive {
        match NetFolder::store(&RunsDir::new(&args.runs_dir), started, &doc) {
            Ok(folder) => {
                console.info(&format!("archive    {}", sanitize(&folder.path().to_string_lossy())));
            }
            Err(problem) => console.warn(&format!("cannot store the result: {problem}")),
        }
    }
    delivered.map_err(output::sent_but_unwritten)?;
    Ok(match (interrupted, is_incomplete) {
        (true, _) => ExitCode::Signal as u8,
        (false, true) => ExitCode::Incomplete as u8,
        (false, false) => ExitCode::Pass as u8,
    })
}
