//! The effects of the TLS options: names, certificates, output.

use super::server::Server;

#[test]
fn the_server_hears_the_name() {
    let Some(server) = Server::start("the_server_hears_the_name", "good", "") else { return };
    let elsewhere = format!("--connect-to 127.0.0.1:{}", server.port());
    for (url, words, name) in [
        ("https://shop.example/", elsewhere.clone(), "shop.example"),
        (&server.url(), String::new(), "-"),
        (&server.url(), "--sni shop.example".to_owned(), "shop.example"),
        ("https://shop.example/", format!("{elsewhere} --sni localhost"), "localhost"),
    ] {
        server.forget();
        let words = format!("{words} --cacert @ca.pem -c 2 -n 6 --format json");
        let (_, seen) = server.checked(&server.program(url, &words).run());
        assert!(seen.iter().all(|one| one.name == name), "{url} {words}: {seen:?}");
    }
}

#[test]
fn a_client_certificate_is_shown_where_it_is_given() {
    let test = "a_client_certificate_is_shown_where_it_is_given";
    let Some(server) = Server::start(test, "good", "ssl_client_certificate ca.pem; ssl_verify_client on;")
    else {
        return;
    };
    for version in ["1.2", "1.3"] {
        for own in ["--cert @client.pem --key @client.key", "--cert @client.both.pem"] {
            let (_, seen) = server.run(&format!("-c 2 -n 10 --tls {version} {own}"));
            assert!(seen.iter().all(|one| one.client == "SUCCESS"), "{own}: {seen:?}");
        }
        // nginx responds with 400 to clients without a certificate.
        let missing = server.load(&format!("-c 2 -n 10 --tls {version}")).run();
        let result = missing.expect_exit(1).result();
        assert_eq!(result.count("status.400"), 10, "{result}");
    }
}

#[test]
fn insecure_takes_any_certificate() {
    for own in ["good", "expired"] {
        let Some(server) = Server::start("insecure_takes_any_certificate", own, "") else { return };
        let words = format!("--insecure -c 2 -n 10 --format json --connect-to 127.0.0.1:{}", server.port());
        let outcome = server.program("https://elsewhere.example/", &words).run();
        let (result, _) = server.checked(&outcome);
        assert_eq!(result.count("requests.done"), 10, "{result}");
        assert!(outcome.stderr.contains("certificates are not verified"), "{outcome}");
    }
}

#[test]
fn once_shows_the_certificate() {
    let Some(server) = Server::start("once_shows_the_certificate", "good", "") else { return };
    let outcome = server.program(&server.url(), "--cacert @ca.pem --once --tls 1.3").run();
    outcome.expect_exit(0);
    for said in [
        "tls        TLSv1.3 · TLS_",
        "http/1.1 in ",
        "subject  CN=shop.example",
        "names    shop.example, localhost, 127.0.0.1",
        "issuer   CN=Test CA",
        "days left",
        "verified for this name",
        "· secured ",
    ] {
        assert!(outcome.stdout.contains(said), "`{said}` is missing: {outcome}");
    }
    let outcome = server.program(&server.url(), "--insecure --once").run();
    assert!(outcome.stdout.contains("not checked (--insecure)"), "{outcome}");
}

/// The report from the archive has the same text, as for every run.
#[test]
fn the_archive_says_what_was_agreed_on() {
    let Some(server) = Server::start("the_archive_says_what_was_agreed_on", "good", "") else { return };
    let live = server.program(&server.url(), "--cacert @ca.pem -c 2 -n 20").run();
    live.expect_exit(0);
    assert!(live.stdout.contains("handshakes 2 · all full · TLSv1.3 · "), "{live}");
    assert!(live.stdout.contains("\ntls  ") && live.stdout.contains("\nconnect  "), "{live}");
    assert!(live.stderr.contains("every TLS handshake is a full one"), "{live}");
    let again = server.trial().program().args(["report", "latest"]).run();
    assert_eq!(again.stdout, live.stdout);
    let run = server.trial().place().runs("runs").remove(0);
    let read = |name: &str| std::fs::read_to_string(run.join(name)).expect("a file of the archive");
    let plan = read("plan.yaml");
    assert!(plan.contains("\ntls:\n  verify: true\n  ca:\n  - "), "{plan}");
    assert!(!plan.contains("BEGIN CERTIFICATE"), "{plan}");
    assert!(read("intervals/local.jsonl").contains("\"handshakes\":{"), "intervals contain them");
}
