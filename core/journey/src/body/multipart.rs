//! [`Multipart`]: writes `multipart/form-data` (RFC 7578) part by part.

/// Letters of a boundary. All are allowed unquoted in a `Content-Type`.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Number of letters made from the random numbers, with 5 bits each.
const RANDOM_LETTERS: usize = 24;
/// Prefix of every boundary, which makes it easy to see in a capture.
const PREFIX: &[u8; 8] = b"wavetank";

/// A body with parts between boundaries.
///
/// The boundary is made from 120 random bits. The probability that a part contains it is
/// negligible, so the parts are not searched for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multipart {
    boundary: [u8; PREFIX.len() + RANDOM_LETTERS],
}

impl Multipart {
    /// Creates a body with a boundary made from two random 64-bit numbers.
    pub fn new(random: [u64; 2]) -> Self {
        let mut boundary = [0; PREFIX.len() + RANDOM_LETTERS];
        boundary[..PREFIX.len()].copy_from_slice(PREFIX);
        for (at, letter) in boundary[PREFIX.len()..].iter_mut().enumerate() {
            let bits = random[at / 12] >> (at % 12 * 5);
            *letter = LETTERS[(bits & 31) as usize];
        }
        Self { boundary }
    }

    /// Appends the value of the `Content-Type` header.
    pub fn content_type(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"multipart/form-data; boundary=");
        out.extend_from_slice(&self.boundary);
    }

    /// Starts a part. `name` is the field; `file_name` and `content_type` are given for a file. The
    /// caller then appends the value to `out` as it is and calls [`Self::part_end`].
    pub fn part(
        &self,
        out: &mut Vec<u8>,
        name: &[u8],
        file_name: Option<&[u8]>,
        content_type: Option<&[u8]>,
    ) {
        out.extend_from_slice(b"--");
        out.extend_from_slice(&self.boundary);
        out.extend_from_slice(b"\r\nContent-Disposition: form-data; name=\"");
        quoted(out, name);
        if let Some(file_name) = file_name {
            out.extend_from_slice(b"\"; filename=\"");
            quoted(out, file_name);
        }
        out.extend_from_slice(b"\"");
        if let Some(content_type) = content_type {
            out.extend_from_slice(b"\r\nContent-Type: ");
            super::header_text(out, content_type);
        }
        out.extend_from_slice(b"\r\n\r\n");
    }

    /// Ends a part.
    pub fn part_end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\r\n");
    }

    /// Ends the body.
    pub fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"--");
        out.extend_from_slice(&self.boundary);
        out.extend_from_slice(b"--\r\n");
    }
}

/// Appends a quoted name as browsers do (HTML Standard, "multipart form data"): three characters
/// are escaped.
fn quoted(out: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"%22"),
            b'\r' => out.extend_from_slice(b"%0D"),
            b'\n' => out.extend_from_slice(b"%0A"),
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_of_two_parts_reads_as_rfc_7578_shows_it() {
        let body = Multipart::new([0, u64::MAX]);
        let mut out = Vec::new();
        body.content_type(&mut out);
        let boundary = "wavetankaaaaaaaaaaaa999999999999";
        assert_eq!(out, format!("multipart/form-data; boundary={boundary}").as_bytes());
        out.clear();
        body.part(&mut out, b"user \"x\"\r\n", None, None);
        out.extend_from_slice(b"anna");
        body.part_end(&mut out);
        body.part(&mut out, b"file", Some("ä.txt".as_bytes()), Some(b"text/plain\r\nX: y"));
        out.extend_from_slice(&[0, 255]);
        body.part_end(&mut out);
        body.end(&mut out);
        let mut expected = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"user %22x%22%0D%0A\"\r\n\r\nanna\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"ä.txt\"\r\n\
             Content-Type: text/plain  X: y\r\n\r\n"
        )
        .into_bytes();
        expected.extend_from_slice(&[0, 255]);
        expected.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        assert_eq!(out, expected);
    }

    #[test]
    fn every_random_bit_counts() {
        let all: Vec<_> = (0..60)
            .flat_map(|bit| [[1 << bit, 0], [0, 1 << bit]])
            .chain([[0, 0]])
            .map(Multipart::new)
            .collect();
        for (at, one) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|other| other != one), "{one:?} twice");
        }
    }
}
