//! Several labs on one machine.

use crate::lab::place::{HOSTS, Place};

#[test]
fn labs_of_one_file_live_in_parallel() {
    let Some(place) = Place::new("two", HOSTS) else { return };
    let (one, other) = (place.name.clone(), format!("{}-b", place.name));
    place.up();
    let again = place.lab(&["up", "lab.yaml"]).run();
    assert!(again.expect_exit(5).stderr.contains("[lab_there]"), "{again}");
    place.lab(&["up", "lab.yaml", "--lab", &other]).run().expect_exit(0);
    // They have the same addresses, and neither sees the other.
    let on = |lab: &str, command: &str| {
        let reported = place.lab(&["exec", "load1", "--lab", lab, "--", "sh", "-c", command]).run();
        reported.expect_exit(0).stdout.trim_end().to_owned()
    };
    on(&one, "hostname one");
    assert_eq!((on(&one, "hostname"), on(&other, "hostname")), ("one".to_owned(), "load1".to_owned()));
    assert_ne!(on(&one, "readlink /proc/self/ns/net"), on(&other, "readlink /proc/self/ns/net"));
    for words in [&["exec", "load1", "--", "true"][..], &["down"], &["logs", "load1"]] {
        let which = place.lab(words).run();
        assert!(which.expect_exit(2).stderr.contains("[lab_which]"), "{which}");
        assert!(which.stderr.contains(&format!("{one}, {other}")), "{which}");
        assert!(!which.stderr.contains(&format!("--lab {one}")), "one of them is chosen: {which}");
    }
    let status = place.lab(&["status"]).run();
    assert!(
        status.stdout.contains(&format!("lab {one}: up"))
            && status.stdout.contains(&format!("lab {other}: up")),
        "{status}"
    );
    place.lab(&["down", "--lab", &one]).run().expect_exit(0);
    assert_eq!(on(&other, "hostname"), "load1");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("both went down");
}

#[test]
fn the_only_lab_with_a_host_and_a_service_needs_no_name() {
    let Some(place) = Place::new("mine", HOSTS) else { return };
    let other = format!("{}-b", place.name);
    place.up();
    let text = |name: &str, service: &str| {
        format!(
            "wavetank_lab: 1\nname: {name}\nnetworks: {{front: 10.92.0.0/24}}\nhosts:\n  app: {{networks: [front]}}\n  \
             web: {{networks: [front], services: [{{command: {{name: {service}, run: 'echo hello; sleep 600'}}}}]}}\n"
        )
    };
    place.file("other.yaml", &text(&other, "mine"));
    place.lab(&["up", "other.yaml"]).run().expect_exit(0);
    let logs = place.lab(&["logs", "web", "mine"]).run();
    assert_eq!(logs.expect_exit(0).stdout, "hello\n", "{logs}");
    place.lab(&["fault", "web", "kill mine", "--for", "10ms"]).run().expect_exit(0);
    place.lab(&["exec", "web", "--", "true"]).run().expect_exit(0);
    // Both have this host.
    let which = place.lab(&["logs", "app"]).run();
    assert!(which.expect_exit(2).stderr.contains("[lab_which]"), "{which}");
    // A service that none of them has.
    let which = place.lab(&["fault", "web", "kill yours"]).run();
    assert!(which.expect_exit(2).stderr.contains("[lab_which]"), "{which}");
    place.lab(&["down", "--lab", &other]).run().expect_exit(0);
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("both went down");
}
