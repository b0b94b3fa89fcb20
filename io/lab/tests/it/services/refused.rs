//! Rejected services: the program's own message, with the line that caused it.

use wavetank_lab::service::check_programs;

use crate::services::stand::{Stand, alone};

/// Asserts that the first host's services do not come up, for this reason.
#[track_caller]
fn check(hosts: &str, files: &[(&str, &str)], code: &str, parts: &[&str]) {
    let mut stand = Stand::with_files(hosts, files);
    let error = stand.refused();
    assert_eq!(error.code, code, "{error}");
    for part in parts {
        assert!(error.message.contains(part), "no `{part}` in {error}");
    }
}

#[test]
fn a_configuration_of_ones_own_that_is_wrong() {
    alone("a_configuration_of_ones_own_that_is_wrong", &["nginx", "haproxy"], || {
        let nginx = "  a1: {networks: [net], services: [{nginx: {listen: 8080, config: my.conf}}]}\n";
        let wrong = "events {}\nhttp {\n  server { lissten 8080; }\n}\n";
        check(
            nginx,
            &[("my.conf", wrong)],
            "lab_config",
            &["lab.yaml:5:", "(my.conf:3)", "unknown directive \"lissten\""],
        );
        let haproxy = "  a2: {networks: [net], services: [{haproxy: {listen: 8080, config: my.cfg}}]}\n";
        let wrong = "global\n  maxcon 7\nfrontend in\n  bind :8080\n  default_backend nowhere\n";
        check(haproxy, &[("my.cfg", wrong)], "lab_config", &["(my.cfg:2)", "unknown keyword 'maxcon'"]);
    });
}

#[test]
fn a_configuration_of_ones_own_that_is_right() {
    alone("a_configuration_of_ones_own_that_is_right", &["nginx"], || {
        let hosts = "  a1: {networks: [net], services: [{nginx: {listen: 8080, config: my.conf}}]}\n";
        let right = "pid x.pid;\nevents {}\nhttp { access_log off; client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;\n server { listen 8080; return 200 mine; } }\n";
        let mut stand = Stand::with_files(hosts, &[("my.conf", right)]);
        stand.start();
        assert!(stand.get("a1", 8080, "/").ends_with("mine"));
    });
}

#[test]
fn services_that_do_not_come_up() {
    alone("services_that_do_not_come_up", &["nginx"], || {
        let dies =
            "  a1: {networks: [net], services: [{command: {run: 'echo no luck; exit 3', listen: 8080}}]}\n";
        check(dies, &[], "lab_start", &["lab.yaml:5:", "`command` on a1", "exit status: 3", "no luck"]);
        let silent = "  a2: {networks: [net], services: [{command: {run: 'exec sleep 60', listen: 8080, health: {within: 300ms}}}]}\n";
        check(silent, &[], "lab_health", &["not up in time", "refused"]);
        let taken = "  a3: {networks: [net], services: [{nginx: {listen: 8081}}, {command: {run: [/usr/sbin/nginx, -p, /nowhere/, -c, none.conf], listen: 9999}}]}\n";
        check(taken, &[], "lab_start", &["exit status: 1"]);
    });
}

#[test]
fn what_is_known_before_anything_starts() {
    let check = |service: &str, code: &str, part: &str| {
        let text = format!(
            "wavetank_lab: 1\nname: x\nnetworks: {{net: 10.30.0.0/24}}\nhosts:\n  a[1-3]: {{networks: [net], services: [{service}]}}\n"
        );
        let files = |_: &str| Err("no such file".to_owned());
        let input = wavetank_topology::Input {
            name: "lab.yaml",
            bytes: text.as_bytes(),
            files: &files,
            machine: wavetank_topology::MachineFacts::default(),
        };
        let lab = wavetank_topology::read(&input).lab.expect("it reads");
        let error = check_programs(&lab, "lab.yaml").expect_err(service);
        assert_eq!((error.code.as_str(), error.others.len()), (code, 0), "{error}");
        assert!(error.to_string().contains(part), "no `{part}` in {error}");
    };
    check("{nginx: {listen: 80, binary: /no/such/nginx}}", "lab_program", "/no/such/nginx");
    check("{command: {run: [no-such-program-of-wavetank]}}", "lab_program", "no-such-program-of-wavetank");
    if std::path::Path::new("/usr/sbin/nginx").exists() {
        check("{nginx: {listen: 80, without: [use]}}", "lab_without", "lab.yaml:5:");
        check(
            "{nginx: {listen: 80, connections: 100M, workers: 1}}",
            "lab_files_short",
            "connections do not fit",
        );
    }
}

#[test]
fn a_service_that_ends_at_its_start_should_stay() {
    alone("a_service_that_ends_at_its_start_should_stay", &[], || {
        let check = |run: &str, hint: &str| {
            let hosts = format!(
                "  a1: {{networks: [net], services: [{{command: {{run: '{run}', listen: 8099}}}}]}}\n"
            );
            let error = Stand::with_files(&hosts, &[]).refused();
            assert_eq!(error.code, "lab_start", "{error}");
            assert!(error.hint.contains(hint), "{error}");
        };
        check("true", "must stay in the foreground");
        check("exit 3", "nothing else listens");
    });
}
