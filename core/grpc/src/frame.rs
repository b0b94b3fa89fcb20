//! Frames: a flag, the length, and a message.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::MessageError;

/// Bytes before each message: a flag for compression, and the length in 32 bits.
const PREFIX_BYTES: usize = 5;
/// The most bytes of all messages of a body after decompression. Some kilobytes can decode to
/// gigabytes.
const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// Appends a frame. `write` appends its message. With `gzip` it is compressed.
///
/// # Errors
/// That of `write`.
pub fn push<E>(
    out: &mut Vec<u8>,
    gzip: bool,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let at = out.len();
    out.extend_from_slice(&[u8::from(gzip), 0, 0, 0, 0]);
    write(out)?;
    if gzip {
        let plain = out.split_off(at + PREFIX_BYTES);
        let mut encoder = GzEncoder::new(std::mem::take(out), Compression::fast());
        encoder.write_all(&plain).expect("a buffer takes all bytes");
        *out = encoder.finish().expect("a buffer takes all bytes");
    }
    let length = u32::try_from(out.len() - at - PREFIX_BYTES).expect("a message is shorter than 4 GiB");
    out[at + 1..at + PREFIX_BYTES].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Calls `each` with the message of every frame of `body`, decompressed. Returns their number.
///
/// # Errors
/// If the body has no whole frames, and those of `each`.
pub fn read(
    mut body: &[u8],
    mut each: impl FnMut(&[u8]) -> Result<(), MessageError>,
) -> Result<usize, MessageError> {
    let (mut count, mut left) = (0, MESSAGE_BYTES_MAX);
    while !body.is_empty() {
        let (prefix, rest) = body.split_first_chunk::<PREFIX_BYTES>().ok_or(MessageError::Frame)?;
        let [flag, length @ ..] = *prefix;
        let length = u32::from_be_bytes(length) as usize;
        let (message, rest) = rest.split_at_checked(length).ok_or(MessageError::Frame)?;
        match flag {
            0 => each(message)?,
            1 => {
                let plain = decompress(message, left)?;
                left -= plain.len();
                each(&plain)?;
            }
            _ => return Err(MessageError::Frame),
        }
        count += 1;
        body = rest;
    }
    Ok(count)
}

/// Returns the message, which may have this many bytes.
fn decompress(message: &[u8], bytes_max: usize) -> Result<Vec<u8>, MessageError> {
    let mut plain = Vec::new();
    let mut decoder = GzDecoder::new(message).take(bytes_max as u64 + 1);
    decoder.read_to_end(&mut plain).map_err(|_| MessageError::Compression)?;
    if plain.len() > bytes_max { Err(MessageError::TooLarge) } else { Ok(plain) }
}
