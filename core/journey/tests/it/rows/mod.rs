//! Data files as found in practice: marks, separators, encodings, quotes, missing headers, JSON
//! lines.

use proptest::prelude::*;
use wavetank_journey::data::{RowsConfig, RowsFormat, Table};

fn rows_of(table: &Table) -> Vec<Vec<String>> {
    let cell =
        |row, column| String::from_utf8_lossy(table.cell(row, column).expect("is inside").text).into_owned();
    let columns = table.columns().count();
    let header = table.columns().map(str::to_owned).collect();
    let rows = (0..table.rows()).map(|row| (0..columns).map(|column| cell(row, column)).collect());
    std::iter::once(header).chain(rows).collect()
}

/// Reads bytes; compares header and rows, and the codes of the remarks.
fn check(source: RowsConfig<'_>, bytes: &[u8], expected: &[&[&str]], remarks: &[&str]) {
    let (table, found) = source.read(bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(rows_of(&table), expected, "{:?}", String::from_utf8_lossy(bytes));
    let found: Vec<_> = found.iter().map(|remark| remark.code).collect();
    assert_eq!(found, remarks, "{:?}", String::from_utf8_lossy(bytes));
}

fn check_refused(source: RowsConfig<'_>, bytes: &[u8], code: &str, message: &str, hint: &str) {
    let error = source.read(bytes).expect_err(message);
    assert_eq!(error.code, code, "{error}");
    assert!(error.message.contains(message) && error.hint.contains(hint), "{error}");
}

fn csv() -> RowsConfig<'static> {
    RowsConfig::named("accounts.csv")
}

#[test]
fn csv_is_read_with_its_quotes_and_line_ends() {
    let table: &[&[&str]] = &[&["user", "password"], &["anna", "x"], &["bert", ""]];
    check(csv(), b"user,password\nanna,x\nbert,\n", table, &[]);
    check(csv(), b"user, password\r\nanna,x\r\n\r\nbert,", table, &[]);
    check(csv(), b"a\n\" x,\"\"y\"\"\nz\"\n", &[&["a"], &[" x,\"y\"\nz"]], &[]);
    check(csv(), b"sep=;\r\nuser;password\r\nanna;x\r\nbert;", table, &["separator"]);
    let named = RowsConfig { columns: Some(&["user", "password"]), ..csv() };
    check(named, b"anna,x\nbert,", table, &[]);
    check(named, b"user,password\nanna,x\nbert,", table, &["header_repeated"]);
}

#[test]
fn quotes_that_are_not_closed_or_end_early_are_refused() {
    let check = |text: &str, message: &str, hint: &str| {
        check_refused(csv(), text.as_bytes(), "data_row", message, hint);
    };
    let open = "line 2 of accounts.csv: the quote in column 6 is never closed";
    check("user,note\nanna,\"first\nberta,second\n", open, "close it");
    check("user,note\r\nanna,\"first\r\nberta,\"\"\r\n", open, "close it");
    check("user,note\ranna,\"", open, "close it");
    check("a\n\"b\"x\n", "line 2 of accounts.csv: `x` in column 4 follows a closing quote", "remove");
    check("a,b\n\"b\" ,c\n", "line 2 of accounts.csv: ` ` in column 4", "remove");
    check("a,b\nä,\"ö\"ü\n", "line 2 of accounts.csv: `ü` in column 6", "remove");
    let later = "a,b\n1,\"2\n3,\"4\"\n";
    check(later, "line 3 of accounts.csv: `4` in column 4", "begins in line 2, column 3");
    check("\"a", "line 1 of accounts.csv", "close it");
    let table: &[&[&str]] = &[&["a", "b"], &["5\" pipe", " \"c\""], &["x\"\"y", ""]];
    check_rows(b"a,b\n5\" pipe, \"c\"\nx\"\"y,\"\"", table);
}

fn check_rows(bytes: &[u8], expected: &[&[&str]]) {
    check(csv(), bytes, expected, &[]);
}

#[test]
fn separators_are_guessed_aloud_and_never_silently() {
    let table: &[&[&str]] = &[&["user", "password"], &["anna", "x,y"]];
    let with = |separator| RowsConfig { separator: Some(separator), ..csv() };
    check(with(';'), b"user;password\nanna;x,y\n", table, &[]);
    check(with('|'), b"user|password\nanna|x,y\n", table, &[]);
    check(RowsConfig::named("a.TSV"), b"user\tpassword\nanna\tx,y\n", table, &[]);
    let (_, remarks) = csv().read(b"user;password\nanna;x\n").expect("one column is a table");
    assert_eq!(remarks[0].message, "accounts.csv has one column `user;password`");
    assert_eq!(remarks[0].hint, "set separator: \";\"");
    check_refused(with('"'), b"a\nb", "data_separator", "cannot separate", "tab");
    check_refused(with('→'), b"a\nb", "data_separator", "cannot separate", "tab");
}

#[test]
fn encodings_and_marks_are_understood() {
    let table: &[&[&str]] = &[&["user"], &["Jörg €"]];
    check(csv(), "user\nJörg €\n".as_bytes(), table, &[]);
    check(csv(), "\u{feff}user\nJörg €\n".as_bytes(), table, &["byte_order_mark"]);
    let with = |encoding| RowsConfig { encoding: Some(encoding), ..csv() };
    check(with("windows-1252"), b"user\nJ\xf6rg \x80\n", table, &[]);
    check(with("utf-8"), "\u{feff}user\nJörg €\n".as_bytes(), table, &["byte_order_mark"]);
    check(with("latin1"), b"user\nJ\xf6rg\n", &[&["user"], &["Jörg"]], &[]);
    let wide: Vec<u8> = "user\nJörg €\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(with("utf-16"), &wide, table, &[]);
    check(csv(), &[b"\xff\xfe".as_slice(), &wide].concat(), table, &["byte_order_mark"]);
    check_refused(
        csv(),
        b"user\nanna\nJ\xf6rg\n",
        "data_encoding",
        "line 3 of accounts.csv is not UTF-8",
        "windows-1252",
    );
    check_refused(csv(), b"u\0s\0\xf6\0", "data_encoding", "line 1", "utf-16");
    check_refused(csv(), b"u\0s\0\n\0a\0", "data_encoding", "line 1", "utf-16");
    check_refused(csv(), b"\0u\0s\0\n\0a", "data_encoding", "line 1", "utf-16");
    check_refused(with("utf-16"), b"abc", "data_encoding", "is not UTF-16LE", "encoding");
    check_refused(csv(), b"\x1f\x8b\x08\0abc", "data_encoding", "is a gzip file", "gunzip");
    check_refused(csv(), b"PK\x03\x04abc", "data_encoding", "spreadsheet", "as CSV");
    check_refused(csv(), b"sep=;\na;b\n1\n", "data_row", "line 3", "contains `;`");
    check_refused(csv(), b"a;b\n1,5;2\n", "data_row", "2 values for 1 column", "separator: \";\"");
    check_refused(with("ebcdic"), b"a\nb", "data_encoding", "`ebcdic`", "windows-1252");
    check_refused(with("utf-16"), "\u{feff}a\nb".as_bytes(), "data_encoding", "mark of UTF-8", "leave");
}

#[test]
fn a_missing_header_line_is_noticed() {
    check(
        csv(),
        b"anna@a.org,x\nbert@a.org,y\n",
        &[&["anna@a.org", "x"], &["bert@a.org", "y"]],
        &["header_missing"],
    );
    check(csv(), b"1,x\n2,y\n", &[&["1", "x"], &["2", "y"]], &["header_missing"]);
    check_refused(csv(), b"x,x\ny,y\n", "data_columns", "two columns named `x`", "columns:");
    check_refused(csv(), b"x,,z\n1,2,3\n", "data_columns", "column 2", "columns:");
    check_refused(csv(), b"user,password\n", "data_empty", "no rows", "header line");
    check_refused(csv(), b"", "data_empty", "is empty", "header line");
    check_refused(csv(), b"a,b\n1,2\n1,2,3\n", "data_row", "line 3 of accounts.csv has 3 values", "quotes");
}

#[test]
fn json_lines_keep_the_kinds_of_their_values() {
    let source = RowsConfig::named("a.jsonl");
    let text = b"{\"user\": \"anna\", \"age\": 30, \"tags\": [1, \"x\"]}\n\n{\"age\": 1.5, \"user\": null, \"tags\": true}\n";
    check(
        source,
        text,
        &[&["age", "tags", "user"], &["30", "[1,\"x\"]", "anna"], &["1.5", "true", "null"]],
        &[],
    );
    let (table, _) = source.read(text).expect("is read");
    let kind = |row, column| format!("{:?}", table.cell(row, column).expect("is inside").kind);
    assert_eq!([kind(0, 0), kind(0, 1), kind(0, 2)], ["Number", "Json", "Text"]);
    assert_eq!([kind(1, 1), kind(1, 2)], ["Bool", "Null"]);
    let kept = RowsConfig { columns: Some(&["user"]), ..source };
    check(kept, text, &[&["user"], &["anna"], &["null"]], &[]);
    check(source, b"{\"a\":1}\n{\"a\":2,\"b\":3}", &[&["a"], &["1"], &["2"]], &["keys_ignored"]);
    check_refused(source, b"{\"a\":1}\n{\"b\":2}", "data_row", "line 2 of a.jsonl has no `a`", "keys");
    check_refused(source, b"[1]\n", "data_row", "line 1 of a.jsonl is not a JSON object", "object");
    check_refused(source, b"\n", "data_empty", "is empty", "line");
    check_refused(source, &b"[".repeat(100_000), "data_row", "line 1", "object");
    check_refused(RowsConfig { separator: Some(';'), ..source }, b"{}", "data_separator", "JSON", "leave");
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes: Vec<u8>, text in "[a,;\"\n\r{}:0-9 \u{feff}]{0,40}", at in 0..6_usize) {
        let encoding = [None, Some("utf-8"), Some("utf-16"), Some("latin1"), Some("shift_jis"), Some("iso-2022-kr")][at];
        for format in [RowsFormat::Csv, RowsFormat::JsonLines] {
            for bytes in [bytes.as_slice(), text.as_bytes()] {
                if let Ok((table, _)) = (RowsConfig { format, encoding, ..csv() }).read(bytes) {
                    prop_assert!(table.rows() > 0);
                    let last = table.columns().count() - 1;
                    prop_assert!(table.cell(table.rows() - 1, last).is_some());
                }
            }
        }
    }
}
