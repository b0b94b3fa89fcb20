//! Escapes text into a buffer, for the five places of a template.

/// Upper-case hexadecimal digits, as RFC 3986 §2.1 recommends.
const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Appends a name or value of `application/x-www-form-urlencoded`. A space becomes `+`; everything
/// except letters, digits and `*-._` becomes `%XX` (URL Standard §5.2). It also fits a name or
/// value of a query that a form would make.
pub fn form_text(out: &mut Vec<u8>, text: &[u8]) {
    percent(out, text, |byte| matches!(byte, b'*' | b'-' | b'.' | b'_'), true);
}

/// Appends a name or value in the query of an address. Everything except the unreserved characters
/// of RFC 3986 §2.3 becomes `%XX`, including spaces.
pub fn query_text(out: &mut Vec<u8>, text: &[u8]) {
    percent(out, text, is_unreserved_mark, false);
}

/// Appends text within one segment of a path. It works like [`query_text`], but keeps the
/// characters that RFC 3986 §3.3 allows in a segment. A `/` is escaped, so text from data cannot
/// leave its segment. Escaping cannot protect a whole segment `.` or `..`, because receivers treat
/// `%2E` as a dot.
pub fn path_text(out: &mut Vec<u8>, text: &[u8]) {
    let stays = |byte| {
        let delimiter = matches!(
            byte,
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b':' | b'@'
        );
        delimiter || is_unreserved_mark(byte)
    };
    percent(out, text, stays, false);
}

/// Appends the path and query of an address from another source, such as a link in a page. Its
/// delimiters and existing escapes stay, and a fragment is left out. Only characters that a request
/// line cannot contain are escaped.
pub fn address_text(out: &mut Vec<u8>, text: &[u8]) {
    let sent = text.split(|&byte| byte == b'#').next().unwrap_or_default();
    percent(out, sent, |byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>'), false);
}

/// Appends text or the value of an attribute of XML. Markup becomes entities. White space other
/// than blanks becomes references, so that attributes keep it (XML 1.0 §2.4, §3.3.3). Characters
/// that XML forbids (§2.2) and bytes that are not UTF-8 become U+FFFD.
pub fn xml_text(out: &mut Vec<u8>, text: &[u8]) {
    for chunk in text.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '&' => out.extend_from_slice(b"&amp;"),
                '<' => out.extend_from_slice(b"&lt;"),
                '>' => out.extend_from_slice(b"&gt;"),
                '"' => out.extend_from_slice(b"&quot;"),
                '\'' => out.extend_from_slice(b"&apos;"),
                '\t' => out.extend_from_slice(b"&#9;"),
                '\n' => out.extend_from_slice(b"&#10;"),
                '\r' => out.extend_from_slice(b"&#13;"),
                '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.extend_from_slice("\u{fffd}".as_bytes()),
                letter => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}

/// Appends the inside of a JSON string, without its quotes (RFC 8259 §7). Bytes that are not UTF-8
/// become U+FFFD.
pub fn json_text(out: &mut Vec<u8>, text: &[u8]) {
    for chunk in text.utf8_chunks() {
        let bytes = chunk.valid().as_bytes();
        let mut clean_from = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            let short = match byte {
                b'"' => b'"',
                b'\\' => b'\\',
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                0x00..=0x1f => 0,
                _ => continue,
            };
            out.extend_from_slice(&bytes[clean_from..at]);
            clean_from = at + 1;
            if short == 0 {
                out.extend_from_slice(b"\\u00");
                out.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            } else {
                out.extend([b'\\', short]);
            }
        }
        out.extend_from_slice(&bytes[clean_from..]);
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}

/// Appends the value of a header field. Control characters, especially line ends, become spaces, so
/// that text from data cannot add a header (RFC 9110 §5.5).
pub fn header_text(out: &mut Vec<u8>, text: &[u8]) {
    let safe = |byte: &u8| if matches!(byte, 0x00..=0x08 | 0x0a..=0x1f | 0x7f) { b' ' } else { *byte };
    out.extend(text.iter().map(safe));
}

fn is_unreserved_mark(byte: u8) -> bool {
    matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn percent(out: &mut Vec<u8>, text: &[u8], stays: impl Fn(u8) -> bool, plus_for_space: bool) {
    for &byte in text {
        if byte.is_ascii_alphanumeric() || stays(byte) {
            out.push(byte);
        } else if plus_for_space && byte == b' ' {
            out.push(b'+');
        } else {
            out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Escape = fn(&mut Vec<u8>, &[u8]);

    fn escaped(escape: Escape, text: &[u8]) -> String {
        let mut out = Vec::new();
        escape(&mut out, text);
        String::from_utf8(out).expect("escaped text is text")
    }

    fn check(escape: Escape, cases: &[(&[u8], &str)]) {
        for (text, expected) in cases {
            assert_eq!(escaped(escape, text), *expected, "{:?}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn forms_and_addresses_are_percent_encoded() {
        check(
            form_text,
            &[(b"", ""), (b"a b&c=d", "a+b%26c%3Dd"), (b"*-._~", "*-._%7E"), (b"\xff\n", "%FF%0A")],
        );
        check(query_text, &[(b"a b+c", "a%20b%2Bc"), (b"-._~", "-._~"), ("ä/?".as_bytes(), "%C3%A4%2F%3F")]);
        let link: &[u8] = b"/a/b%20c?d=e&f=[1]";
        check(address_text, &[(link, "/a/b%20c?d=e&f=[1]"), (b"/a b#c", "/a%20b")]);
        check(address_text, &[(b"/\r\nX: 1\"", "/%0D%0AX:%201%22")]);
        check(path_text, &[(b"a b/c", "a%20b%2Fc"), (b"x:y@z;v=1,2", "x:y@z;v=1,2"), (b"?#%", "%3F%23%25")]);
    }

    #[test]
    fn headers_cannot_be_split_by_data() {
        check(header_text, &[(b"a\r\nX: y", "a  X: y"), (b"tab\tstays", "tab\tstays"), (b"\0\x7f", "  ")]);
    }

    #[test]
    fn values_cannot_add_markup_to_xml() {
        check(
            xml_text,
            &[
                (b"", ""),
                (b"a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&apos;"),
                (b"1\t2\n3\r", "1&#9;2&#10;3&#13;"),
                ("ä€😀".as_bytes(), "ä€😀"),
                (b"\0\x1b\xffz", "\u{fffd}\u{fffd}\u{fffd}z"),
                ("\u{fffe}".as_bytes(), "\u{fffd}"),
                (b"]]>", "]]&gt;"),
            ],
        );
    }

    #[test]
    fn json_is_escaped_as_little_as_it_may_be() {
        check(
            json_text,
            &[
                (b"plain / text", "plain / text"),
                (b"say \"hi\"\\", "say \\\"hi\\\"\\\\"),
                (b"\n\r\t\x08\x1f", "\\n\\r\\t\\u0008\\u001F"),
                ("ä\u{2028}😀".as_bytes(), "ä\u{2028}😀"),
                (b"a\xffb", "a\u{fffd}b"),
            ],
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_comes_back(text: String, bytes: Vec<u8>) {
            let json = format!("\"{}\"", escaped(json_text, text.as_bytes()));
            proptest::prop_assert_eq!(serde_json::from_str::<String>(&json).expect("is JSON"), text);
            let json = format!("\"{}\"", escaped(json_text, &bytes));
            proptest::prop_assert!(serde_json::from_str::<String>(&json).is_ok());
            let pairs = format!("k={}", escaped(form_text, &bytes));
            let read = url::form_urlencoded::parse(pairs.as_bytes()).next().expect("one pair").1.into_owned();
            proptest::prop_assert_eq!(read, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}
