//! [`for_each_count`]: the intervals of a file without their times, read ahead by a few threads.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use wavetank_record::IntervalLine;

use crate::archive_ledger::is_checkpoint;
use crate::opened_run::{LINE_BYTES_MAX, open_file};

/// Bytes that a thread reads at once. What is left of them without times is a small part of that.
const CHUNK_BYTES: u64 = 4 << 20;
/// Threads that read at most: one that adds up keeps no more of them busy.
const THREADS_MAX: usize = 4;
/// Chunks that a thread is ahead at most, beside the one that it reads.
const AHEAD_MAX: usize = 1;

/// The lines that begin in one chunk, checkpoints left out; `None` where one of them cannot be read.
type Chunk = Option<Vec<IntervalLine>>;

/// Hands every interval before byte `until`, where a line ends, to `visit` in the order of the file, without its times, until it
/// says `false`. Whether all of them could be read and taken.
pub(crate) fn for_each_count(path: &Path, until: u64, mut visit: impl FnMut(&IntervalLine) -> bool) -> bool {
    let chunks = until.div_ceil(CHUNK_BYTES);
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let threads = cpus.min(THREADS_MAX).min(usize::try_from(chunks).unwrap_or(THREADS_MAX)) as u64;
    thread::scope(|scope| {
        let readers: Vec<Receiver<Chunk>> = (0..threads)
            .map(|own| {
                let (sender, receiver) = sync_channel(AHEAD_MAX);
                let own_chunks = (own..chunks).step_by(threads as usize);
                scope.spawn(move || read_chunks(own_chunks, path, until, &sender));
                receiver
            })
            .collect();
        (0..chunks).all(|chunk| {
            let read = readers[(chunk % threads) as usize].recv();
            read.is_ok_and(|lines| lines.is_some_and(|lines| lines.iter().all(&mut visit)))
        })
    })
}

fn read_chunks(chunks: impl Iterator<Item = u64>, path: &Path, until: u64, to: &SyncSender<Chunk>) {
    for chunk in chunks {
        let from = chunk * CHUNK_BYTES;
        let lines = read_chunk(path, from, until.min(from + CHUNK_BYTES)).ok().flatten();
        // Nobody who waits wants any more.
        if to.send(lines).is_err() {
            return;
        }
    }
}

/// The lines that begin between the bytes `from` and `until`.
fn read_chunk(path: &Path, from: u64, until: u64) -> io::Result<Chunk> {
    let mut file = open_file(path)?;
    // A line begins behind a newline, which may be the byte before.
    let mut at = from.saturating_sub(1);
    file.seek(SeekFrom::Start(at))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    if from > 0 {
        at += reader.skip_until(b'\n')? as u64;
    }
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    while at < until {
        line.clear();
        at += reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? as u64;
        if line.pop() != Some(b'\n') {
            return Ok(None);
        }
        if !is_checkpoint(&line) {
            let Ok(read) = IntervalLine::decode_counts(&line) else { return Ok(None) };
            lines.push(read);
        }
    }
    Ok(Some(lines))
}
