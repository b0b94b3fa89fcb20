//! Bodies and addresses: escapes text into a buffer, and writes `multipart/form-data`.
//!
//! Every function appends to the caller's buffer and allocates nothing itself. A template with a
//! fixed shape therefore costs no allocation after its buffer has grown. No function can fail,
//! because every byte has an escape.

mod escape;
mod multipart;

pub use escape::{address_text, form_text, header_text, json_text, path_text, query_text, xml_text};
pub use multipart::Multipart;
