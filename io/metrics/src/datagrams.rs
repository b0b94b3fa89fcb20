//! Outputs of lines: [`DatagramSink`] and [`FileSink`].

use std::fs::File;
use std::io::Write;
use std::net::UdpSocket;

use crate::influx::encode_influx;
use crate::json_lines::encode_json_lines;
use crate::output_thread::Sink;
use crate::snapshot::Snapshot;
use crate::statsd::StatsdEncoder;

/// Largest datagram: fits into a packet of 1,500 bytes with headers of IPv6 and some tunnel.
const DATAGRAM_MAX: usize = 1432;

/// Which lines are sent.
pub(crate) enum DatagramLines {
    Influx,
    Statsd(StatsdEncoder),
}

/// Sends lines in datagrams.
pub(crate) struct DatagramSink {
    pub(crate) socket: UdpSocket,
    pub(crate) lines: DatagramLines,
}

impl Sink for DatagramSink {
    fn send(&mut self, snapshot: &Snapshot) -> Result<(), String> {
        let lines = match &mut self.lines {
            DatagramLines::Influx => encode_influx(snapshot),
            DatagramLines::Statsd(encoder) => encoder.encode(snapshot),
        };
        for datagram in pack(&lines)? {
            self.socket.send(datagram.as_bytes()).map_err(|error| error.to_string())?;
        }
        if let DatagramLines::Statsd(encoder) = &mut self.lines {
            encoder.commit();
        }
        Ok(())
    }
}

/// Joins lines to datagrams, without the last line feed of each.
fn pack(lines: &[String]) -> Result<Vec<String>, String> {
    let mut datagrams: Vec<String> = Vec::new();
    for line in lines {
        if line.len() > DATAGRAM_MAX {
            return Err("the labels of a series are longer than a datagram".to_owned());
        }
        match datagrams.last_mut() {
            Some(last) if last.len() + line.len() <= DATAGRAM_MAX => last.push_str(line),
            _ => datagrams.push(line.clone()),
        }
    }
    Ok(datagrams)
}

/// A file that is emptied by the first write, so that a command that fails before the run leaves
/// it as it was.
pub(crate) struct ReplacedFile {
    file: File,
    is_fresh: bool,
}

impl ReplacedFile {
    pub(crate) const fn new(file: File) -> Self {
        Self { file, is_fresh: true }
    }
}

impl Write for ReplacedFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if std::mem::replace(&mut self.is_fresh, false) {
            // Pipes and devices cannot be emptied and need not be.
            let _ = self.file.set_len(0);
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Writes JSON lines to a file or to stdout.
pub(crate) struct FileSink {
    pub(crate) writer: Box<dyn Write + Send>,
    /// The last line may be incomplete, because writing failed.
    pub(crate) is_broken: bool,
}

impl Sink for FileSink {
    fn send(&mut self, snapshot: &Snapshot) -> Result<(), String> {
        let text = encode_json_lines(snapshot);
        let end = if std::mem::replace(&mut self.is_broken, true) { "\n" } else { "" };
        let written = self.writer.write_all(end.as_bytes());
        let written = written.and_then(|()| self.writer.write_all(text.as_bytes()));
        written.and_then(|()| self.writer.flush()).map_err(|error| error.to_string())?;
        self.is_broken = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_packed_up_to_the_limit() {
        let lines = |lengths: &[usize]| -> Vec<String> {
            lengths.iter().map(|&length| format!("{}\n", "x".repeat(length - 1))).collect()
        };
        let check = |lengths: &[usize], packed: &[usize]| {
            let found = pack(&lines(lengths)).map(|all| all.iter().map(String::len).collect::<Vec<_>>());
            assert_eq!(found.as_deref(), Ok(packed));
        };
        check(&[], &[]);
        check(&[1000, 432], &[1432]);
        check(&[1000, 433, 10], &[1000, 443]);
        check(&[1432, 1], &[1432, 1]);
        assert!(pack(&lines(&[10, 1433])).is_err());
    }
}
