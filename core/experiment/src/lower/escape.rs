//! Appends text with the escape of its position.

use wavetank_journey::body::{form_text, json_text, xml_text};
use wavetank_plan::{self as plan, Escape};

/// Appends fixed text with the escape of its position. A path is sent as the user wrote it.
pub(super) fn push_text(text: &[u8], escape: Escape, out: &mut plan::Template) {
    let mut escaped = Vec::new();
    match escape {
        Escape::Plain | Escape::Path | Escape::Address | Escape::Header => return out.push_fixed(text),
        Escape::JsonText | Escape::JsonValue => json_text(&mut escaped, text),
        Escape::Xml => xml_text(&mut escaped, text),
        Escape::Form => form_text(&mut escaped, text),
    }
    out.push_fixed(&escaped);
}
