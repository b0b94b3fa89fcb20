//! [`Utf8Check`]: whether text that arrives in pieces is UTF-8.

/// Checks a text in pieces. A character may be cut between two of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Utf8Check {
    /// The start of a character that is not complete.
    start: [u8; 3],
    length: u8,
}

impl Utf8Check {
    /// Checks the next piece. Returns whether the text may still be UTF-8.
    pub(super) fn piece(&mut self, mut bytes: &[u8]) -> bool {
        while self.length > 0 && !bytes.is_empty() {
            let (first, rest) = bytes.split_at(1);
            let mut whole = [0; 4];
            let length = usize::from(self.length);
            whole[..length].copy_from_slice(&self.start[..length]);
            whole[length] = first[0];
            match str::from_utf8(&whole[..=length]) {
                Ok(_) => self.length = 0,
                Err(error) if error.error_len().is_none() => {
                    self.start[length] = first[0];
                    self.length += 1;
                }
                Err(_) => return false,
            }
            bytes = rest;
        }
        match str::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) if error.error_len().is_none() => {
                let left = &bytes[error.valid_up_to()..];
                self.start[..left.len()].copy_from_slice(left);
                self.length = left.len() as u8;
                true
            }
            Err(_) => false,
        }
    }

    /// Ends the text. Returns whether its last character is complete.
    pub(super) fn end(&mut self) -> bool {
        std::mem::take(&mut self.length) == 0
    }
}
