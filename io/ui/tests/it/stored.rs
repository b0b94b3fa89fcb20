//! The list of stored runs, and experiment files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::client::Site;

#[test]
fn five_hundred_runs_come_in_parts() {
    let site = Site::start();
    for number in 0..500 {
        let (minute, second) = (number / 60, number % 60);
        let folder = format!("20261121T19{minute:02}{second:02}Z-shop-{number:06x}");
        let path = site.place.path().join("runs").join(folder);
        fs::create_dir(&path).expect("a folder");
        fs::write(path.join("plan.yaml"), "not: a plan\n").expect("a file");
    }
    let first = site.get("/api/runs").json();
    let rows = first["runs"].as_array().expect("a list");
    assert_eq!((first["total"].as_u64(), rows.len()), (Some(500), 100));
    assert_eq!(rows[0]["id"], "0001f3", "the newest is the first");
    assert_eq!(rows[0]["state"], "damaged", "{}", rows[0]);
    assert_eq!(site.get("/api/runs?limit=5").json()["runs"].as_array().map(Vec::len), Some(5));
    let last = site.get("/api/runs?offset=450").json();
    assert_eq!(last["runs"].as_array().map(Vec::len), Some(50));
    assert_eq!(last["runs"][49]["id"], "000000");
    assert_eq!(site.get("/api/runs?offset=500").json()["runs"], serde_json::json!([]));
    assert_eq!(site.get("/api/runs/0001f3").json()["stored"]["id"], "0001f3");
}

#[test]
fn commands_get_paths_and_report_their_errors() {
    let place = tempfile::tempdir().expect("a folder");
    let program = place.path().join("program");
    let script = "#!/bin/sh\nif [ \"$1\" = report ]; then echo \"error: <b>$2</b> $3 $4\" >&2; echo 'hint: do this' >&2; exit 2; fi\nprintf '{\"words\":\"%s\"}' \"$*\"\n";
    fs::write(&program, script).expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let site = Site::start_with(&program, None);
    let run = site.place.path().join("runs/20261121T190000Z-shop-00abcd");
    fs::create_dir(&run).expect("a folder");
    fs::write(run.join("plan.yaml"), "").expect("a file");
    let page = site.get("/runs/00abcd/report");
    page.expect(400, "&lt;b&gt;/").expect(400, "--format html").expect(400, "do this");
    assert!(!page.body.contains("<b>"), "{page:?}");
    site.get("/runs/00abcd/download/exe").expect(404, "no such format").expect(404, "csv");
    site.get("/compare?a=00abcd").expect(400, "needs two runs");
    site.get("/compare?a=00abcd&b=00abcd").expect(400, "the same run");
    fs::write(site.place.path().join("experiments/a.yaml"), "wavetank: 1\n").expect("a file");
    assert_eq!(site.get("/api/experiments").json()["files"], serde_json::json!(["a.yaml"]));
    let form = r#"{"file":"a.yaml","set":[["n","--x"]],"target":"http://h","scale":"","speed":""}"#;
    let checked = site.post("/api/check", form).json();
    let words = checked["words"].as_str().expect("a text");
    assert!(
        words.starts_with("check /") && words.ends_with("--format json --set=n=--x --target=http://h"),
        "{words}"
    );
    site.post("/api/start", form).expect(400, "error");
    for bad in ["../a.yaml", "/etc/passwd", "b.yaml", ""] {
        let form = serde_json::json!({ "file": bad }).to_string();
        site.post("/api/start", &form).expect(404, "no experiment file");
    }
    site.post("/api/start", "{}").expect(400, "cannot read the request");
    site.post("/api/start", &format!("{{\"file\":\"{}\"}}", "x".repeat(70_000))).expect(413, "");
}
