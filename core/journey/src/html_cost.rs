//! Whether a page can be parsed in reasonable time. This is checked before every parse.

/// A page longer than this is not parsed.
pub(crate) const PAGE_BYTES_MAX: usize = 8 << 20;
/// Maximum nesting depth of elements, estimated. It is the limit of browsers.
const DEPTH_MAX: usize = 512;
/// Maximum number of comparisons of attribute names over the whole page.
const COMPARISONS_MAX: usize = 500_000_000;

/// Elements that need no end tag: they end each other and do not make a page deeper.
const OPEN_ENDED: [&[u8]; 30] = [
    b"area",
    b"base",
    b"body",
    b"br",
    b"col",
    b"colgroup",
    b"dd",
    b"dt",
    b"embed",
    b"head",
    b"hr",
    b"html",
    b"img",
    b"input",
    b"li",
    b"link",
    b"meta",
    b"optgroup",
    b"option",
    b"p",
    b"param",
    b"rp",
    b"rt",
    b"source",
    b"tbody",
    b"td",
    b"th",
    b"tr",
    b"track",
    b"wbr",
];

/// Whether parsing would take disproportionate time. For each tag the parser searches the open
/// elements, and for each attribute the ones before it. Some megabytes of `<div>` or of attributes
/// would therefore take minutes.
pub(crate) fn is_too_costly_to_parse(page: &[u8]) -> bool {
    let (mut depth, mut comparisons) = (0_usize, 0_usize);
    for at in memchr::memchr_iter(b'<', page) {
        let rest = &page[at + 1..];
        let (name, closes) = rest.strip_prefix(b"/").map_or((rest, false), |name| (name, true));
        if !name.first().is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let attributes = attributes(name);
        comparisons = comparisons.saturating_add(attributes * attributes / 2);
        let end = name.iter().take(10).position(|byte| !byte.is_ascii_alphanumeric());
        let name = &name[..end.unwrap_or(name.len().min(10))];
        if !OPEN_ENDED.iter().any(|known| name.eq_ignore_ascii_case(known)) {
            depth = if closes { depth.saturating_sub(1) } else { depth + 1 };
        }
        if depth > DEPTH_MAX || comparisons > COMPARISONS_MAX {
            return true;
        }
    }
    false
}

/// Returns an upper limit for the number of attributes of the tag that starts here. Quoted values
/// are skipped, because data in addresses is long and would look like many attributes.
fn attributes(tag: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some(byte) = tag.get(at) {
        at += 1;
        match byte {
            b'>' | b'<' => break,
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b'/' => count += 1,
            b'=' => {
                let value = tag[at..].trim_ascii_start();
                if let [quote @ (b'"' | b'\''), inside @ ..] = value {
                    let Some(end) = memchr::memchr(*quote, inside) else { break };
                    at = tag.len() - inside.len() + end + 1;
                    count += 1;
                }
            }
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_out_of_proportion_are_seen() {
        let check = |page: &str, times: usize, expected| {
            assert_eq!(
                is_too_costly_to_parse(page.repeat(times).as_bytes()),
                expected,
                "{times} times {page:.60}"
            );
        };
        check("<div>", 512, false);
        check("<div>", 513, true);
        check("<DIV></div><br><li><p>", 100_000, false);
        check("<p>a < b <!-- <div> </p>", 500, false);
        check("<img alt='a b c' src=\"x/y/z\" id=i>", 100_000, false);
        check(&format!("<img {}>", "a/".repeat(40_000)), 1, true);
        check(&format!("<img {}>", "a ".repeat(4_000)), 10, false);
        check(&format!("<img {}>", "a ".repeat(4_000)), 100, true);
        check(&format!("<img {}>", "a=''".repeat(40_000)), 1, true);
        check(&format!("<img src='data:{}'>", "ab/".repeat(400_000)), 1, false);
        check("", 1, false);
    }
}
