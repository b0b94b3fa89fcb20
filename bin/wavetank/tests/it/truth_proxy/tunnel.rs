//! Requests through a third-party proxy: tunnels for https, absolute URLs for http, and
//! authentication.

use wavetank_testkit::{Nginx, Outcome, RunHarness, RunResult, TestDir};

use super::foreign::{Foreign, WAYS, secure_nginx, trial};

const LOG: &str = "$request";
/// User and password, also in base64 (RFC 7617).
const SECRETS: [&str; 2] = ["planted-secret", "cGxhbnRlZC11c2VyOnBsYW50ZWQtc2VjcmV0"];

fn proxy_of(proxy: &Foreign) -> String {
    format!("http://planted-user:planted-secret@{}", proxy.address)
}

/// Panics if a secret was printed, or appears in any file of the trial that the user did not write.
#[track_caller]
fn check_hidden(trial: &RunHarness, outcomes: &[&Outcome]) {
    let mut looked_at = 0;
    for path in trial.place().all_files() {
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("given")) {
            continue;
        }
        looked_at += 1;
        let text =
            String::from_utf8_lossy(&std::fs::read(&path).expect("an artefact can be read")).into_owned();
        for secret in SECRETS {
            assert!(!text.contains(secret), "a secret is in {}", path.display());
        }
    }
    assert!(looked_at >= 4, "an archive has more than {looked_at} files");
    for outcome in outcomes {
        for secret in SECRETS {
            let reported = format!("{}{}", outcome.stdout, outcome.stderr);
            assert!(
                !reported.contains(secret),
                "a secret is printed: {}",
                reported.replace(secret, "(the secret)")
            );
        }
    }
}

/// Returns the plan in the archive of the only run.
fn plan_of(trial: &RunHarness) -> String {
    let runs = trial.place().runs("runs");
    let [run] = runs.as_slice() else { panic!("one run: {runs:?}") };
    std::fs::read_to_string(run.join("plan.yaml")).expect("the archive has a plan")
}

#[track_caller]
fn counts(result: &RunResult, nginx: &Nginx) -> u64 {
    result.conserved();
    assert_eq!(result.count("requests.done"), 40, "{result}");
    assert_eq!(nginx.log(41), vec!["GET /a?b=c HTTP/1.1"; 41]);
    let tunnels = result.count("connections.opened");
    assert!((8..=12).contains(&tunnels), "five requests on each: {result}");
    assert_eq!(result.count("connect_us.count"), tunnels, "{result}");
    tunnels
}

#[test]
fn tunnels_carry_tls() {
    let test = "tunnels_carry_tls";
    let Some(nginx) = secure_nginx(test, "", LOG) else { return };
    let Some(proxy) = Foreign::tinyproxy(test) else { return };
    let url = format!("https://{}/a?b=c", nginx.address());
    let mut connects = 0;
    for (engine, mask) in WAYS {
        let trial = trial();
        nginx.forget();
        let words =
            ["-c", "4", "-n", "40", "--requests-per-connection", "5", "--insecure", "--engine", engine];
        let program = trial.load(&url, words).args(["--proxy", &proxy_of(&proxy)]);
        let outcome = program.environment("WAVETANK_MASK", mask).run();
        if outcome.exit == Some(5) {
            wavetank_testkit::skip(test, &format!("{engine} is not available here"));
            continue;
        }
        let result = outcome.expect_exit(0).result();
        let tunnels = counts(&result, &nginx);
        assert_eq!(result.count("tls.handshakes"), tunnels, "{engine} {mask}: {result}");
        connects += tunnels + 1;
        let asked = format!(": CONNECT {} HTTP/1.1", nginx.address());
        proxy.lines(&asked, connects);
        check_hidden(&trial, &[&outcome]);
        let plan = plan_of(&trial);
        let reported = format!(
            "  proxy:\n    url: http://{0}\n    addresses:\n    - {0}\n    authorization: \"***\"\n",
            proxy.address
        );
        assert!(plan.contains(&reported), "{plan}");
    }
}

#[test]
fn a_plain_target_is_named_whole() {
    let test = "a_plain_target_is_named_whole";
    let server = "listen LISTEN; location / { return 200 \"ok\"; }";
    let Some(nginx) = Nginx::start(test, TestDir::new(), "$uri?$args", server) else { return };
    let Some(proxy) = Foreign::tinyproxy(test) else { return };
    let (trial, url) = (trial(), format!("http://{}/a?b=c", nginx.address()));
    let file = trial.place().write("given", proxy_of(&proxy) + "\n");
    let program = trial.load(&url, ["-c", "4", "-n", "40"]).args(["--proxy", &format!("@{file}")]);
    let outcome = program.run();
    let result = outcome.expect_exit(0).result();
    result.conserved();
    assert_eq!(result.count("requests.done"), 40, "{result}");
    assert_eq!(nginx.log(41), vec!["/a?b=c"; 41]);
    proxy.lines(&format!(": GET {url} HTTP/1.1"), 41);
    check_hidden(&trial, &[&outcome]);
    let once = trial.program().args(["run", &url, "--once", "--proxy", &proxy_of(&proxy)]).run();
    once.expect_exit(0);
    assert!(once.stdout.contains(&format!("> GET {url} HTTP/1.1")), "{once}");
    assert!(once.stdout.contains("> Proxy-Authorization: ***"), "{once}");
    check_hidden(&trial, &[&once]);
}

#[test]
fn a_file_names_its_proxy() {
    let test = "a_file_names_its_proxy";
    let Some(nginx) = secure_nginx(test, "", LOG) else { return };
    let Some(proxy) = Foreign::tinyproxy(test) else { return };
    let trial = trial();
    let text = format!(
        "wavetank: 1\nname: through\ntarget: https://{}\n\
         http:\n  proxy: http://planted-user:${{secret:PROXY}}@{}\n  tls: {{verify: false}}\n\
         steps: [{{get: /one}}, {{get: /two}}]\nphases: [{{users: 2, sessions: 10}}]\n",
        nginx.address(),
        proxy.address
    );
    let file = trial.place().write("through.yaml", text);
    let secret = trial.place().write("given", "planted-secret");
    let words = ["run", &file, "--secret", &format!("PROXY=@{secret}"), "--format", "json"];
    let outcome = trial.program().args(words).run();
    let result = outcome.expect_exit(0).result();
    assert_eq!(result.count("requests.done"), 20, "{result}");
    assert_eq!(nginx.log(20).iter().filter(|line| line.contains("/two")).count(), 10);
    check_hidden(&trial, &[&outcome]);
    // The option overrides the file's value.
    let elsewhere = ["--proxy", "127.0.0.1:9", "--no-archive"];
    let outcome = trial.program().args(words).args(elsewhere).run();
    let result = outcome.expect_exit(1).result();
    assert_eq!(result.count("requests.done"), 0, "{result}");
    assert_eq!(result.count("errors.connect_refused"), result.count("requests.failed"), "{result}");
}
