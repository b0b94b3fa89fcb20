//! [`decode_body`]: returns the body of a response without its content coding.

use super::coding::Coding;
use super::decoder::{ContentFault, Decoder};
use crate::extract::ResponseView;
use crate::follow_up_error::FollowUpError;

/// Maximum length of a decoded body. Some kilobytes can decode to gigabytes.
pub const PLAIN_BYTES_MAX: usize = 16 << 20;

/// Returns the body of `answer` without its content coding. A decoded body is stored in `buffer`.
///
/// # Errors
/// If the coding is unknown, the body is invalid in it, or the decoded body is longer than
/// [`PLAIN_BYTES_MAX`].
pub fn decode_body<'a>(
    answer: &ResponseView<'a>,
    buffer: &'a mut Vec<u8>,
) -> Result<&'a [u8], FollowUpError> {
    let mut named = answer.headers("content-encoding");
    let Some(coding) = named.next() else { return Ok(answer.body) };
    if answer.body.is_empty() {
        return Ok(answer.body);
    }
    let known = Coding::from_header(coding).filter(|_| named.next().is_none());
    let unknown = || FollowUpError::UnknownCoding(String::from_utf8_lossy(coding).into_owned());
    match known.ok_or_else(unknown)? {
        Coding::Identity => Ok(answer.body),
        coding => {
            buffer.clear();
            decode(coding, answer.body, buffer).map_err(FollowUpError::Content)?;
            Ok(buffer)
        }
    }
}

fn decode(coding: Coding, body: &[u8], out: &mut Vec<u8>) -> Result<(), ContentFault> {
    let mut decoder = Decoder::new(coding, PLAIN_BYTES_MAX);
    decoder.feed(body, out)?;
    decoder.finish(out)
}
