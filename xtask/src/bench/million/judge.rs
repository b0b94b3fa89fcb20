//! [`Judge`]: the numbers of a part beside what is asked of them.

use anyhow::{Context, Result, ensure};

use super::PORTS;
use super::course::{ConnectionTimeline, Kept};
use super::memory::Added;
use super::part::{BURST_S, Part, Scene};
use super::size_estimate::SizeEstimate;
use super::watch::Watched;
use crate::bench::{Session, on};

/// Fewest connections opened per second.
const OPENED_MIN: f64 = 20_000.0;
/// Least that the openings of any five seconds are of those of the first.
const STEADY_MIN: f64 = 0.5;
/// Most bytes of the kernel and both ends for a connection.
const BYTES_MAX: f64 = 9_600.0;
/// Most bytes of user memory for a connection at one end.
const USER_BYTES_MAX: f64 = 350.0;
/// Most that `size` may be apart from what was measured.
const SIZE_APART_MAX: f64 = 0.10;
/// Most of a CPU at one end with a request on each every minute.
const HEARTBEAT_CPU_MAX: f64 = 0.40;
/// Connections that a load closes in the orderly way: the one on which it asks the target for its count.
const OWN_QUESTIONS: u64 = 1;
/// Most of a CPU at one end in silence.
const SILENCE_CPU_MAX: f64 = 0.02;

/// One part's judge.
pub(super) struct Judge<'a> {
    pub(super) session: &'a mut Session,
    pub(super) scene: &'a Scene,
    pub(super) watched: &'a Watched,
}

impl Judge<'_> {
    /// Tells all that was seen, then each number. Where the connections were never all open, that is the only one: a
    /// number too, which a machine may be too slow for. An error where there were none.
    pub(super) fn tell(&mut self) -> Result<()> {
        let course = ConnectionTimeline::from_samples(&self.watched.looks, self.planned());
        self.told(&course);
        ensure!(course.most > 0, "no connection was open; run says {}", self.watched.said.verdict);
        let Some(kept) = course.kept else {
            self.score(
                "all open at once",
                "all at two looks".to_owned(),
                format!("never, at most {}; run says {}", course.most, self.watched.said.verdict),
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

    /// What nothing is asked of.
    fn told(&self, course: &ConnectionTimeline) {
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
            "closed     within {closing}; left {} sockets in use, {} in TIME-WAIT, {} of its sources, {} more on this machine",
            left.in_use, left.lingering, left.of_sources, left.allocated
        );
    }

    /// Nothing is lost, and everybody who counts says the same.
    fn held(&mut self, kept: &Kept) {
        let (planned, said) = (self.planned(), &self.watched.said);
        let lost = said.lost;
        let lowest = [kept.lowest_kernel, kept.lowest_target, said.lowest];
        let all = lowest.iter().all(|&lowest| lowest >= planned);
        self.score(
            &format!("held for {} s", self.scene.keep_s()),
            "0 lost, all in any second".to_owned(),
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
                "fewest {} / {} / {}; kernel and target differ at {} of {} looks; opened {} / {}, answers {} / {}",
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
        let seconds = course.opening_s.context("never all open")?;
        let pace = self.planned() as f64 / seconds;
        self.score(
            "opened per second",
            format!("≥ {OPENED_MIN:.0}, none refused"),
            format!("{pace:.0}, {} refused, in {seconds:.1} s", self.watched.said.not_opened),
            pace >= OPENED_MIN && self.watched.said.not_opened == 0,
        );
        // Not even one whole second of it: nothing to compare.
        let Some((first, slowest)) = course.paces() else { return Ok(()) };
        self.score(
            "median of the slowest 5 s of opening",
            format!("≥ {STEADY_MIN} × that of the first"),
            format!("{:.2} × ({slowest:.0}/s beside {first:.0}/s)", slowest / first),
            slowest >= STEADY_MIN * first,
        );
        Ok(())
    }

    /// Growth since before the load, divided by connections.
    fn memory(&mut self, kept: &Kept) -> Result<()> {
        let Added { slabs, beside, taken } = self.watched.memory.context("the kernel's memory")?;
        let (client_before, server_before) = self.watched.resident_before;
        let each = |bytes: u64| bytes as f64 / self.planned() as f64;
        let kernel = each(slabs + beside);
        let client = each(kept.resident.0.saturating_sub(client_before));
        let server = each(kept.resident.1.saturating_sub(server_before));
        println!(
            "memory     of a connection: slabs {:.0} B, other memory of the kernel {:.0} B, load {client:.0} B (from {:.1} \
             MB), target {server:.0} B (from {:.1} MB); by what is free {:.0} B",
            each(slabs),
            each(beside),
            client_before as f64 / 1e6,
            server_before as f64 / 1e6,
            each(taken)
        );
        let all = kernel + client + server;
        self.score(
            "memory a connection, kernel and both ends",
            format!("≤ {BYTES_MAX:.0} B"),
            format!("{all:.0} B"),
            all <= BYTES_MAX,
        );
        self.sized(all)?;
        for (end, bytes) in [("load", client), ("target", server)] {
            self.score(
                &format!("user memory a connection, {end}"),
                format!("≤ {USER_BYTES_MAX:.0} B"),
                format!("{bytes:.0} B"),
                bytes <= USER_BYTES_MAX,
            );
        }
        Ok(())
    }

    /// What `size` reckons of the same file, beside the bytes of a connection that were measured.
    fn sized(&mut self, measured: f64) -> Result<()> {
        let sized = SizeEstimate::compute(self.session, self.scene)?;
        let apart = sized.bytes_each / measured - 1.0;
        println!("size says  {:.0} B a connection, {} source addresses", sized.bytes_each, sized.sources);
        self.score(
            "size's memory a connection beside what was measured",
            format!("within {:.0} %", SIZE_APART_MAX * 100.0),
            format!("{:+.1} %", apart * 100.0),
            apart.abs() <= SIZE_APART_MAX,
        );
        Ok(())
    }

    /// All that one address was reckoned to have are open: more than the kernel's ports there cannot be.
    fn ports(&mut self) {
        let (reckoned, there) = (self.planned(), PORTS.len() as f64);
        let not_opened = self.watched.said.not_opened;
        self.score(
            "ports of an address beside what size reckons",
            format!("within {:.0} %, none refused", SIZE_APART_MAX * 100.0),
            format!(
                "{reckoned} reckoned, all opened, {not_opened} refused; the kernel has {there:.0}, {:+.1} %",
                (there / reckoned as f64 - 1.0) * 100.0
            ),
            not_opened == 0 && (there / reckoned as f64 - 1.0).abs() <= SIZE_APART_MAX,
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

    /// From the last look without an answer of the target to the first with all, five looks a second; and, for those
    /// that the load had not read by then, the slowest answer as it timed it.
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
        let seconds = course.closing_s.context("the connections never went")?;
        self.score(
            "left when all are closed",
            "no socket, none of them in TIME-WAIT".to_owned(),
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
        let number = format!("{}{}: {what}", self.scene.title(), on(threads));
        self.session.score(number, asked, measured, Some(met));
    }
}
