//! [`interval_span`]: the time range of the intervals in a file, without reading all of them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use wavetank_record::IntervalLine;
use wavetank_units::Nanos;

use crate::file_access::open_file;

/// Longest line in bytes that is read here. The range of a file with longer lines is found by
/// reading all of it.
const LINE_BYTES_MAX: u64 = 16 << 20;
/// Bytes read first to find the last line.
const TAIL_BYTES: u64 = 256 << 10;

/// Returns the start of the first line and the end of the last line. The range is only a guess if
/// lines are damaged or out of order. It is `None` if it cannot be determined without reading the
/// whole file.
pub(crate) fn interval_span(path: &Path) -> Option<(Nanos, Nanos)> {
    let mut file = open_file(path).ok()?;
    let mut line = Vec::new();
    BufReader::new(&file).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).ok()?;
    let (from, end) = IntervalLine::place(line.strip_suffix(b"\n")?).ok()?;
    let (_, last) = last_line(&mut file).ok()?.and_then(|line| IntervalLine::place(&line).ok())?;
    Some((from, last.max(end)))
}

/// Returns the last complete line without its newline.
fn last_line(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    let length = file.metadata()?.len();
    let mut tail = TAIL_BYTES;
    loop {
        let begin = length.saturating_sub(tail);
        file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        file.by_ref().take(tail).read_to_end(&mut bytes)?;
        let end = bytes.iter().rposition(|&byte| byte == b'\n');
        bytes.truncate(end.unwrap_or(0));
        let before = bytes.iter().rposition(|&byte| byte == b'\n');
        match before {
            Some(before) => return Ok(Some(bytes.split_off(before + 1))),
            None if begin == 0 => return Ok(end.map(|_| bytes)),
            None if tail >= LINE_BYTES_MAX => return Ok(None),
            None => tail *= 8,
        }
    }
}
