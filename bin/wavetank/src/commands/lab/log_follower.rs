//! [`LogFollower`]: shows a log while it is written.

use std::fs::{File, metadata};
use std::io::{BufRead, BufReader, Result, Seek, Write};
use std::os::unix::fs::MetadataExt;

use wavetank_lab::LogFile;
use wavetank_units::sanitize;

/// A line without an end is shown in pieces of at least this many bytes.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// A log and the position up to which it was shown.
pub(super) struct LogFollower<'l> {
    log: &'l LogFile,
    file: BufReader<File>,
    /// The first part of a line that is not complete yet.
    begun: Vec<u8>,
}

impl<'l> LogFollower<'l> {
    pub(super) fn open(log: &'l LogFile) -> Result<Self> {
        Ok(Self { log, file: BufReader::new(File::open(&log.path)?), begun: Vec::new() })
    }

    /// Shows new lines since the last call. They are sanitized, because clients of a server control
    /// what it logs, and a terminal may not get that.
    ///
    /// `speaker` is the log shown last; a change prints a heading with the log's name. Without
    /// `speaker`, no heading is printed.
    pub(super) fn show(&mut self, speaker: &mut Option<&'l str>, to: &mut impl Write) -> Result<()> {
        self.show_rest(speaker, to)?;
        if self.is_restarted()? {
            // Lines may have been added to the old file between the two checks.
            self.show_rest(speaker, to)?;
            self.end(speaker, to)?;
            self.file = BufReader::new(File::open(&self.log.path)?);
            self.show_rest(speaker, to)?;
        }
        to.flush()
    }

    /// Shows a last line that has no end.
    pub(super) fn end(&mut self, speaker: &mut Option<&'l str>, to: &mut impl Write) -> Result<()> {
        if self.begun.is_empty() { Ok(()) } else { self.say(speaker, to) }
    }

    fn show_rest(&mut self, speaker: &mut Option<&'l str>, to: &mut impl Write) -> Result<()> {
        while self.file.read_until(b'\n', &mut self.begun)? > 0 {
            if self.begun.ends_with(b"\n") || self.begun.len() >= LINE_BYTES_MAX {
                self.say(speaker, to)?;
            }
        }
        Ok(())
    }

    fn say(&mut self, speaker: &mut Option<&'l str>, to: &mut impl Write) -> Result<()> {
        if let Some(last) = speaker
            && *last != self.log.name
        {
            *last = &self.log.name;
            writeln!(to, "==> {} <==", sanitize(last))?;
        }
        let text = String::from_utf8_lossy(&self.begun);
        writeln!(to, "{}", sanitize(text.trim_end_matches('\n')))?;
        self.begun.clear();
        Ok(())
    }

    /// Whether the log was emptied, or continues in a new file of the same name because this one is
    /// full.
    fn is_restarted(&mut self) -> Result<bool> {
        // The directory of a removed lab is gone, but the open file can still be read to its end.
        let Ok(named) = metadata(&self.log.path) else { return Ok(false) };
        let own = self.file.get_ref().metadata()?;
        let other = (named.dev(), named.ino()) != (own.dev(), own.ino());
        Ok(other || own.len() < self.file.stream_position()?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{OpenOptions, rename, write};
    use std::path::PathBuf;

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn path(&self) -> PathBuf {
            self.0.path().join("web.log")
        }

        fn add(&self, text: &str) {
            let mut file = OpenOptions::new().append(true).create(true).open(self.path()).expect("writable");
            file.write_all(text.as_bytes()).expect("writable");
        }
    }

    #[test]
    fn lines_are_shown_once_each_whatever_becomes_of_the_file() {
        let folder = Folder(tempfile::tempdir().expect("temporary folders can be made"));
        folder.add("one\ntw");
        let log = LogFile { name: "web".to_owned(), path: folder.path() };
        let mut followed = LogFollower::open(&log).expect("it is there");
        let mut check = |expected: &str| {
            let mut shown = Vec::new();
            followed.show(&mut None, &mut shown).expect("readable");
            assert_eq!(String::from_utf8_lossy(&shown), expected);
        };
        check("one\n");
        check("");
        folder.add("o\n\u{1b}[2J\n");
        check("two\n\\u{1b}[2J\n");
        // The log is full and continues in another file.
        folder.add("last of the old");
        rename(folder.path(), folder.0.path().join("web.older.log")).expect("it is there");
        folder.add("first of the new\n");
        check("last of the old\nfirst of the new\n");
        // The log is emptied, as it is when no other file can be created.
        write(folder.path(), "").expect("writable");
        folder.add("x\n");
        check("x\n");
        std::fs::remove_file(folder.path()).expect("it is there");
        check("");
    }

    #[test]
    fn speakers_are_named_where_they_change() {
        let folder = Folder(tempfile::tempdir().expect("temporary folders can be made"));
        folder.add("a\nb\n");
        let log = LogFile { name: "web".to_owned(), path: folder.path() };
        let shown = |speaker: &mut Option<&'static str>| {
            let log: &'static LogFile = Box::leak(Box::new(log.clone()));
            let mut shown = Vec::new();
            LogFollower::open(log).expect("it is there").show(speaker, &mut shown).expect("readable");
            String::from_utf8_lossy(&shown).into_owned()
        };
        assert_eq!(shown(&mut Some("")), "==> web <==\na\nb\n");
        assert_eq!(shown(&mut Some("web")), "a\nb\n");
    }
}
