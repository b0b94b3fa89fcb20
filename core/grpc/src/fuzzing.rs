//! Fuzz targets as plain functions, for stable Rust and cargo-fuzz alike.

use crate::{Descriptors, Reflection};

/// Reads `data` as the answers of a server to reflection: rounds of one byte for the status, two
/// for the length, and the body.
pub fn reflection(data: &[u8]) {
    let (mut asks, mut rest) = (Reflection::new(), data);
    while let Some((&[status, high, low], bytes)) = rest.split_first_chunk()
        && let Some((path, question)) = asks.next_request()
    {
        assert!(path.starts_with("/grpc.reflection.") && !question.is_empty(), "{path}");
        let (body, behind) = bytes.split_at(usize::from(u16::from_be_bytes([high, low])).min(bytes.len()));
        rest = behind;
        if asks.read_response(u16::from(status), body).is_err() {
            return;
        }
    }
    if let Ok(set) = asks.into_descriptors() {
        // Whatever a server describes is valid or an error.
        let _ = Descriptors::decode(&set);
    }
}
