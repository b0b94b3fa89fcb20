//! The guard: no packet leaves for a forbidden address, whatever its notation or name.

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{RunHarness, Script, Target};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

const REFUSED: i32 = 5;

#[test]
fn no_spelling_of_an_address_gets_past() {
    // Documentation addresses (RFC 5737, RFC 3849) represent public ones. The metadata service has
    // its own addresses, which must be recognised. The notations include mapped, translated, octal,
    // hexadecimal and plain numbers.
    for host in [
        "192.0.2.1",
        "192.0.2.1.",
        "3221225985",
        "0xC0000201",
        "0300.0.2.1",
        "192.0.513",
        "[::ffff:192.0.2.1]",
        "[::ffff:c000:201]",
        "[64:ff9b::c000:201]",
        "[2002:c000:201::]",
        "[2001:db8::1]",
        "169.254.169.254",
        "2852039166",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[fd00:ec2::254]",
        "224.0.0.1",
        "255.255.255.255",
        "100.64.0.1",
    ] {
        let trial = trial();
        let outcome = trial.program().args(["run", &format!("http://{host}/"), "-n", "1", "-c", "1"]).run();
        outcome.expect_exit(REFUSED);
        assert!(outcome.stderr.contains("--allow-target"), "{outcome}");
        assert!(trial.place().runs("runs").is_empty(), "{outcome}");
    }
}

#[test]
fn no_way_around_leads_past() {
    let target = Target::start(Script::constant(std::time::Duration::ZERO));
    let url = target.url("/");
    for words in [
        &["--connect-to", "192.0.2.1:80"][..],
        &["--connect-to", "192.0.2.1:80", "--allow-target", "127.0.0.0/8"],
        &["--connect-to", "192.0.2.1:80", "--allow-target", "192.0.2.2"],
        &["--connect-to", "169.254.169.254:80", "--allow-target", "192.0.2.0/24"],
        &["--connect-to", "192.0.2.1:80", "--once"],
    ] {
        trial().program().args(["run", &url]).args(words).run().expect_exit(REFUSED);
    }
    assert_eq!(target.truth().connections, 0);
}

#[test]
fn a_name_is_judged_by_every_address_it_has() {
    let name = "a_name_is_judged_by_every_address_it_has";
    if !NetNs::available(name) {
        return;
    }
    let trial = trial();
    let hosts = "127.0.0.1 localhost\n192.0.2.1 public.test\n169.254.169.254 meta.test\n\
                 127.0.0.1 mixed.test\n192.0.2.1 mixed.test\n";
    let hosts = trial.place().write("hosts", hosts);
    let script = format!(
        "mount --bind {hosts} /etc/hosts; \
         for name in public.test meta.test mixed.test; do \
           code=0; \"$0\" run http://$name/ -n 1 -c 1 || code=$?; echo $name $code; \
         done"
    );
    let outcome =
        NetNs::mounts(&trial.program().arguments()[0], &script).in_folder(trial.place().path()).run();
    outcome.expect_exit(0);
    assert_eq!(outcome.stdout, "public.test 5\nmeta.test 5\nmixed.test 5\n", "{outcome}");
    assert!(
        outcome.stderr.contains("--allow-target public.test"),
        "a name is allowed by its name: {outcome}"
    );
    assert!(trial.place().runs("runs").is_empty());
}

#[test]
fn what_is_allowed_is_let_through() {
    if !NetNs::available("what_is_allowed_is_let_through") {
        return;
    }
    // In its own network namespace, 192.0.2.1 is this host, so only the guard prevents the
    // connection.
    let trial = trial();
    let script = "ip link set lo up; ip address add 192.0.2.1/32 dev lo; \
                  \"$0\" serve --listen 192.0.2.1:8080 >serve.txt & serve=$!; \
                  tries=0; until \"$0\" run http://192.0.2.1:8080/ -n 10 -c 2 --format json \
                    --allow-target 192.0.2.0/24 > result.json || [ $((tries += 1)) -gt 100 ]; do :; done; \
                  kill $serve; cat result.json";
    let outcome = NetNs::shell(&trial.program().arguments()[0], script).in_folder(trial.place().path()).run();
    let result = outcome.expect_exit(0).result();
    assert_eq!(result.count("requests.done"), 10, "{result}");
}
