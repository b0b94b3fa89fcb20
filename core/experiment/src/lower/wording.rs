//! Rewords errors that URL runs and files share: keys of the file replace options.

use wavetank_units::UserError;

/// Options in messages of `wavetank_plan::resolve`, and the equivalent in a file. Longer ones come
/// first.
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

/// Returns the error with keys in it. Options without a key (`--threads`, `--engine`) stay: they
/// are also given with a file.
pub(super) fn in_keys(error: UserError) -> UserError {
    let read = |text: String| KEYS.iter().fold(text, |text, (option, key)| text.replace(option, key));
    UserError { message: read(error.message), hint: read(error.hint), ..error }
}
