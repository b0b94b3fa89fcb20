//! The grammar of the case tables of both directions, and the ways to cut bytes.

use wavetank_wire::h1::Limits;

/// One line of a table.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) options: Vec<(String, String)>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) expected: String,
}

impl Case {
    /// The limits that its options set, the others being the default.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for (name, value) in &self.options {
            let number =
                || value.parse::<usize>().unwrap_or_else(|_| panic!("{}: {name}={value}", self.name));
            match name.as_str() {
                "head_max" => limits.head_bytes_max = number(),
                "fields_max" => limits.headers_max = number(),
                "body_max" => limits.body_bytes_max = number() as u64,
                "interim_max" => limits.interim_max = number() as u32,
                "extension_max" => limits.chunk_extension_bytes_max = number(),
                "trailer_max" => limits.trailer_bytes_max = number(),
                "head" | "answers" | "show" => {}
                _ => panic!("{}: no option is called {name}", self.name),
            }
        }
        limits
    }

    /// The value of an option, if it is given.
    pub(crate) fn option(&self, wanted: &str) -> Option<&str> {
        self.options.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }
}

/// All cases of a table; fails if two have one name.
pub(crate) fn table(text: &str) -> Vec<Case> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let cases: Vec<Case> = lines.map(case).collect();
    let mut names: Vec<_> = cases.iter().map(|case| &case.name).collect();
    names.sort();
    names.windows(2).for_each(|pair| assert_ne!(pair[0], pair[1], "two cases of one name"));
    cases
}

fn case(line: &str) -> Case {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let [name, options, bytes, expected] = parts[..] else { panic!("not four parts: {line}") };
    let options = options.split(',').map(str::trim).filter(|option| !option.is_empty());
    let pair = |option: &str| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        (name.to_owned(), value.to_owned())
    };
    Case {
        name: name.to_owned(),
        options: options.map(pair).collect(),
        bytes: unescape(bytes),
        expected: expected.to_owned(),
    }
}

/// Reads every case of a table in every way and fails with a list of all failed cases.
pub(crate) fn check(cases: &[Case], cases_min: usize, read: impl Fn(&Case, &[&[u8]]) -> String) {
    let mut wrong = Vec::new();
    let mut readings = 0;
    for case in cases {
        let cuts = cuts(&case.bytes);
        readings += cuts.len();
        // The first cut that fails describes a case sufficiently.
        let said = cuts.iter().map(|pieces| (pieces, read(case, pieces)));
        if let Some((pieces, said)) = said.into_iter().find(|(_, said)| *said != case.expected) {
            let lengths: Vec<usize> = pieces.iter().map(|piece| piece.len()).collect();
            wrong.push(format!(
                "{}\n  said     {said}\n  expected {}\n  in {lengths:?}",
                case.name, case.expected
            ));
        }
    }
    println!("{} cases, {readings} readings", cases.len());
    assert!(wrong.is_empty(), "{} cases failed:\n{}", wrong.len(), wrong.join("\n"));
    assert!(cases.len() >= cases_min, "the table has lost cases: {} are left", cases.len());
}

/// Whole, byte by byte, in pieces of seven and eleven bytes, and in two at every place.
fn cuts(bytes: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut cuts = vec![vec![bytes]];
    cuts.extend([1, 7, 11].map(|length| bytes.chunks(length).collect()));
    cuts.extend((1..bytes.len()).map(|at| vec![&bytes[..at], &bytes[at..]]));
    cuts
}

/// Returns bytes in the notation of the tables.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let one = |&byte: &u8| match byte {
        0 => "\\0".to_owned(),
        b'"' | b'\'' => char::from(byte).to_string(),
        _ => byte.escape_ascii().to_string(),
    };
    bytes.iter().map(one).collect()
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b'r') => b'\r',
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'0') => 0,
            Some(b'\\') => b'\\',
            Some(b'x') => {
                let digits = [rest.next(), rest.next()].map(|digit| digit.expect("two digits after \\x"));
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).expect("hexadecimal digits")
            }
            other => panic!("no escape: {other:?} in {text}"),
        });
    }
    bytes
}
