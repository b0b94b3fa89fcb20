//! [`Lines`]: the output of one pipe, line by line, with a limit.

/// Bytes of one host's output that are kept. The rest is read and dropped.
const KEPT_BYTES_MAX: usize = 1 << 20;
/// Longest line that is reported in one piece.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Output of one pipe.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    kept: Vec<u8>,
    /// Whether some output was dropped.
    cut: bool,
    /// Start of the line that is not complete.
    partial: Vec<u8>,
}

impl Lines {
    /// Adds what was read and passes on complete lines, without their ends.
    pub(crate) fn add(&mut self, bytes: &[u8], mut line: impl FnMut(&str)) {
        let room = KEPT_BYTES_MAX.saturating_sub(self.kept.len());
        self.cut |= bytes.len() > room;
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        for &byte in bytes {
            if byte == b'\n' || self.partial.len() >= LINE_BYTES_MAX {
                line(&String::from_utf8_lossy(&self.partial));
                self.partial.clear();
            }
            if byte != b'\n' {
                self.partial.push(byte);
            }
        }
    }

    /// Passes on the last line if it has no end.
    pub(crate) fn finish(&mut self, mut line: impl FnMut(&str)) {
        if !self.partial.is_empty() {
            line(&String::from_utf8_lossy(&self.partial));
            self.partial.clear();
        }
    }

    /// Returns the kept output as text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.kept).into_owned();
        if self.cut {
            text.push_str("\n(output beyond 1 MiB left out)\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_lines() {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        for piece in ["a", "b\nc\n\nd"] {
            lines.add(piece.as_bytes(), |line| seen.push(line.to_owned()));
        }
        lines.finish(|line| seen.push(line.to_owned()));
        assert_eq!(seen, ["ab", "c", "", "d"]);
        assert_eq!(lines.text(), "ab\nc\n\nd");
    }

    #[test]
    fn output_has_a_limit() {
        let mut lines = Lines::default();
        let mut longest = 0;
        for _ in 0..40 {
            lines.add(&vec![b'x'; 50_000], |line| longest = longest.max(line.len()));
        }
        assert!(longest <= LINE_BYTES_MAX && lines.text().ends_with("left out)\n"));
        assert!(lines.text().len() < KEPT_BYTES_MAX + 100);
    }
}
