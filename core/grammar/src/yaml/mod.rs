//! Text to [`Node`]: the only module that uses serde-saphyr.
//!
//! It uses the parser below serde-saphyr (`granit_parser`, which that crate re-exports) and not its
//! deserializer. `Spanned<T>` gives the places of values but not of keys. It also drops quotes,
//! without which `"12"` and `12` in a JSON body are the same. Anchors and aliases are followed
//! within a budget of nodes. Depth, nodes and bytes are bounded before anything is built from them.

mod builder;
mod errors;

use serde_saphyr::granit_parser::{self, Parser, options};
use wavetank_units::Code;

use crate::{Diagnostic, ErrorHints, Node, Span};
use builder::Builder;

/// Longest file that is read.
const FILE_BYTES_MAX: usize = 8 << 20;
/// Deepest nesting of maps and lists.
const DEPTH_MAX: usize = 64;
/// Most values of one file, long texts for several, those that aliases repeat included.
const NODES_MAX: usize = 500_000;

/// Returns the text of a file without a leading byte-order mark. Fails on files that are too long
/// or not UTF-8.
pub fn text_of<'b>(bytes: &'b [u8], advice: &ErrorHints) -> Result<&'b str, Diagnostic> {
    if bytes.len() > FILE_BYTES_MAX {
        let (megabytes, a_file) = (bytes.len() / 1_000_000, advice.a_file);
        let message = format!("the file has {megabytes} MB; {a_file} has at most 8 MiB");
        return Err(Diagnostic::without_span(Code::FileTooLong, message, advice.long));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        let hint = "save it as UTF-8";
        return Err(Diagnostic::without_span(Code::NotUtf8, "the file is UTF-16", hint));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
        let message = format!("the file is not UTF-8: line {line} has other bytes");
        Diagnostic::without_span(
            Code::NotUtf8,
            message,
            "save it as UTF-8, or write the text in escapes: \"\\xE4\"",
        )
    })
}

/// The tree of `text`, and what is wrong with it. Without a tree there is at least one error.
pub fn parse(text: &str, advice: &ErrorHints) -> (Option<Node>, Vec<Diagnostic>) {
    let options = options! {
        disallow_directives: true,
        emit_comments: false,
        flow_nesting_limit: DEPTH_MAX,
        block_nesting_limit: DEPTH_MAX,
    };
    let mut builder = Builder::new(text, advice);
    for event in Parser::new_from_str_with_options(text, options) {
        let step = match event {
            Ok((event, span)) => builder.take(event, place(span)),
            Err(error) => Err(errors::scan_error(&error, text, advice)),
        };
        if let Err(diagnostic) = step {
            let mut all = builder.into_diagnostics();
            all.push(diagnostic);
            return (None, all);
        }
    }
    builder.finish()
}

/// The parser's columns begin at 0.
fn place(span: granit_parser::Span) -> Span {
    let start = span.start.byte_offset().unwrap_or_default();
    let end = span.end.byte_offset().unwrap_or(start).max(start);
    Span { line: span.start.line(), column: span.start.col() + 1, start, end }
}
