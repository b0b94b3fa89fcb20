//! [`for_each_decoded`]: reads the lines of a file in order, and decodes them ahead of the consumer
//! in a few threads.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};

use crate::file_access::LINE_BYTES_MAX;

/// Bytes of lines in one batch if everything in them is passed on. The batch is small so that the
/// data is still in a cache when it is used.
pub(crate) const ALL_HANDED_ON: usize = 16 << 10;
/// The same if little of a line is passed on.
pub(crate) const LITTLE_HANDED_ON: usize = 256 << 10;
/// Maximum number of lines in a batch: the decoded form of a line may be much longer than the line.
const LINES_MAX: usize = 1_024;
/// Maximum number of decoding threads. One consumer cannot keep more of them busy.
const THREADS_MAX: usize = 4;
/// Maximum number of batches at one thread, including the one being decoded.
const AHEAD_MAX: usize = 2;
/// Reading ahead pauses at this many bytes of lines in all threads together: a line may be much
/// longer than a batch.
const AHEAD_BYTES_MAX: usize = 8 << 20;
/// Larger batches are freed, not reused.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Decodes each line of `file`, without its newline, and passes the results to `visit` in file
/// order, until `visit` breaks. Each thread decodes batches of `batch_bytes`. `decode` receives the
/// result of an earlier line, so that its memory can be reused. Returns whether the file ended in
/// the middle of a line, which is left out.
pub(crate) fn for_each_decoded<T: Send>(
    file: impl Read,
    batch_bytes: usize,
    decode: impl Fn(&[u8], Option<T>) -> T + Sync,
    mut visit: impl FnMut(&T) -> ControlFlow<()>,
) -> io::Result<bool> {
    let lines = Lines::new(file, batch_bytes);
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    // A short file is read faster than a thread starts.
    let wanted = if lines.end.is_some() { 0 } else { cpus.min(THREADS_MAX) };
    let is_enough = |batch: &Batch<T>| batch.decoded.iter().any(|decoded| visit(decoded).is_break());
    thread::scope(|scope| {
        // If the host allows no further thread, decoding goes on with fewer, or in this thread.
        let threads: Vec<_> = (0..wanted).map_while(|_| Decoder::new(scope, &decode).ok()).collect();
        if threads.is_empty() { alone(lines, &decode, is_enough) } else { ahead(lines, &threads, is_enough) }
    })
}

/// Decodes in this thread.
fn alone<T>(
    mut lines: Lines<impl Read, T>,
    decode: impl Fn(&[u8], Option<T>) -> T,
    mut is_enough: impl FnMut(&Batch<T>) -> bool,
) -> io::Result<bool> {
    let mut last = None;
    while let Some(mut batch) = lines.next(last.take()) {
        batch.decode(&decode);
        if is_enough(&batch) {
            return Ok(false);
        }
        last = Some(batch);
    }
    lines.end.unwrap_or(Ok(false))
}

/// Decodes in `threads`, in rotation.
fn ahead<T>(
    mut lines: Lines<impl Read, T>,
    threads: &[Decoder<T>],
    mut is_enough: impl FnMut(&Batch<T>) -> bool,
) -> io::Result<bool> {
    let (mut given, mut taken, mut ahead_bytes) = (0, 0, 0);
    let mut recycled = Vec::new();
    loop {
        while given < taken + AHEAD_MAX * threads.len() && ahead_bytes < AHEAD_BYTES_MAX {
            let Some(batch) = lines.next(recycled.pop()) else { break };
            ahead_bytes += batch.bytes.len();
            // A thread is gone only if `decode` panicked. The scope then panics as well.
            let Ok(()) = threads[given % threads.len()].given.send(batch) else { return Ok(false) };
            given += 1;
        }
        if taken == given {
            return lines.end.unwrap_or(Ok(false));
        }
        let Ok(batch) = threads[taken % threads.len()].decoded.recv() else { return Ok(false) };
        taken += 1;
        ahead_bytes -= batch.bytes.len();
        if is_enough(&batch) {
            return Ok(false);
        }
        recycled.push(batch);
    }
}

/// The lines of a file, batch by batch.
struct Lines<R, T> {
    reader: BufReader<R>,
    batch_bytes: usize,
    /// The first lines, read already.
    first: Option<Batch<T>>,
    /// Whether the file ended in the middle of a line, or the error that ended reading.
    end: Option<io::Result<bool>>,
}

impl<R: Read, T> Lines<R, T> {
    fn new(file: R, batch_bytes: usize) -> Self {
        let reader = BufReader::with_capacity(1 << 16, file);
        let mut lines = Self { reader, batch_bytes, first: None, end: None };
        lines.first = lines.next(None);
        lines
    }

    /// Returns the next lines, in the memory of `earlier`; `None` after the last.
    fn next(&mut self, earlier: Option<Batch<T>>) -> Option<Batch<T>> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        if self.end.is_some() {
            return None;
        }
        let mut batch = earlier.unwrap_or_default();
        if batch.bytes.capacity() > KEPT_BYTES_MAX {
            batch = Batch::default();
        }
        self.end = batch.read(&mut self.reader, self.batch_bytes).transpose();
        Some(batch)
    }
}

/// A thread that decodes. Batches come back in the order in which they were given.
struct Decoder<T> {
    given: SyncSender<Batch<T>>,
    decoded: Receiver<Batch<T>>,
}

impl<T: Send> Decoder<T> {
    fn new<'scope, D>(scope: &'scope Scope<'scope, '_>, decode: &'scope D) -> io::Result<Self>
    where
        T: 'scope,
        D: Fn(&[u8], Option<T>) -> T + Sync,
    {
        let (given, batches) = sync_channel::<Batch<T>>(AHEAD_MAX);
        let (results, decoded) = sync_channel(AHEAD_MAX);
        let work = move || {
            for mut batch in batches {
                batch.decode(decode);
                // The consumer has stopped, so no more results are needed.
                if results.send(batch).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().spawn_scoped(scope, work)?;
        Ok(Self { given, decoded })
    }
}

/// Some complete lines, and their decoded forms.
struct Batch<T> {
    /// The lines, including their newlines.
    bytes: Vec<u8>,
    /// End of each line, after its newline.
    ends: Vec<usize>,
    decoded: Vec<T>,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), decoded: Vec::new() }
    }
}

impl<T> Batch<T> {
    /// Reads the next lines of `reader`. At the end of the file, returns whether it ended in the
    /// middle of a line.
    fn read(&mut self, reader: &mut impl BufRead, bytes_max: usize) -> io::Result<Option<bool>> {
        self.bytes.clear();
        self.ends.clear();
        while self.bytes.len() < bytes_max && self.ends.len() < LINES_MAX {
            let bytes = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut self.bytes)?;
            if bytes == 0 || self.bytes.last() != Some(&b'\n') {
                return Ok(Some(bytes > 0));
            }
            self.ends.push(self.bytes.len());
        }
        Ok(None)
    }

    fn decode(&mut self, decode: impl Fn(&[u8], Option<T>) -> T) {
        let mut earlier = std::mem::take(&mut self.decoded).into_iter();
        let mut begin = 0;
        for &end in &self.ends {
            self.decoded.push(decode(&self.bytes[begin..end - 1], earlier.next()));
            begin = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: usize = 1_000;

    /// Lines of `text` until `most` were taken, and whether it is torn.
    fn read(text: &[u8], most: usize) -> (Vec<String>, bool) {
        let mut lines = Vec::new();
        let decode = |line: &[u8], _: Option<String>| String::from_utf8_lossy(line).into_owned();
        let torn = for_each_decoded(text, SMALL, decode, |line| {
            lines.push(line.clone());
            if lines.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        (lines, torn.expect("memory can be read"))
    }

    /// As the lines are split by hand.
    fn check(text: &str) {
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let lines: Vec<String> = whole.split_terminator('\n').map(str::to_owned).collect();
        assert_eq!(read(text.as_bytes(), usize::MAX), (lines.clone(), whole.len() < text.len()));
        for most in
            [1, lines.len() / 2, lines.len()].into_iter().filter(|most| (1..=lines.len()).contains(most))
        {
            assert_eq!(read(text.as_bytes(), most), (lines[..most].to_vec(), false));
        }
    }

    #[test]
    fn lines_come_in_their_order_and_a_torn_one_is_left_out() {
        check("");
        check("torn");
        check("\n");
        check("\n\none\n\n");
        check("one\ntwo\ntorn");
        // Many batches of few and of many lines, and lines longer than a batch.
        let numbered = |many: usize, long: usize| {
            let line = |line: usize| format!("{line}{}\n", "x".repeat(long * (line % 3)));
            (0..many).map(line).collect::<Vec<_>>().concat()
        };
        check(&numbered(20_000, 0));
        check(&format!("{}torn", numbered(3_000, 700)));
        check(&numbered(9, AHEAD_BYTES_MAX / 3));
    }

    #[test]
    fn lines_are_decoded_without_other_threads_too() {
        let text = "line\n".repeat(5_000) + "torn";
        let (mut count, mut most) = (0, 0);
        let torn = alone(
            Lines::new(text.as_bytes(), SMALL),
            |line: &[u8], earlier: Option<u64>| {
                assert_eq!(line, b"line");
                earlier.map_or(1, |earlier| earlier + 1)
            },
            |batch| {
                count += batch.decoded.len();
                most = most.max(batch.decoded.len());
                false
            },
        );
        assert!(torn.expect("memory can be read"));
        assert!(count == 5_000 && most == SMALL / "line\n".len(), "{count} {most}");
    }

    #[test]
    fn what_was_made_of_an_earlier_line_comes_again() {
        let text = "line\n".repeat(50_000);
        let decode = |_: &[u8], earlier: Option<u64>| earlier.map_or(1, |earlier| earlier + 1);
        let mut most = 0;
        let visit = |&made: &u64| {
            most = most.max(made);
            ControlFlow::Continue(())
        };
        assert!(!for_each_decoded(text.as_bytes(), SMALL, decode, visit).expect("memory can be read"));
        assert!(most > 1, "memory was never used again");
    }

    #[test]
    fn an_error_comes_after_the_lines_before_it() {
        struct Broken(&'static [u8]);
        impl Read for Broken {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                if self.0.is_empty() { Err(io::Error::other("broken")) } else { self.0.read(into) }
            }
        }
        let mut lines = Vec::new();
        let read = for_each_decoded(
            Broken(b"one\ntwo\nthr"),
            SMALL,
            |line, _| line.to_vec(),
            |line| {
                lines.push(line.clone());
                ControlFlow::Continue(())
            },
        );
        assert_eq!(read.expect_err("broken").to_string(), "broken");
        assert_eq!(lines, [b"one", b"two"]);
    }
}
