//! Files that options name.

use wavetank_plan::Secret;

use super::{error, run};

/// Writes `text` to a file, calls `read` with `line`, where the path replaces `FILE`, and removes
/// the file.
pub(super) fn with_file<T>(name: &str, text: &[u8], line: &str, read: impl Fn(&str) -> T) -> T {
    let path = std::env::temp_dir().join(format!("wavetank-cli-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let result = read(&line.replace("FILE", &path.to_string_lossy()));
    std::fs::remove_file(&path).unwrap();
    result
}

#[test]
fn headers_come_one_a_line() {
    let text = b"Accept: */*\r\n\nCookie: a=b; c=d\nX-Time: 10:30\n";
    let args = with_file("headers", text, "localhost -H 'A: 1' -H @FILE -H 'Z: 2'", run);
    let names: Vec<(&str, &str)> =
        args.options.headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
    assert_eq!(
        names,
        [("A", "1"), ("Accept", "*/*"), ("Cookie", "a=b; c=d"), ("X-Time", "10:30"), ("Z", "2")]
    );
}

#[test]
fn bodies_are_bytes() {
    let args = with_file("body", b"\x00\xff\n", "localhost --body-file FILE", run);
    assert_eq!(args.options.body.as_deref(), Some(&b"\x00\xff\n"[..]));
    let args = with_file("body-at", b"x", "localhost --body-file @FILE", run);
    assert_eq!(args.options.body.as_deref(), Some(&b"x"[..]), "curl's @ is understood");
}

#[test]
fn credentials_lose_their_line_end() {
    let args = with_file("basic", b"me:hunter2\r\n", "localhost --basic @FILE", run);
    assert_eq!(args.options.basic, Some(Secret::new("me:hunter2")));
    assert!(args.command.contains('@') && !args.command.contains("hunter2"), "{}", args.command);
}

#[test]
fn wrong_files_are_reported() {
    let wrong = with_file("binary", b"A: \xff\xfe\n", "localhost -H @FILE", error);
    assert!(wrong.message.contains("UTF-8"), "{wrong}");
    let wrong = with_file("no-colon", b"A: 1\ntoken-of-mine\n", "localhost -H @FILE", error);
    assert_eq!(wrong.code, "bad_header");
    assert!(!wrong.to_string().contains("token-of-mine"), "{wrong}");
    let wrong = with_file("large", &vec![b'x'; 300 << 10], "localhost --basic @FILE", error);
    assert!(wrong.message.contains("larger than"), "{wrong}");
}
