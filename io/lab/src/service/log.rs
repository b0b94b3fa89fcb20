//! [`Log`]: the output of a service, with a size limit.

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

use rustix::pipe::fcntl_setpipe_size;
use wavetank_units::{Nanos, UserError};

use super::process::pause;
use crate::response::system;

/// Maximum size in bytes of one of its two files. A full file replaces the older one.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// Capacity of the pipe in bytes. A service with a burst of output does not have to wait for the
/// file.
const PIPE_BYTES: usize = 1 << 20;
/// Bytes per read.
const READ_BYTES: usize = 64 * 1024;
/// Bytes at the end of a log that are searched for its last lines.
const TAIL_BYTES: u64 = 8 * 1024;
/// Number of checks whether the thread has written its input, 2 ms apart.
const LOOKS_MAX: usize = 250;

/// The log `NAME.log` of a service, and `NAME.older.log` with its previous content. A thread copies
/// from a pipe that all processes of the service write to, so that the files have a size limit in
/// any case.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    pipe: PipeWriter,
}

impl Log {
    /// Creates the log in `folder`.
    pub(super) fn begin(folder: &Path, name: &str) -> Result<Self, UserError> {
        let path = folder.join(format!("{name}.log"));
        let older = folder.join(format!("{name}.older.log"));
        let reported =
            |error: &std::io::Error| system(&format!("the log {} cannot be written", path.display()), error);
        let file = File::create(&path).map_err(|error| reported(&error))?;
        let (reader, pipe) = std::io::pipe().map_err(|error| reported(&error))?;
        // A smaller pipe is sufficient; the kernel may not allow this size.
        let _ = fcntl_setpipe_size(&pipe, PIPE_BYTES);
        let mut keeper = Keeper { reader, file, written: 0, path: path.clone(), older };
        let started = thread::Builder::new().name(format!("log-{name}")).stack_size(256 * 1024);
        started.spawn(move || keeper.keep()).map_err(|error| reported(&error))?;
        Ok(Self { path, pipe })
    }

    /// Returns another end of the pipe for a process to write to.
    pub(super) fn end(&self) -> std::io::Result<Stdio> {
        self.pipe.try_clone().map(Stdio::from)
    }

    /// Returns another end of the pipe for this process.
    pub(super) fn writer(&self) -> std::io::Result<PipeWriter> {
        self.pipe.try_clone()
    }

    /// Adds a line by the lab itself.
    pub(super) fn remark(&mut self, line: &str) {
        // The thread reads while this end is open. If it cannot, only the line is lost.
        let _ = writeln!(self.pipe, "wavetank: {line}");
    }

    /// Appends `line` and returns the output before it. Everything that is in the pipe by now is in
    /// the file afterwards.
    pub(super) fn last_lines(&mut self, line: &str) -> String {
        self.remark(line);
        let ending = format!("wavetank: {line}\n");
        for _ in 0..LOOKS_MAX {
            let tail = self.tail();
            if let Some(before) = tail.strip_suffix(&ending) {
                return before.to_owned();
            }
            pause(Nanos::from_millis(2));
        }
        self.tail()
    }

    /// Returns the end of the file, at most a few kilobytes.
    fn tail(&self) -> String {
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = File::open(&self.path)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
            let mut bytes = Vec::new();
            file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }
}

/// The state of the thread.
struct Keeper {
    reader: PipeReader,
    file: File,
    written: u64,
    path: PathBuf,
    older: PathBuf,
}

impl Keeper {
    /// Copies until all writers have closed the pipe.
    fn keep(&mut self) {
        let mut bytes = vec![0; READ_BYTES];
        loop {
            match self.reader.read(&mut bytes) {
                Ok(0) => return,
                Ok(count) => self.take(&bytes[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.written + bytes.len() as u64 > FILE_BYTES_MAX {
            // If the folder is full or gone, the current file is overwritten from its start, so the
            // size limit holds.
            let fresh = std::fs::rename(&self.path, &self.older).and_then(|()| File::create(&self.path));
            match fresh {
                Ok(file) => self.file = file,
                Err(_) => drop(self.file.set_len(0).and_then(|()| self.file.rewind())),
            }
            self.written = 0;
        }
        // Output that cannot be written is lost; the service must not be blocked by it.
        if self.file.write_all(bytes).is_ok() {
            self.written += bytes.len() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the content of the two files after `lines` lines of a thousand bytes.
    fn written(lines: usize) -> (Vec<u8>, Option<Vec<u8>>) {
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        let path = folder.path().join("x.log");
        let older = folder.path().join("x.older.log");
        let (reader, mut pipe) = std::io::pipe().expect("there are pipes");
        let file = File::create(&path).expect("can be made");
        let mut keeper = Keeper { reader, file, written: 0, path: path.clone(), older: older.clone() };
        let thread = thread::spawn(move || keeper.keep());
        for number in 0..lines {
            pipe.write_all(format!("{number:0>999}\n").as_bytes()).expect("the thread reads");
        }
        drop(pipe);
        thread.join().expect("it ends");
        (std::fs::read(path).expect("there is a log"), std::fs::read(older).ok())
    }

    #[test]
    fn a_short_log_is_whole() {
        let (log, older) = written(10);
        assert_eq!((log.len(), older), (10_000, None));
    }

    #[test]
    fn the_bound_holds_where_the_older_file_cannot_be_made() {
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        let path = folder.path().join("x.log");
        let (reader, _pipe) = std::io::pipe().expect("there are pipes");
        let file = File::create(&path).expect("can be made");
        let older = folder.path().join("nowhere/x.older.log");
        let mut keeper = Keeper { reader, file, written: 0, path: path.clone(), older };
        let some = vec![b'x'; READ_BYTES];
        for _ in 0..=FILE_BYTES_MAX / READ_BYTES as u64 {
            keeper.take(&some);
        }
        // The file was restarted with the last of them.
        let length = std::fs::metadata(path).expect("there is a log").len();
        assert_eq!(length, READ_BYTES as u64);
    }

    #[test]
    fn a_long_one_keeps_its_end_within_bounds() {
        let (log, older) = written(20_000);
        let both = [older.expect("it was full once"), log].concat();
        assert!(both.len() as u64 <= 2 * FILE_BYTES_MAX, "{}", both.len());
        assert!(both.len() as u64 > FILE_BYTES_MAX - 2 * READ_BYTES as u64, "{}", both.len());
        assert!(both.ends_with(format!("{:0>999}\n", 19_999).as_bytes()), "the last line is there");
    }
}
