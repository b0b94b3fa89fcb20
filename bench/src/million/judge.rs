//! [`Judge`]: compares the numbers of a part with their targets.

use anyhow::{Context, Result, ensure};

use super::PORTS;
use super::course::{ConnectionTimeline, Kept};
use super::memory::Added;
use super::part::{BURST_S, Part, Scene};
use super::size_estimate::SizeEstimate;
use super::watch::Watched;
use crate::session::Session;
use crate::stats::threads_suffix;

/// Fewest connections opened per second.
const OPENED_MIN: f64 = 20_000.0;
/// Smallest ratio of the openings in any five seconds to those in the first five.
const STEADY_MIN: f64 = 0.5;
/// Most bytes per connection, of the kernel and both ends.
const BYTES_MAX: f64 = 9_600.0;
/// Most bytes of user memory per connection at one end.
const USER_BYTES_MAX: f64 = 350.0;
/// Largest relative difference between the estimate of `size` and the measurement.
const SIZE_APART_MAX: f64 = 0.10;
/// Largest share of a CPU at one end with a request per minute on each connection.
const HEARTBEAT_CPU_MAX: f64 = 0.40;
/// Connections that a load closes in the orderly way: the one on which it asks the target for its
/// count.
const OWN_QUESTIONS: u64 = 1;
/// Largest share of a CPU at one end without requests.
const SILENCE_CPU_MAX: f64 = 0.02;

/// Judges one part.
pub(super) struct Judge<'a> {
    pub(super) session: &'a mut Session,
    pub(super) scene: &'a Scene,
    pub(super) watched: &'a Watched,
}

impl Judge<'_> {
    /// Prints the observations, then scores each number. If the connections were never all open,
    /// that is the only score, since the machine may be too slow. Fails if no connection was open.
    pub(super) fn print_scores(&mut self) -> Result<()> {
        let course = ConnectionTimeline::from_samples(&self.watched.looks, self.planned());
        self.print_observations(&course);
        ensure!(course.most > 0, "no connection was open; the run reports {}", self.watched.said.verdict);
        let Some(kept) = course.kept else {
            self.score(
                "all open simultaneously",
                "all in two samples".to_owned(),
                format!("never, at most {}; the run reports {}", course.most, self.watched.said.verdict),
                false,
            );
            return Ok(());
        };
        self.held(&kept);
        self.opened(&course)?;
        match self.scene.part {
            Part::Heartbeat => {
                self.memory(&kept)?;
                self.cpu(&kept, "with heartbeats", HEARTBEAT_CPU_MAX);
            }
            Part::Silence => self.cpu(&kept, "in silence", SILENCE_CPU_MAX),
            Part::Burst => self.burst(&course),
            Part::Ports => self.ports(),
        }
        self.closed(&course)
    }

    /// Prints the observations that have no target.
    fn print_observations(&self, course: &ConnectionTimeline) {
        let Watched { said, left, .. } = self.watched;
        println!("run says   {}", said.verdict);
        for finding in &said.findings {
            println!("           {finding}");
        }
        let opened: Vec<String> = course.opened.iter().map(|opened| format!("{opened:.0}")).collect();
        println!("opened     in each second: {}", opened.join(" "));
        if let Some(kept) = course.kept {
            println!(
                "kept       {:.1} s; of one CPU load {:.1} %, target {:.1} %, the whole machine {:.1} %",
                kept.seconds,
                kept.cpu.0 * 100.0,
                kept.cpu.1 * 100.0,
                kept.machine_cpu * 100.0
            );
        }
        let closing = course.closing_s.map_or("never".to_owned(), |closing| format!("{closing:.1} s"));
        let going: Vec<String> = course.going.iter().map(u64::to_string).collect();
        println!("closing    left after each second: {}", going.join(" "));
        println!(
            "closed     within {closing}; {} sockets left in use, {} in TIME-WAIT, {} of its sources, {} more on this machine",
            left.in_use, left.lingering, left.of_sources, left.allocated
        );
    }

    /// Scores that no connection is lost, and that the counts of kernel, target and run agree.
    fn held(&mut self, kept: &Kept) {
        let (planned, said) = (self.planned(), &self.watched.said);
        let lost = said.lost;
        let lowest = [kept.lowest_kernel, kept.lowest_target, said.lowest];
        let all = lowest.iter().all(|&lowest| lowest >= planned);
        self.score(
            &format!("held for {} s", self.scene.keep_s()),
            "0 lost, all open in every second".to_owned(),
            format!("{lost} lost, lowest {}", lowest.iter().min().copied().unwrap_or(0)),
            lost == 0 && all && kept.seconds >= 0.9 * self.scene.keep_s() as f64,
        );
        let last = self.watched.looks.last().copied().unwrap_or_default();
        let requests = (last.answers, said.done);
        let opened = (last.target.accepted, said.opened);
        self.score(
            "counts of kernel, target and run",
            "equal".to_owned(),
            format!(
                "fewest {} / {} / {}; kernel and target differ in {} of {} samples; opened {} / {}, answers {} / {}",
                lowest[0],
                lowest[1],
                lowest[2],
                kept.differing,
                kept.looks,
                opened.0,
                opened.1,
                requests.0,
                requests.1
            ),
            lowest[1] == lowest[2]
                && kept.differing == 0
                && opened.0 == opened.1
                && requests.0 == requests.1,
        );
    }

    fn opened(&mut self, course: &ConnectionTimeline) -> Result<()> {
        let seconds = course.opening_s.context("not all connections were open")?;
        let pace = self.planned() as f64 / seconds;
        self.score(
            "opened per second",
            format!("≥ {OPENED_MIN:.0}, none refused"),
            format!("{pace:.0}, {} refused, in {seconds:.1} s", self.watched.said.not_opened),
            pace >= OPENED_MIN && self.watched.said.not_opened == 0,
        );
        // Without a whole second of opening there is nothing to compare.
        let Some((first, slowest)) = course.paces() else { return Ok(()) };
        self.score(
            "median of the slowest 5 s of opening",
            format!("≥ {STEADY_MIN} × the first 5 s"),
            format!("{:.2} × ({slowest:.0}/s, at first {first:.0}/s)", slowest / first),
            slowest >= STEADY_MIN * first,
        );
        Ok(())
    }

    /// Scores the growth of memory since before the load, divided by the number of connections.
    fn memory(&mut self, kept: &Kept) -> Result<()> {
        let Added { slabs, alongside, taken } = self.watched.memory.context("the kernel's memory")?;
        let (client_before, server_before) = self.watched.resident_before;
        let each = |bytes: u64| bytes as f64 / self.planned() as f64;
        let kernel = each(slabs + alongside);
        let client = each(kept.resident.0.saturating_sub(client_before));
        let server = each(kept.resident.1.saturating_sub(server_before));
        println!(
            "memory     per connection: slabs {:.0} B, other memory of the kernel {:.0} B, load {client:.0} B (from {:.1} \
             MB), target {server:.0} B (from {:.1} MB); by free memory {:.0} B",
            each(slabs),
            each(alongside),
            client_before as f64 / 1e6,
            server_before as f64 / 1e6,
            each(taken)
        );
        let all = kernel + client + server;
        self.score(
            "memory per connection, kernel and both ends",
            format!("≤ {BYTES_MAX:.0} B"),
            format!("{all:.0} B"),
            all <= BYTES_MAX,
        );
        self.sized(all)?;
        for (end, bytes) in [("load", client), ("target", server)] {
            self.score(
                &format!("user memory per connection, {end}"),
                format!("≤ {USER_BYTES_MAX:.0} B"),
                format!("{bytes:.0} B"),
                bytes <= USER_BYTES_MAX,
            );
        }
        Ok(())
    }

    /// Compares the estimate of `size` for the same file with the measured bytes per connection.
    fn sized(&mut self, measured: f64) -> Result<()> {
        let sized = SizeEstimate::compute(self.session, self.scene)?;
        let apart = sized.bytes_each / measured - 1.0;
        println!(
            "size       estimates {:.0} B per connection, {} source addresses",
            sized.bytes_each, sized.sources
        );
        self.score(
            "memory per connection, size's estimate against the measurement",
            format!("within {:.0} %", SIZE_APART_MAX * 100.0),
            format!("{:+.1} %", apart * 100.0),
            apart.abs() <= SIZE_APART_MAX,
        );
        Ok(())
    }

    /// Compares the number of connections that `size` estimates for one address with the kernel's
    /// ports. All of them are open, and the kernel's ports are an upper bound.
    fn ports(&mut self) {
        let (estimated, there) = (self.planned(), PORTS.len() as f64);
        let not_opened = self.watched.said.not_opened;
        self.score(
            "ports of an address against size's estimate",
            format!("within {:.0} %, none refused", SIZE_APART_MAX * 100.0),
            format!(
                "{estimated} estimated, all opened, {not_opened} refused; the kernel has {there:.0}, {:+.1} %",
                (there / estimated as f64 - 1.0) * 100.0
            ),
            not_opened == 0 && (there / estimated as f64 - 1.0).abs() <= SIZE_APART_MAX,
        );
    }

    fn cpu(&mut self, kept: &Kept, when: &str, most: f64) {
        for (end, share) in [("load", kept.cpu.0), ("target", kept.cpu.1)] {
            self.score(
                &format!("CPU of the {end} {when}"),
                format!("≤ {:.0} % of a core", most * 100.0),
                format!("{:.2} %", share * 100.0),
                share <= most,
            );
        }
    }

    /// Scores the time from the last sample without a response to the first with all responses, at
    /// five samples per second. Adds the slowest response as the load measured it, for responses
    /// that it had not read by then.
    fn burst(&mut self, course: &ConnectionTimeline) {
        let said = &self.watched.said;
        let (planned, done, failed, slowest) = (self.planned(), said.done, said.failed, said.slowest_s);
        let answered = course.answering_s.map(|answering| answering + slowest);
        let shown = answered.map_or("not all answered".to_owned(), |seconds| {
            format!("{seconds:.1} s (slowest answer {:.0} ms)", slowest * 1e3)
        });
        self.score(
            &format!("one request each, spread over {} s", self.scene.spread_s()),
            format!("within {BURST_S} s, 0 failed"),
            format!("{shown}, {done} done, {failed} failed"),
            answered.is_some_and(|seconds| seconds <= BURST_S as f64) && failed == 0 && done == planned,
        );
    }

    fn closed(&mut self, course: &ConnectionTimeline) -> Result<()> {
        let left = self.watched.left;
        let seconds = course.closing_s.context("the connections never closed")?;
        self.score(
            "left after closing all",
            "no socket, none in TIME-WAIT".to_owned(),
            format!(
                "{} of its sources in any state, {} sockets, {} in TIME-WAIT, after {seconds:.1} s",
                left.of_sources, left.in_use, left.lingering
            ),
            left.of_sources == 0 && left.in_use == 0 && left.lingering <= OWN_QUESTIONS,
        );
        Ok(())
    }

    fn planned(&self) -> u64 {
        self.scene.connections as u64
    }

    fn score(&mut self, what: &str, asked: String, measured: String, met: bool) {
        let threads = self.scene.engine.threads_for(self.scene.connections);
        let number = format!("{}{}: {what}", self.scene.title(), threads_suffix(threads));
        self.session.score(number, asked, measured, Some(met));
    }
}
