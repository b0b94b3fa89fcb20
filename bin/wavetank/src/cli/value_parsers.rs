//! Converts the arguments of `serve` and `demo`, and values that they share with `run`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap_complete::Shell;
use wavetank_plan::quantity::{parse_count_positive, parse_duration, parse_duration_positive};
use wavetank_plan::{EngineChoice, UserError, did_you_mean};

use super::args::{Freeze, ServeArgs};
use super::demo_args::DemoArgs;
use super::parser::{DemoWords, ServeWords};
use super::serve_tls_args::serve_tls;

/// Puts the option before the message of an error in its value.
pub(super) fn with_flag<T>(option: &str, read: Result<T, UserError>) -> Result<T, UserError> {
    read.map_err(|error| UserError { message: format!("{option} {}", error.message), ..error })
}

/// Parses an optional value.
pub(super) fn parse_optional<T>(
    option: &str,
    word: Option<&String>,
    read: impl FnOnce(&str) -> Result<T, UserError>,
) -> Result<Option<T>, UserError> {
    word.map(|word| with_flag(option, read(word))).transpose()
}

/// Parses a count above zero that fits 32 bits.
pub(super) fn parse_u32(text: &str) -> Result<u32, UserError> {
    let count = parse_count_positive(text)?;
    u32::try_from(count).map_err(|_| {
        UserError::usage("overflow", format!("`{text}` is out of range"), "use a smaller number")
    })
}

/// Parses one of a few names. `later` lists names that only later versions support.
pub(super) fn parse_choice<T: Copy>(text: &str, known: &[(&str, T)], later: &[&str]) -> Result<T, UserError> {
    if let Some((_, value)) = known.iter().find(|(word, _)| *word == text) {
        return Ok(*value);
    }
    let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
    if later.contains(&text) {
        let hint = format!("supported: {}", words.join(", "));
        return Err(UserError::usage(
            "value_later",
            format!("`{text}` is not supported in this version"),
            hint,
        ));
    }
    let hint = match did_you_mean(text, words.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => words.join(" or "),
    };
    Err(UserError::usage("value_unknown", format!("`{text}` is not one of {}", words.join(", ")), hint))
}

/// Parses the shell of `completions`.
pub(super) fn shell(text: &str) -> Result<Shell, UserError> {
    with_flag(
        "completions",
        parse_choice(text, &[("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish)], &[]),
    )
}

/// Parses `--engine`.
pub(super) fn engine(text: &str) -> Result<EngineChoice, UserError> {
    let known =
        [("auto", EngineChoice::Auto), ("epoll", EngineChoice::Epoll), ("uring", EngineChoice::Uring)];
    match text {
        "io_uring" => Ok(EngineChoice::Uring),
        _ => parse_choice(text, &known, &["xdp", "af_xdp"]),
    }
}

/// Converts the arguments of `wavetank serve`.
pub(super) fn serve(words: &ServeWords) -> Result<ServeArgs, UserError> {
    let listen = words.listen.split(',').map(|word| listen(word.trim())).collect::<Result<Vec<_>, _>>()?;
    let doubled = listen.iter().enumerate().find(|(index, one)| listen[..*index].contains(one));
    if let Some((_, address)) = doubled {
        let message = format!("--listen {address} is given twice");
        return Err(UserError::usage("conflict", message, "one address for each; --threads adds threads"));
    }
    let length = parse_optional("--freeze", words.freeze.as_ref(), parse_duration_positive)?;
    let start = parse_optional("--freeze-at", words.freeze_at.as_ref(), parse_duration)?;
    let freeze = match (length, start) {
        (Some(length), Some(at)) => Some(Freeze { at, length }),
        (None, None) => None,
        _ => {
            let hint = "--freeze is the duration, --freeze-at the start: --freeze 300ms --freeze-at 5s";
            return Err(UserError::usage("conflict", "--freeze and --freeze-at go together", hint));
        }
    };
    Ok(ServeArgs {
        listen,
        threads: parse_optional("--threads", words.threads.as_ref(), parse_u32)?,
        engine: parse_optional("--engine", words.engine.as_ref(), engine)?.unwrap_or(EngineChoice::Auto),
        connections: parse_optional("--connections", words.connections.as_ref(), parse_count_positive)?,
        any: words.any,
        freeze,
        database: words.database.clone(),
        accounts: words.accounts.clone(),
        tls: serve_tls(&words.tls)?,
    })
}

/// Parses `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `:8080` or `8080`. The last three are
/// loopback.
fn listen(word: &str) -> Result<SocketAddr, UserError> {
    let on_loopback = |port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let port = word.strip_prefix("localhost:").or_else(|| word.strip_prefix(':')).unwrap_or(word);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(on_loopback(port));
    }
    word.parse().map_err(|_| {
        let hint = if word.parse::<IpAddr>().is_ok() {
            format!("add a port: {word}:8080")
        } else {
            "use an address and a port: 127.0.0.1:8080; 0.0.0.0:8080 listens on all interfaces".to_owned()
        };
        UserError::usage("bad_listen", format!("--listen `{word}` is not an address"), hint)
    })
}

/// Converts the arguments of `wavetank demo`.
pub(super) fn demo(words: DemoWords) -> DemoArgs {
    DemoArgs { runs_dir: words.runs_dir }
}
