//! `wavetank lab check` and `wavetank schema lab`: the contents of a topology file and its errors,
//! before anything is created.

use wavetank_testkit::{Program, TestDir};

const LAB: &str = "wavetank_lab: 1
name: shop
networks: {front: 10.30.0.0/24, back: 10.30.1.0/24}
hosts:
  load[1-2]: {role: load, networks: [front], sources: 3}
  lb1:
    role: balancer
    networks: [front, back]
    files: {/etc/app.conf: {from: app.conf}}
    services: [{haproxy: {listen: 8080, servers: \"app[1-2]:80\"}}]
  app[1-2]: {role: server, networks: [back], services: [{serve: {listen: 80}}]}
";

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_wavetank"))
}

#[test]
fn a_lab_is_reported_with_its_addresses() {
    let place = TestDir::new();
    let (lab, _) = (place.write("shop.yaml", LAB), place.write("app.conf", "hello\n"));
    let reported = program().args(["lab", "check", &lab]).run();
    assert_eq!(reported.exit, Some(0), "{reported}");
    assert_eq!(
        reported.stdout,
        format!(
            "{lab}: shop, 2 networks, 5 hosts, 3 services\n\
             \x20 load1  load      front 10.30.0.1 and 2 more\n\
             \x20 load2  load      front 10.30.0.4 and 2 more\n\
             \x20 lb1    balancer  front 10.30.0.7, back 10.30.1.1  haproxy :8080 → 2\n\
             \x20 app1   server    back 10.30.1.2  serve :80\n\
             \x20 app2   server    back 10.30.1.3  serve :80\n"
        )
    );
    let json = program().args(["lab", "check", &lab, "--format", "json"]).run();
    let doc = json.json();
    assert_eq!((&doc["schema"], &doc["name"]), (&"wavetank.lab_check/1".into(), &"shop".into()), "{json}");
    assert_eq!(doc["hosts"][2]["services"][0]["listen"][0], 8080, "{json}");
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let place = TestDir::new();
    let wrong = LAB.replace("app[1-2]:80", "app[1-3]:80").replace("sources: 3", "sources: many");
    let lab = place.write("shop.yaml", &wrong);
    let reported = program().args(["lab", "check", &lab]).run();
    assert_eq!((reported.exit, reported.stdout.as_str()), (Some(2), ""), "{reported}");
    for said in ["lab_file_unreadable", "not_a_number", ":5:", ":9:", "no host `app3`", "3 errors"] {
        assert!(reported.stderr.contains(said), "{said}: {reported}");
    }
    let json = program().args(["lab", "check", &lab, "--format", "json"]).run();
    assert_eq!(json.exit, Some(2), "{json}");
    assert_eq!(json.json()["schema"], "wavetank.error/1", "{json}");
    assert_eq!(json.json()["remarks"].as_array().map(Vec::len), Some(3), "{json}");
}

#[test]
fn limits_that_do_not_hold_for_load_threads_are_reported() {
    let place = TestDir::new();
    let limited = LAB.replace("sources: 3", "sources: 3, limits: {cpus: \"0\", memory: 64MiB}");
    let (lab, _) = (place.write("shop.yaml", &limited), place.write("app.conf", "hello\n"));
    let reported = program().args(["lab", "check", &lab]).run();
    assert_eq!(reported.exit, Some(0), "{reported}");
    let notes = reported.stderr.matches("lab_load_limits").count();
    assert!(
        notes == 1 && reported.stderr.contains("memory does not apply to the load threads"),
        "{reported}"
    );
    let json = program().args(["lab", "check", &lab, "--format", "json"]).run();
    let remarks = json.json()["remarks"].as_array().cloned().unwrap_or_default();
    assert!(remarks.iter().any(|remark| remark["code"] == "lab_load_limits"), "{json}");
    let unlimited = place.write("shop.yaml", LAB);
    let reported = program().args(["lab", "check", &unlimited]).run();
    assert!(!reported.stderr.contains("lab_load_limits"), "{reported}");
}

#[test]
fn a_file_that_is_not_there_or_no_lab_is_one_line() {
    let place = TestDir::new();
    let missing = place.path().join("nowhere.yaml");
    let reported = program().args(["lab", "check", &missing.display().to_string()]).run();
    assert!(reported.exit == Some(2) && reported.stderr.contains("there is no such file"), "{reported}");
    let experiment =
        place.write("first.yaml", "wavetank: 1\ntarget: http://127.0.0.1:1\nsteps: [{get: /}]\n");
    let reported = program().args(["lab", "check", &experiment]).run();
    assert!(
        reported.exit == Some(2) && reported.stderr.contains("this is an experiment, not a lab"),
        "{reported}"
    );
    let lab = place.write("shop.yaml", LAB);
    let reported = program().args(["check", &lab]).run();
    assert!(reported.exit == Some(2) && reported.stderr.contains("wavetank lab check"), "{reported}");
}

#[test]
fn the_schema_of_labs_is_printed() {
    let reported = program().args(["schema", "lab"]).run();
    assert_eq!(reported.exit, Some(0), "{reported}");
    assert_eq!(reported.json()["title"], "Wavetank lab, version 1", "{reported}");
    assert_eq!(reported.json()["required"][0], "wavetank_lab", "{reported}");
    let plain = program().args(["schema"]).run();
    assert_eq!(plain.json()["title"], "Wavetank experiment, version 1", "{plain}");
    let wrong = program().args(["schema", "labs"]).run();
    assert!(wrong.exit == Some(2) && wrong.stderr.contains("did you mean lab?"), "{wrong}");
}

/// With JSON as the format of the result, errors of the lab are JSON as well, on stdout and in the
/// files.
#[cfg(target_os = "linux")]
#[test]
fn a_run_reports_errors_in_its_output_format() {
    let place = TestDir::new();
    let lab = place.write("shop.yaml", LAB.replace("app[1-2]:80", "app[1-3]:80"));
    place.write("app.conf", "hello\n");
    let out = place.write("result.json", "an earlier result");
    let words = ["lab", "run", &lab, "http://lb1:8080/", "--format", "json", "--out", &out];
    let reported = program().args(words).run();
    assert_eq!(reported.exit, Some(2), "{reported}");
    assert_eq!(reported.json()["code"], "lab_host_unknown", "{reported}");
    let written = std::fs::read_to_string(&out).expect("it is there");
    assert!(written.contains("lab_host_unknown"), "{written}");
    let reported = program().args(["lab", "run", &lab, "http://lb1:8080/"]).run();
    assert_eq!((reported.exit, reported.stdout.as_str()), (Some(2), ""), "{reported}");
    assert!(reported.stderr.contains("lab_host_unknown"), "{reported}");
}
