//! Several labs on one machine.

use crate::lab::place::{HOSTS, Place};

#[test]
fn labs_of_one_file_live_beside_each_other() {
    let Some(place) = Place::new("two", HOSTS) else { return };
    let (one, other) = (place.name.clone(), format!("{}-b", place.name));
    place.up();
    let again = place.lab(&["up", "lab.yaml"]).run();
    assert!(again.expect_exit(5).stderr.contains("[lab_there]"), "{again}");
    place.lab(&["up", "lab.yaml", "--lab", &other]).run().expect_exit(0);
    // They have the same addresses, and neither sees the other.
    let on = |lab: &str, command: &str| {
        let told = place.lab(&["exec", "load1", "--lab", lab, "--", "sh", "-c", command]).run();
        told.expect_exit(0).stdout.trim_end().to_owned()
    };
    on(&one, "hostname one");
    assert_eq!((on(&one, "hostname"), on(&other, "hostname")), ("one".to_owned(), "load1".to_owned()));
    assert_ne!(on(&one, "readlink /proc/self/ns/net"), on(&other, "readlink /proc/self/ns/net"));
    for words in [&["exec", "load1", "--", "true"][..], &["down"], &["logs", "load1"]] {
        let which = place.lab(words).run();
        assert!(which.expect_exit(2).stderr.contains("[lab_which]"), "{which}");
        assert!(which.stderr.contains(&format!("--lab {one}")), "{which}");
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
