//! What a plain run and a file are both checked for, told to who wrote a file: its keys in place of options.

use wavetank_plan::UserError;

/// Options in the messages of `wavetank_plan::resolve`, and what a file says instead. Longer ones stand first.
const KEYS: [(&str, &str); 8] = [
    ("--source auto, or 127.0.0.0/8", "sources: auto, or sources: [127.0.0.0/8]"),
    ("--source auto", "sources: auto"),
    ("--source CIDR", "sources: [CIDR]"),
    ("--source", "sources"),
    ("--ip 4", "http: {ip: 4}"),
    ("--ip 6", "http: {ip: 6}"),
    ("--connect-to", "http.connect_to"),
    ("--cacert ca.pem", "tls: {ca: ca.pem}"),
];

/// The error with keys in it. Options that no key stands for (`--threads`, `--engine`) stay: they are given beside a file
/// too.
pub(super) fn in_keys(error: UserError) -> UserError {
    let read = |text: String| KEYS.iter().fold(text, |text, (option, key)| text.replace(option, key));
    UserError { message: read(error.message), hint: read(error.hint), ..error }
}
