//! Values that several commands take: their parsers and defaults.

use std::path::PathBuf;

use wavetank_plan::{Close, EngineChoice, TlsVersions};
use wavetank_units::quantity::parse_count_positive;
use wavetank_units::{Code, UserError};

use super::choice::Choice;

/// `--seed`, if it is not given.
pub(super) const SEED: u64 = 1;

/// `--engine`.
pub(super) const ENGINES: Choice<EngineChoice> = Choice::new(&[
    ("auto", EngineChoice::Auto),
    ("epoll", EngineChoice::Epoll),
    ("uring", EngineChoice::Uring),
])
.later(&["xdp", "af_xdp"])
.or(|text| (text == "io_uring").then_some(Ok(EngineChoice::Uring)));

/// `--close`.
pub(super) const CLOSES: Choice<Close> = Choice::new(&[("fin", Close::Fin), ("rst", Close::Rst)]);

/// `--tls` and `--tls-versions`: a single version.
pub(super) const TLS_VERSIONS: Choice<TlsVersions> =
    Choice::new(&[("1.3", TlsVersions::Tls13), ("1.2", TlsVersions::Tls12)]).or(other_tls_version);

/// Servers and other clients write a prefix.
fn other_tls_version(text: &str) -> Option<Result<TlsVersions, UserError>> {
    match text.trim_start_matches("TLSv").trim_start_matches("tlsv") {
        "1.3" => Some(Ok(TlsVersions::Tls13)),
        "1.2" => Some(Ok(TlsVersions::Tls12)),
        "1" | "1.0" | "1.1" => {
            let message = format!("`{text}` is insecure and not supported");
            Some(Err(UserError::usage(Code::ValueUnknown, message, "1.2 or 1.3; both when left out")))
        }
        _ => None,
    }
}

/// Returns the default directory of archives: that of the environment, or `runs` in the current
/// directory.
pub(crate) fn default_runs_dir() -> PathBuf {
    std::env::var_os("WAVETANK_RUNS").filter(|dir| !dir.is_empty()).unwrap_or_else(|| "runs".into()).into()
}

/// Parses a count above zero that fits 32 bits.
pub(super) fn parse_u32(text: &str) -> Result<u32, UserError> {
    let count = parse_count_positive(text)?;
    u32::try_from(count).map_err(|_| {
        UserError::usage(Code::Overflow, format!("`{text}` is out of range"), "use a smaller number")
    })
}

/// Parses `--seed`.
pub(super) fn parse_seed(text: &str) -> Result<u64, UserError> {
    text.parse().map_err(|_| {
        let hint = "a whole number from 0 to 18446744073709551615, for example --seed 7";
        if text.starts_with('-') {
            return UserError::usage(Code::Negative, format!("`{text}` is negative"), hint);
        }
        UserError::usage(Code::NotANumber, format!("`{text}` is not a seed"), hint)
    })
}

/// Parses the name of a run; `example` is a valid command.
pub(super) fn parse_run(text: &str, example: &str) -> Result<String, UserError> {
    if text.is_empty() {
        return Err(UserError::usage(Code::NoRun, "the run's name is empty", example));
    }
    Ok(text.to_owned())
}

/// Parses `--tag KEY=VALUE`.
pub(super) fn parse_tag(text: &str) -> Result<(String, String), UserError> {
    parse_pair(text).ok_or_else(|| {
        let message = format!("`{}` has no key and value", wavetank_units::sanitize(text));
        UserError::usage(Code::BadTag, message, "--tag build=1234")
    })
}

/// Splits `NAME=VALUE`; `None` without a name.
pub(super) fn parse_pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.trim().is_empty())?;
    Some((name.trim().to_owned(), value.to_owned()))
}

/// Names in one argument. The alias keeps clap from reading them as a repeatable option.
pub(super) type NameList = Vec<String>;

/// Parses names joined by commas.
pub(super) fn parse_names(text: &str) -> Result<NameList, UserError> {
    split_names(text, &[','])
}

/// Parses names joined by commas or, as curl, nginx and OpenSSL join groups and ciphers, by colons,
/// which no name contains.
pub(super) fn parse_tls_names(text: &str) -> Result<NameList, UserError> {
    split_names(text, &[',', ':'])
}

fn split_names(text: &str, joints: &[char]) -> Result<NameList, UserError> {
    let names: NameList = text.split(joints).map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        let message = format!("`{text}`: a name is empty");
        return Err(UserError::usage(Code::ValueMissing, message, "names joined by commas"));
    }
    let twice = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
    if let Some((_, name)) = twice {
        return Err(UserError::usage(Code::Conflict, format!("names {name} twice"), "give it once"));
    }
    Ok(names)
}
