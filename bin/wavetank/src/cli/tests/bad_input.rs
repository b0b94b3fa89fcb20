//! Every wrong command line gets one clear error: code, exit code, message and hint.

use wavetank_experiment::{EXCLUSIVE, NEEDS};
use wavetank_units::ExitCode::{Refused, Usage};
use wavetank_units::{ExitCode, UserError};

use super::error;

/// Command line, code, exit code, part of the message, part of the hint.
pub(super) type Row = (&'static str, &'static str, ExitCode, &'static str, &'static str);

pub(super) fn check(rows: &[Row]) {
    for (line, code, exit, message, hint) in rows {
        let error = error(line);
        assert_eq!((error.code.as_str(), error.exit), (*code, *exit), "{line}: {error}");
        assert!(error.message.contains(message), "{line}: {error}\nshould say: {message}");
        assert!(error.hint.contains(hint), "{line}: {error}\nshould hint: {hint}");
        clear(line, &error);
    }
}

/// An error is one line and shows no internal names.
fn clear(line: &str, error: &UserError) {
    assert!(!error.message.contains('\n') && !error.hint.contains('\n'), "{line}: {error}");
    assert!(!error.message.is_empty() && !error.hint.is_empty(), "{line}: {error}");
    for internal in ["Option<", "Some(", "None", "Err(", "ParseError", "::"] {
        assert!(!error.message.contains(internal) || line.contains(internal), "{line}: {error}");
    }
}

#[test]
fn words() {
    check(&[
        ("run", "no_url", Usage, "no URL", "wavetank run"),
        ("run localhost --without load1", "no_fleet", Usage, "needs `--fleet`", "--fleet FILE"),
        ("search", "no_url", Usage, "no URL", "wavetank search"),
        ("compare", "no_run", Usage, "no runs", "wavetank compare A B"),
        ("run a.yaml --max-regression 5%", "no_baseline", Usage, "needs `--baseline`", "--baseline RUN"),
        ("report", "no_run", Usage, "no run", "latest"),
        ("rnu localhost", "command_unknown", Usage, "`rnu`", "wavetank run?"),
        ("servee", "command_unknown", Usage, "`servee`", "wavetank serve?"),
        ("try http://localhost/", "no_file", Usage, "is a URL", "--once shows one request"),
        (
            "xyzzy",
            "command_unknown",
            Usage,
            "`xyzzy`",
            "run, search, new, check, plan, try, schema, serve, size, compare, status, attach, stop, set, event, ui, report",
        ),
        ("localhost -Z", "option_unknown", Usage, "`-Z`", "--help"),
        ("localhost --treshold x", "option_unknown", Usage, "`--treshold`", "--threshold?"),
        ("localhost --conections 5", "option_unknown", Usage, "`--conections`", "--connections?"),
        ("localhost -c", "value_missing", Usage, "needs a value", "50"),
        ("localhost -d -c 5", "value_missing", Usage, "needs a value", "10s"),
        ("localhost --http", "value_missing", Usage, "needs a value", "1.0|1.1"),
        ("localhost -c 5 -c 6", "conflict", Usage, "given twice", "once"),
        ("search localhost --quick --levels 5", "conflict", Usage, "--levels and --quick", "one of the two"),
        ("runs -n 3 list", "conflict", Usage, "--newest is before the subcommand `list`", "follow"),
        ("completions", "no_shell", Usage, "no shell", "wavetank completions bash"),
        ("completions csh", "value_unknown", Usage, "`csh`", "zsh"),
        ("completions bash extra", "word_surplus", Usage, "`extra`", "one shell"),
        ("lab", "command_missing", Usage, "`lab` needs a subcommand", "check, up, run, status, exec, logs"),
        ("lab up", "no_file", Usage, "no topology file", "lab up FILE"),
        ("lab run", "no_file", Usage, "no topology file", "LAB EXPERIMENT"),
        ("lab run lab.yaml", "no_url", Usage, "nothing to run", "LAB EXPERIMENT"),
        ("lab run f.yaml localhost --fleet x", "conflict", Usage, "--fleet cannot be used", "--agents"),
        ("lab run f.yaml localhost --agents --once", "conflict", Usage, "--agents and --once", "leave out"),
        ("lab exec", "no_host", Usage, "no host", "lab status"),
        ("lab exec h1", "lab_command", Usage, "no command", "--"),
        ("lab fault", "no_host", Usage, "no host", "lab status"),
        ("lab fault h1", "lab_fault_words", Usage, "no fault", "kill"),
        ("lab fault h1 undo -1", "negative", Usage, "`-1` is negative", "cannot be negative"),
        ("lab up f.yaml --lab -x", "option_unknown", Usage, "`-x`", "lab up --help"),
        ("lab up f.yaml -x", "option_unknown", Usage, "`-x`", "lab up --help"),
        ("lab run f.yaml x.yaml -1", "option_unknown", Usage, "`-1`", "--tls"),
        ("man", "no_folder", Usage, "no folder", "wavetank man"),
        ("man a b", "word_surplus", Usage, "`b`", "one folder"),
        ("report a --zzz", "option_unknown", Usage, "`--zzz`", "wavetank report --help"),
        ("report a --quiet", "option_unknown", Usage, "`--quiet`", "of run: wavetank report --help"),
        ("report a b", "word_surplus", Usage, "`b`", "one run"),
        ("serve x", "word_surplus", Usage, "`x`", "options only: wavetank serve --help"),
        ("calibrate x", "word_surplus", Usage, "`x`", "options only: wavetank calibrate --help"),
        ("demo x", "word_surplus", Usage, "`x`", "options only: wavetank demo --help"),
        ("localhost other", "word_surplus", Usage, "`other`", "one URL"),
        ("localhost --once=1", "value_surplus", Usage, "takes no value", "--once alone"),
        ("localhost -d 1m 30s", "word_surplus", Usage, "`30s`", "quotes"),
    ]);
}

#[test]
fn urls() {
    check(&[
        ("run https:localhost", "bad_url", Usage, "not a URL", "https://localhost"),
        ("https://me:secret@localhost/x", "url_user", Usage, "https://localhost/x", "--basic me:"),
        ("ftp://localhost/", "bad_scheme", Usage, "`ftp://`", "http, https, grpc"),
        ("run http:localhost", "bad_url", Usage, "not a URL", "http://localhost"),
        ("run http://", "bad_url", Usage, "not a URL", "name a host"),
        ("run ''", "no_url", Usage, "empty", "localhost:8080"),
        ("run :0/", "bad_url", Usage, "port 0", "1 to 65535"),
        ("run localhost:99999", "bad_url", Usage, "not a URL", "1 to 65535"),
        ("run 'http://localhost/a b'", "bad_url", Usage, "white space", "%20"),
        ("run http://[::1/", "bad_url", Usage, "not a URL", "brackets"),
        ("localhost --scale 1/10", "conflict", Usage, "--scale needs an experiment file", "-r, -d and -n"),
        (
            "localhost --target http://localhost",
            "conflict",
            Usage,
            "--target needs an experiment file",
            "--connect-to",
        ),
        ("localhost --probe", "conflict", Usage, "--probe needs an experiment file", "--no-probe"),
        ("localhost --truth", "conflict", Usage, "--truth needs an experiment file", "hold phases"),
        ("shop.yaml --truth --no-truth", "conflict", Usage, "exclude each other", "one of the two"),
        ("shop.yaml --probe --no-probe", "conflict", Usage, "exclude each other", "one of the two"),
        ("http://@localhost", "url_user", Usage, "before the `@`", "out of the URL: http://localhost"),
        ("run HTTPS//localhost/A", "bad_url", Usage, "not a URL", "https://localhost/A"),
    ]);
    let error = error("http://me:hunter2@localhost/x");
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[test]
fn proxies() {
    check(&[
        ("localhost --proxy socks5://localhost", "value_later", Usage, "SOCKS", "http://HOST:PORT"),
        ("localhost --proxy https://localhost", "value_later", Usage, "TLS", "http://HOST:PORT"),
        ("localhost --proxy http://localhost:1/x", "bad_proxy", Usage, "has a path", "http://localhost:1"),
        ("localhost --proxy u@localhost:1", "bad_proxy", Usage, "no user and password", "USER:PASSWORD@"),
        ("localhost --proxy @nowhere", "bad_file", Usage, "--proxy", ""),
        ("localhost --proxy-protocol v3", "value_unknown", Usage, "`v3`", "v2"),
        (
            "localhost --proxy u:p@localhost:1 -H 'Proxy-Authorization: x'",
            "conflict",
            Usage,
            "Proxy-Authorization",
            "keep one",
        ),
        ("localhost -x localhost:1", "option_unknown", Usage, "`-x`", "--proxy"),
        (
            "localhost --haproxy-protocol",
            "option_unknown",
            Usage,
            "`--haproxy-protocol`",
            "--proxy-protocol v1",
        ),
        ("localhost --proxy-user a:b", "option_unknown", Usage, "`--proxy-user`", "USER:PASSWORD@"),
    ]);
}

#[test]
fn quantities() {
    check(&[
        ("localhost -d 30", "unit_missing", Usage, "-d `30`", "30s? (wrk and ab mean seconds)"),
        ("localhost --timeout 5000", "unit_missing", Usage, "--timeout", "5s = 5000ms? (JMeter"),
        ("localhost -r 500", "unit_missing", Usage, "-r `500`", "500/s?"),
        ("localhost -d 0s", "zero", Usage, "-d", "more than zero"),
        ("localhost -c 0", "zero", Usage, "-c", "more than zero"),
        ("localhost -n 0", "zero", Usage, "-n", "more than zero"),
        ("localhost -r 0/s", "zero", Usage, "-r", "more than zero"),
        ("localhost --threads 0", "zero", Usage, "--threads", "more than zero"),
        ("localhost --pipeline 0", "zero", Usage, "--pipeline", "more than zero"),
        ("localhost -c -5", "negative", Usage, "-c", "cannot be negative"),
        ("localhost -d -5s", "negative", Usage, "-d: `-5s` is negative", "for example 10s"),
        (
            "compare a b --max-regression -1%",
            "negative",
            Usage,
            "--max-regression: `-1%`",
            "cannot be negative",
        ),
        ("compare a b --max-regression=-1%", "negative", Usage, "--max-regression", ""),
        ("runs prune --older-than -1d", "negative", Usage, "--older-than: `-1d`", "for example 30d"),
        ("localhost -c 1m", "unit_unknown", Usage, "-c `1m`", "1m is one minute; 1M is a million"),
        ("localhost -c 1.5", "not_whole", Usage, "-c", "whole"),
        ("localhost -c ten", "not_a_number", Usage, "-c", "500, 10k or 1M"),
        ("localhost -c 99999999999999999999", "overflow", Usage, "-c", "1M"),
        ("localhost -c 10000000G", "overflow", Usage, "-c", "1M"),
        ("localhost -d 99999999d", "overflow", Usage, "ten years", "30s"),
        ("localhost -r 5G/s", "overflow", Usage, "-r", "500/s"),
        ("localhost --threads 5G", "overflow", Usage, "--threads", "smaller"),
        ("localhost --threads 5k", "overflow", Usage, "--threads", "one per CPU"),
        ("localhost --pipeline 2k", "overflow", Usage, "--pipeline", "up to 1024"),
        ("localhost --seed soon", "not_a_number", Usage, "--seed", "--seed 7"),
        ("localhost --seed -1", "negative", Usage, "--seed", "--seed 7"),
        ("localhost --open-rate 5000", "unit_missing", Usage, "--open-rate", "5000/s?"),
        ("localhost --drain 30", "unit_missing", Usage, "--drain", "30s?"),
        ("serve --threads none", "not_a_number", Usage, "--threads", "500"),
    ]);
}

#[test]
fn values() {
    check(&[
        ("localhost --http 1", "value_unknown", Usage, "--http `1`", "1.1 or 1.0 or 2"),
        ("localhost --engine xdp", "value_later", Usage, "--engine", "auto, epoll, uring"),
        ("localhost --engine uring", "no_uring", Refused, "not probed", "--engine epoll"),
        ("localhost --engine epol", "value_unknown", Usage, "--engine", "epoll?"),
        ("localhost --close reset", "value_unknown", Usage, "--close", "fin or rst"),
        ("localhost --arrivals poison -r 1/s", "value_unknown", Usage, "--arrivals", "poisson?"),
        ("localhost --ip v4", "value_unknown", Usage, "--ip", "4 or 6"),
        ("localhost --dns never", "value_unknown", Usage, "--dns", "once"),
        ("localhost --dns 30ms", "out_of_range", Usage, "--dns", "1s"),
        ("localhost --format yaml", "value_unknown", Usage, "--format", "text or json or junit"),
        ("localhost --out r.pdf", "out_suffix", Usage, "--out r.pdf", "--out result.json"),
        ("localhost --out r.pdf", "out_suffix", Usage, "--out r.pdf", ".html"),
        ("localhost --out r", "out_suffix", Usage, "--out r", ".txt is text"),
        ("localhost --out r.json --out r.json", "conflict", Usage, "given twice", "separate file"),
        ("localhost --expect-status 2000", "bad_status", Usage, "`2000`", "200 to 399"),
        ("localhost --expect-status '399 to 200'", "bad_status", Usage, "reversed", "200 to 399"),
        ("localhost --threshold 'p99 < 250'", "unit_missing", Usage, "`p99 < 250`", "250ms? or 250s?"),
        ("localhost --threshold 'p99(by) < 1s'", "step_unknown", Usage, "no step \"by\"", "GET /"),
        ("localhost --threshold 'p99 < 1s in mian'", "phase_unknown", Usage, "no phase \"mian\"", "main?"),
        (
            "localhost --warmup 1s --stop 'failed > 1% in warmup'",
            "phase_unjudged",
            Usage,
            "warm-up",
            "in main",
        ),
        ("localhost --threshold 'cpu(lb1) < 9%'", "host_unobserved", Usage, "is not sampled", "p99"),
        ("localhost --observe web1,Web2", "observed_host", Usage, "`Web2`", "alias"),
        ("localhost --observe web1,web1", "observed_host", Usage, "named twice", "once"),
        ("localhost --observe local", "observed_host", Usage, "`local`", "alias"),
        ("localhost --observe web1 --once", "conflict", Usage, "--once", "leave out --observe"),
        ("localhost --tag build", "bad_tag", Usage, "`build`", "--tag build=1234"),
        ("localhost --tag a=1 --tag a=2", "conflict", Usage, "`a`", "one value"),
        ("localhost --name 'a/b'", "bad_name", Usage, "`a/b`", "checkout-v2"),
        ("localhost --name ''", "bad_name", Usage, "--name", "checkout-v2"),
        ("localhost -X get", "bad_method", Usage, "`get`", "-X GET"),
        ("localhost -X 'GET /'", "bad_method", Usage, "not a method", "one word"),
        ("localhost -X CONNECT", "bad_method", Usage, "tunnel", "GET"),
        ("localhost -H nocolon", "bad_header", Usage, "no colon", "-H 'Name: value'"),
        ("localhost -H 'a b: c'", "bad_header", Usage, "`a b`", "-H 'Name: value'"),
        ("localhost -H 'Content-Length: 5'", "bad_header", Usage, "computed", "--body"),
        ("localhost -H 'transfer-encoding: chunked'", "bad_header", Usage, "not sent", "--body"),
        ("localhost -H 'Connection: close'", "bad_header", Usage, "set by wavetank", "--no-keepalive"),
        ("localhost -H 'Host: a' -H 'Host: b'", "bad_header", Usage, "twice", "--connect-to"),
        ("localhost --basic me", "bad_basic", Usage, "colon", "user:password"),
        ("localhost --body @x.json", "bad_body", Usage, "looks like a file", "--body-file x.json"),
        ("localhost --body-file /no/such", "bad_file", Usage, "/no/such", "path"),
        ("localhost --body-file /", "bad_file", Usage, "folder", "file in it"),
        ("localhost -H @/no/such", "bad_file", Usage, "-H /no/such", "path"),
        ("localhost --basic @/no/such", "bad_file", Usage, "--basic /no/such", "path"),
        ("localhost --connect-to a:b:c", "bad_connect_to", Usage, "`a:b:c`", "HOST:PORT"),
        ("localhost --connect-to other:80:127.0.0.1:80", "conflict", Usage, "another host", "localhost:80"),
        ("localhost --allow-target http://x/", "bad_network", Usage, "`http://x/`", "without scheme"),
        ("serve --listen 127.0.0.1", "bad_listen", Usage, "not an address", "127.0.0.1:8080"),
        ("serve --listen here", "bad_listen", Usage, "`here`", "0.0.0.0:8080"),
        ("serve --freeze 1s", "conflict", Usage, "go together", "--freeze-at 5s"),
        ("serve --tls-no-tickets", "conflict", Usage, "needs --tls", "--tls --tls-no-tickets"),
        ("serve --tls-cert a.pem", "conflict", Usage, "--tls-cert needs --tls", "serve --tls"),
        ("serve --tls --tls-key a.pem", "conflict", Usage, "without --tls-cert", "--tls-key FILE"),
        ("serve --tls --tls-cert a --tls-cert-out b", "conflict", Usage, "exclude", "none is generated"),
        ("serve --tls --tls-cert /no/such", "bad_file", Usage, "/no/such", "path"),
        ("serve --tls --tls-versions 1.1", "value_unknown", Usage, "`1.1` is insecure", "1.2 or 1.3"),
    ]);
}

#[test]
fn what_this_host_cannot() {
    check(&[
        ("localhost -c 5k", "no_files", Refused, "files", "ulimit -n 5"),
        ("localhost -r 1k/s -c 5k", "no_files", Refused, "files", "ulimit -n 5"),
        ("localhost --source 192.0.2.1", "no_such_source", Refused, "192.0.2.1", "127.0.0.1, 10.0.0.2"),
        ("localhost --source 10.0.0.2-10.0.0.4", "no_such_source", Refused, "10.0.0.3", "ip addr add"),
        ("localhost --source ::1", "conflict", Usage, "::1 is IPv6", "one family"),
        ("localhost --source 10.0.0.9-10.0.0.2", "bad_source", Usage, "reversed", "10.0.8.1-10.0.8.14"),
        ("localhost --source 10.0.0.2,10.0.0.0/30", "bad_source", Usage, "overlaps", "once"),
        ("localhost --source eth0", "bad_source", Usage, "`eth0`", "10.0.8.0/28"),
        ("[::1]:80 --source 127.0.0.1", "conflict", Usage, "IPv4", "one family"),
        ("localhost --ip 6", "no_address", Usage, "no IPv6 address", "--ip 4"),
        ("[::1]:80 --ip 4", "no_address", Usage, "no IPv4 address", "--ip 6"),
        (
            "public.example/x -c 10",
            "target_not_allowed",
            Refused,
            "public.example (203.0.113.9)",
            "wavetank public.example/x -c 10 --allow-target public.example",
        ),
        (
            "203.0.113.9",
            "target_not_allowed",
            Refused,
            "203.0.113.9",
            "wavetank 203.0.113.9 --allow-target 203.0.113.9",
        ),
        (
            "169.254.169.254/latest",
            "target_not_allowed",
            Refused,
            "credentials",
            "--allow-target 169.254.169.254",
        ),
        ("[fd00:ec2::254]/", "target_not_allowed", Refused, "credentials", "--allow-target fd00:ec2::254"),
        (
            "169.254.169.254 --allow-target 169.254.0.0/16",
            "target_not_allowed",
            Refused,
            "credentials",
            "169.254.169.254",
        ),
    ]);
}

#[test]
fn numbers_that_contradict_each_other() {
    check(&[
        ("localhost -c 50 -n 10", "conflict", Usage, "-c is more than -n", "-n 50"),
        ("localhost --threads 4 -c 2", "conflict", Usage, "--threads 4", "--threads 2"),
        ("localhost --connect-timeout 5s --timeout 1s", "conflict", Usage, "--connect-timeout", "lower"),
        ("localhost --pipeline 8 --requests-per-connection 4", "conflict", Usage, "never fits", "raise"),
        (
            "localhost --http 2 --streams 8 --requests-per-connection 4",
            "conflict",
            Usage,
            "never fits",
            "raise",
        ),
        ("localhost --http 2 --streams 2k", "overflow", Usage, "--streams", "up to 1024"),
        ("localhost --http 2 --streams 0", "zero", Usage, "--streams", "more than zero"),
        ("localhost -r 1/s --max-open 5 -c 6", "conflict", Usage, "never used up", "raise --max-open"),
        ("localhost -r 1/s --open-rate 5/s", "conflict", Usage, "--open-rate", "-c opens a pool"),
        ("localhost --body a --body-file b", "conflict", Usage, "--body-file", "one of the two"),
        ("localhost --once --out r.json", "conflict", Usage, "--once and --out", "on stdout"),
        ("localhost --lang zh", "conflict", Usage, "--lang applies only to html", "--out FILE.html"),
        (
            "search localhost --threshold p99<1s --out x.json --lang zh",
            "conflict",
            Usage,
            "--lang",
            "FILE.html",
        ),
        ("localhost --out x.html --lang fr", "value_unknown", Usage, "--lang", "zh"),
        ("localhost --once --lang zh", "conflict", Usage, "--once and --lang", "on stdout"),
        ("localhost --once --format json", "conflict", Usage, "--once and --format", "on stdout"),
        ("localhost --once --runs-dir r", "conflict", Usage, "--once and --runs-dir", "on stdout"),
        ("localhost --no-archive --runs-dir x", "conflict", Usage, "--runs-dir", "archive"),
        ("localhost --body-file - -H @-", "conflict", Usage, "both read stdin", "file"),
    ]);
}

/// Returns arguments with the option that are valid alone, or with whatever the option needs.
fn sample(option: &str) -> &'static str {
    match option {
        "-c" => "-c 20",
        "-r" => "-r 100/s",
        "-d" => "-d 5s",
        "-n" => "-n 1k",
        "--stage" => "--stage 1m:100/s",
        "--warmup" => "--warmup 1s",
        "--arrivals" => "--arrivals poisson",
        "--drain" => "--drain 5s",
        "--max-open" => "--max-open 50",
        "--open-rate" => "--open-rate 1k/s",
        "--pipeline" => "--pipeline 4",
        "--requests-per-connection" => "--requests-per-connection 8",
        "--threads" => "--threads 1",
        "--threshold" => "--threshold 'p99 < 1s'",
        "--stop" => "--stop 'failed > 50%'",
        "--seed" => "--seed 7",
        "--name" => "--name shop",
        "--tag" => "--tag a=b",
        "--tls-resume" => "--tls-resume user",
        "--once" => "--once",
        "--no-keepalive" => "--no-keepalive",
        "--http 1.0" => "--http 1.0",
        "--http 2" => "--http 2",
        "--streams" => "--streams 4",
        "--alpn" => "--alpn http/1.1",
        "--proxy" => "--proxy localhost:3128",
        "--connect-to" => "--connect-to localhost:81",
        "--basic" => "--basic me:secret",
        "-H Authorization" => "-H 'Authorization: Bearer x'",
        other => panic!("{other} has no sample"),
    }
}

#[test]
fn no_option_is_silently_ignored() {
    for pair in EXCLUSIVE {
        for (one, other) in [(pair.left, pair.right), (pair.right, pair.left)] {
            let line = format!("localhost {} {}", sample(one), sample(other));
            let error = error(&line);
            assert_eq!((error.code.as_str(), error.exit), ("conflict", Usage), "{line}: {error}");
            assert!(
                error.message.contains(pair.left) && error.message.contains(pair.right),
                "{line}: {error}"
            );
            clear(&line, &error);
        }
    }
    for need in NEEDS {
        let line = format!("localhost {}", sample(need.left));
        let error = error(&line);
        assert_eq!(error.code, "conflict", "{line}: {error}");
        assert!(error.message.contains(need.left) && error.message.contains(need.right), "{line}: {error}");
        let both = format!("localhost {} {}", sample(need.left), sample(need.right));
        super::plan(&super::run(&both)).unwrap_or_else(|error| panic!("{both}: {error}"));
    }
}
