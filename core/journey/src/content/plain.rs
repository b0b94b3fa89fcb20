//! [`decode_body`]: returns the body of a response without its content coding.

use super::coding::Coding;
use super::decoder::Decoder;
use super::fault::ContentFault;
use crate::extract::ResponseView;
use crate::follow_up_error::FollowUpError;

/// Maximum length of a decoded body. Some kilobytes can decode to gigabytes.
pub const PLAIN_BYTES_MAX: usize = 16 << 20;

/// Maximum number of content codings of one body. Each may multiply the work by a thousand.
const CODINGS_MAX: usize = 5;

/// Returns the body of `answer` without its content codings. A decoded body is stored in `buffer`.
///
/// # Errors
/// If a coding is unknown, the body is invalid in it, or the decoded body is longer than
/// [`PLAIN_BYTES_MAX`].
pub fn decode_body<'a>(
    answer: &ResponseView<'a>,
    buffer: &'a mut Vec<u8>,
) -> Result<&'a [u8], FollowUpError> {
    if answer.body.is_empty() {
        return Ok(answer.body);
    }
    let mut codings = Vec::new();
    for header in answer.headers("content-encoding") {
        let unknown = || FollowUpError::UnknownCoding(String::from_utf8_lossy(header).into_owned());
        codings.append(&mut Coding::from_header(header).ok_or_else(unknown)?);
        if codings.len() > CODINGS_MAX {
            return Err(unknown());
        }
    }
    // The coding that was applied last is removed first.
    let Some(last) = codings.pop() else { return Ok(answer.body) };
    buffer.clear();
    decode(last, answer.body, buffer)?;
    for coding in codings.into_iter().rev() {
        let coded = std::mem::take(buffer);
        decode(coding, &coded, buffer)?;
    }
    Ok(buffer)
}

fn decode(coding: Coding, body: &[u8], out: &mut Vec<u8>) -> Result<(), FollowUpError> {
    let mut decoder = Decoder::new(coding, PLAIN_BYTES_MAX);
    decoder.feed(body, out).and_then(|()| decoder.finish(out)).map_err(|fault| match fault {
        ContentFault::Broken if !coding.may_begin(body) => {
            FollowUpError::Content(coding, ContentFault::NotCoded)
        }
        fault => FollowUpError::Content(coding, fault),
    })
}
