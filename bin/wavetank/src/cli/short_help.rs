//! [`command`]: the command line with a short help (`-h`) and with examples in the long one.

use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory};

use super::parser::Cli;

/// The options of a load that `-h` shows.
const LOAD: &[&str] = &[
    "connections",
    "rate",
    "duration",
    "requests",
    "stage",
    "once",
    "method",
    "header",
    "body",
    "json",
    "insecure",
    "threshold",
    "format",
    "out",
];

/// Commands with many options: the options that `-h` shows, the others being shown by `--help`.
const SHORT: &[(&str, &[&str])] = &[
    ("run", LOAD),
    ("search", &["of", "from", "to", "max-time", "connections", "duration", "header", "threshold", "out"]),
    ("check", &["set", "target", "scale", "speed", "format"]),
    ("plan", &["set", "target", "scale", "speed", "threads", "format"]),
    ("try", &["scenario", "think", "set", "target", "insecure", "format"]),
    ("serve", &["listen", "any", "connections", "threads", "freeze", "freeze-at", "tls"]),
    ("doctor", &["role", "rate", "connections", "lint", "fix", "yes", "undo", "print", "fleet", "format"]),
    ("net", &["lab", "fleet", "from", "to", "many-to-one", "tests", "streams", "duration", "format", "out"]),
    ("size", &["rate", "connections", "duration", "hold", "service", "answer-bytes", "balancer", "format"]),
];

/// Examples of commands that have none in their own text.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "run",
        "wavetank run localhost:8080/ -c 50 -d 10s
  wavetank run localhost:8080/ -r 2k/s -d 30s --threshold 'p99 < 250ms'
  wavetank run 'localhost:8080/item/${random(1,100)}' --json '{\"id\": \"${uuid()}\"}'
  wavetank run localhost:8080/ --stage 1m:100/s --stage 5m:100/s
  wavetank run --curl request.txt -r 50/s
  wavetank run shop.yaml --scale 1/10",
    ),
    ("search", "wavetank search localhost:8080/ --threshold 'p95 < 20ms' --max-time 5m"),
    ("check", "wavetank check shop.yaml"),
    ("plan", "wavetank plan shop.yaml --scale 1/10"),
    ("schema", "wavetank schema experiment > experiment.schema.json"),
    ("serve", "wavetank serve --any; wavetank run localhost:8080/"),
    ("size", "wavetank size -r 100k/s -c 1M"),
    ("runs", "wavetank runs list; wavetank runs show latest"),
    ("explain", "wavetank explain late lag"),
    ("demo", "wavetank demo"),
    ("calibrate", "wavetank calibrate; wavetank plan shop.yaml"),
    ("lab", "wavetank lab up examples/labs/one-server.yaml; wavetank lab status; wavetank lab down"),
    ("lab check", "wavetank lab check examples/labs/haproxy-http.yaml"),
    ("lab up", "wavetank lab up examples/labs/haproxy-http.yaml; wavetank lab down"),
    ("lab status", "wavetank lab status --format json"),
    ("lab exec", "wavetank lab exec lb1 -- ss -tin"),
    ("lab logs", "wavetank lab logs lb1 haproxy --follow"),
    ("lab down", "wavetank lab down --lab haproxy-http"),
    ("runs list", "wavetank runs list --status fail --tag build=7 -n 10"),
    ("runs show", "wavetank runs show latest"),
    ("runs prune", "wavetank runs prune --keep 20; wavetank runs prune --keep 20 --yes"),
    ("runs pack", "wavetank runs pack latest --out before.wtrun"),
    ("runs unpack", "wavetank runs unpack before.wtrun"),
    ("fleet hosts", "wavetank fleet hosts -w 'load[01-20]' -x load07"),
    ("agent serve", "wavetank agent serve --dir /run/wavetank --name load01 --allow 10.0.0.0/8"),
    ("agent attach", "wavetank agent attach --dir /run/wavetank"),
    ("agent hello", "wavetank agent hello --dir /run/wavetank --wait 5s"),
    ("agent stop", "wavetank agent stop --dir /run/wavetank"),
    ("agent spool list", "wavetank agent spool list --dir /run/wavetank"),
    ("agent spool send", "wavetank agent spool send --dir /run/wavetank --run 3"),
    ("agent spool delete", "wavetank agent spool delete --dir /run/wavetank --run 3 --digest 9f86d0…"),
    ("completions", "wavetank completions bash > ~/.local/share/bash-completion/completions/wavetank"),
];

/// Most values that are listed in place of the name of a value.
const LISTED_MAX: usize = 7;

/// Returns the definition of the command line, with examples in the help of every command.
pub(super) fn command() -> Command {
    each_command(|command| {
        let text = after_help(&command, command.get_name());
        command.after_help(text)
    })
}

/// Returns the same with the help of `-h`: the options that are used most, each in one line.
pub(super) fn short_command() -> Command {
    each_command(|command| {
        let name = command.get_name().to_owned();
        let text = after_help(&command, &name);
        let Some((_, shown)) = SHORT.iter().find(|(own, _)| *own == name) else {
            return command.after_help(text);
        };
        let first = text.lines().take(3).collect::<Vec<_>>().join("\n");
        let shorten = |option: Arg| {
            let hidden = option.get_long().is_some_and(|long| !shown.contains(&long));
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            let first = help.split([';', ':', '[', '(']).next().unwrap_or_default().trim().to_owned();
            option.hide(hidden).help(first)
        };
        let text = format!("{first}\n\nwavetank {name} --help shows all options");
        command.mut_args(shorten).after_help(text)
    })
}

/// Shows the names of a closed set in place of the name of the value, unless they are many or have
/// a better order there.
fn with_listed_values(command: Command) -> Command {
    let list = |option: Arg| {
        let values = option.get_possible_values();
        let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        if !option.get_action().takes_values() || !(1..=LISTED_MAX).contains(&names.len()) {
            return option;
        }
        let is_listed = option.get_value_names().is_some_and(|own| own[0].contains('|'));
        let option = if is_listed { option } else { option.value_name(names.join("|")) };
        option.hide_possible_values(true)
    };
    command.mut_args(list).mut_subcommands(with_listed_values)
}

fn each_command(change: impl Fn(Command) -> Command) -> Command {
    let change = |command| nested_examples(change(command), "");
    names(&Cli::command())
        .iter()
        .fold(with_listed_values(Cli::command()), |all, name| all.mut_subcommand(name, change))
}

fn names(command: &Command) -> Vec<String> {
    command.get_subcommands().map(|own| own.get_name().to_owned()).collect()
}

/// Adds examples to the help of all subcommands of `command`, which itself follows `before`.
fn nested_examples(command: Command, before: &str) -> Command {
    let path = format!("{before}{} ", command.get_name());
    names(&command).iter().fold(command, |all, name| {
        all.mut_subcommand(name, |own| {
            let text = after_help(&own, &format!("{path}{name}"));
            nested_examples(own.after_help(text), &path)
        })
    })
}

/// Returns the text behind the options: examples first, unless the command's own text has some.
/// `path` is the command with those that it follows, such as `lab up`.
fn after_help(command: &Command, path: &str) -> String {
    let own = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let examples = EXAMPLES.iter().find(|(known, _)| *known == path).filter(|_| !own.contains("example:"));
    let examples = examples.map(|(_, text)| format!("For example:\n  {text}\n")).unwrap_or_default();
    format!("{examples}{own}").trim_end().to_owned()
}
