//! Bodies and addresses: text escaped into a buffer, and `multipart/form-data` around parts.
//!
//! Everything appends to the caller's buffer and allocates nothing of its own, so that a template of a fixed
//! shape costs no allocation once its buffer has grown. Nothing here can fail: every byte has an escape.

mod escape;
mod multipart;

pub use escape::{address_text, form_text, header_text, json_text, path_text, query_text};
pub use multipart::Multipart;
