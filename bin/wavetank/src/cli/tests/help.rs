//! The help lists every command, and users of other tools get a hint with the flag to use here.

use clap::CommandFactory;

use super::argv;
use crate::cli::foreign_flags;
use crate::cli::parser::Cli;
use crate::cli::{ParseExit, parse};

fn help(line: &str) -> String {
    match parse(argv(line)) {
        Err(ParseExit::Help(text)) => text,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn every_command_is_in_the_help() {
    let text = help("--help");
    assert_eq!(help(""), text, "no word at all shows the help");
    for command in Cli::command().get_subcommands() {
        let name = command.get_name();
        assert!(
            text.lines().any(|line| line.trim_start().starts_with(&format!("{name} "))),
            "{name}: {text}"
        );
        let own = help(&format!("{name} --help"));
        assert!(own.contains(&format!("Usage: wavetank {name}")), "{own}");
    }
    assert!(help("--version").starts_with("wavetank "));
}

#[test]
fn the_short_help_fits_a_screen() {
    for command in Cli::command().get_subcommands() {
        let name = command.get_name();
        let short = help(&format!("{name} -h"));
        assert!(short.lines().count() <= 40, "{name}: {} lines\n{short}", short.lines().count());
        let long = help(&format!("{name} --help"));
        let cut = long.lines().count() > 45;
        assert_eq!(
            short.contains(&format!("wavetank {name} --help shows all options")),
            cut,
            "{name}:\n{short}"
        );
    }
}

#[test]
fn every_command_has_an_example() {
    fn each(command: &clap::Command, before: &str) {
        for own in command.get_subcommands().filter(|own| own.get_name() != "help" && !own.is_hide_set()) {
            let path = format!("{before}{}", own.get_name());
            let long = help(&format!("{path} --help"));
            let example = long.split("or example").nth(1).unwrap_or_default();
            assert!(example.contains(&format!("wavetank {path}")), "{path} has no example:\n{long}");
            each(own, &format!("{path} "));
        }
    }
    each(&Cli::command(), "");
}

#[test]
fn every_option_says_what_it_does_and_takes() {
    for command in Cli::command().get_subcommands() {
        for argument in command.get_arguments() {
            let id = argument.get_id();
            let text = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(text.len() > 10, "{} {id}: {text}", command.get_name());
            assert!(!text.ends_with('.'), "{} {id}: {text}", command.get_name());
        }
    }
}

#[test]
fn no_habit_shadows_an_option() {
    let command = Cli::command();
    let run = command.find_subcommand("run").unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for name in foreign_flags::names() {
        assert!(seen.insert(name), "{name} is listed twice");
        let bare = name.trim_start_matches('-');
        let own = |argument: &clap::Arg| match name.strip_prefix("--") {
            Some(long) => argument.get_long() == Some(long),
            None => argument.get_short().is_some_and(|short| short.to_string() == bare),
        };
        assert!(!run.get_arguments().any(own), "{name} is an option of ours");
    }
}

#[test]
fn habits_of_other_tools() {
    for (line, hint) in [
        ("localhost -t4 -c 10", "--threads 4"),
        ("report latest --json", "--format json"),
        ("report latest -R 5k", "wavetank report --help"),
        ("report latest -1", "wavetank report --help"),
        ("report latest -4", "wavetank report --help"),
        ("size --vus 1000", "-c 1000"),
        ("size -z 10s", "-d 10s"),
        ("size -R 5k", "-r 5k/s"),
        ("size -x localhost:3128", "wavetank size --help"),
        ("localhost -t 30", "-d 30s"),
        ("localhost -t 45", "ab's -t 45 is -d 45s; hey's -t 45 is --timeout 45s"),
        ("localhost -t12 -c 10", "wrk's -t12 is --threads 12"),
        ("localhost -s 5", "ab's -s 5 is --timeout 5s"),
        ("localhost -u 10", "-c 10"),
        ("localhost -m PUT", "-X PUT"),
        ("localhost --calls 300", "-n 300"),
        ("localhost --max-workers 7", "-c 7 caps"),
        ("localhost --ramp-up 20", "--stage '20s:100 users'"),
        ("localhost --stages 2m:5", "--stage '2m:5 users' or --stage 2m:5/s"),
        ("localhost -rate=70/s", "-r 70/s"),
        ("localhost -rate 50/1m", "-r 50/min"),
        ("localhost -duration=5s -rate=3", "-d 5s"),
        ("localhost -max-workers 10", "-c 10"),
        ("localhost -header=A:b", "-H 'Name: value'"),
        ("localhost --prometheus-port 9100", "prometheus=:9100"),
        ("localhost --metrics :9090", "prometheus=:9090"),
        ("localhost -J users=5", "--set NAME=VALUE"),
        ("localhost --live", "--ui"),
        ("attack http://localhost/", "wavetank run"),
        ("bench http://localhost/", "wavetank run"),
        ("version", "wavetank --version"),
        ("localhost -k", "--insecure"),
        ("localhost -kc 10", "by default"),
        ("localhost -E client.pem", "--cert FILE"),
        ("localhost --tlsv1.2", "--tls 1.2"),
        ("localhost --ciphers AES128", "--tls-ciphers"),
        ("localhost --curves X25519", "--tls-groups"),
        ("localhost --capath /etc/ssl", "--cacert FILE"),
        ("localhost -z 10s", "-d 10s"),
        ("localhost -q 50", "-r 50/s"),
        ("localhost -R 5000", "-r 5000/s"),
        ("localhost -m POST", "-X POST"),
        ("localhost -u me:secret", "--basic user:password"),
        ("localhost -T text/plain", "Content-Type"),
        ("localhost -s report.lua", "experiment file"),
        ("localhost -L", "not followed"),
        ("localhost --latency", "always shown"),
        ("localhost -D body.json", "--body-file"),
        ("localhost -b a=b", "Cookie"),
        ("localhost --data=x", "--body"),
        ("localhost --vus 10", "-c 10"),
        ("localhost --http2", "--http 2"),
        ("localhost --http3", "--http 3"),
        ("localhost -4", "--ip 4"),
        ("localhost --disable-keepalive", "--no-keepalive"),
        ("localhost -d '{\"a\":1}'", "--body TEXT"),
        ("localhost -d a=1", "--body TEXT"),
        ("localhost -d @x.json", "--body-file x.json"),
    ] {
        let error = super::error(line);
        assert!(error.hint.contains(hint), "{line}: {error}\nshould hint: {hint}");
    }
}

#[test]
fn hints_have_the_values_of_options_of_other_tools() {
    for (line, hint) in [
        ("localhost -t 2s", "siege's -t 2s is -d 2s"),
        ("localhost -t 30S", "-t 30s is -d 30s"),
        ("localhost -m 10", "--streams 10"),
        ("localhost -i 5", "-n 5"),
        ("localhost -e HOST=a", "--set HOST=a"),
        ("localhost -b 4096", "no replacement"),
        ("localhost -p 8", "--streams 8"),
        ("localhost -qps 100", "-r 100/s"),
        ("localhost -h2", "--http 2"),
        ("localhost -host a.test", "-H 'Host: a.test'"),
        ("localhost -disable-redirects", "not followed by default"),
        ("localhost -keepalive=false", "--no-keepalive closes"),
        ("localhost -connection-reuse 100", "--requests-per-connection 100"),
        ("localhost -laddr 10.1.2.3", "--source 10.1.2.3"),
        ("localhost -nocatchup", "limitations.md"),
        ("localhost --max-redirects 3", "follow: 3"),
        ("localhost --user-agent me", "-H 'User-Agent: me'"),
        ("localhost --no-tui", "--plain"),
        ("localhost --http-version 2", "--http 2"),
        ("localhost --output-format json", "--format json"),
        ("localhost --urls-from-file f", "steps"),
        ("localhost --concurrent 25", "-c 25"),
        ("localhost --delay 2", "think: 2s"),
        ("localhost --max-concurrent-streams 7", "--streams 7"),
        ("localhost --warm-up-time 5", "--warmup 5s"),
        ("localhost --arrival-rate 70", "-r 70/s"),
        ("localhost --ktls", "limitations.md"),
        ("localhost --summary-trend-stats p95", "always shown"),
    ] {
        let error = super::error(line);
        assert!(error.hint.contains(hint), "{line}: {error}\nshould hint: {hint}");
    }
}
