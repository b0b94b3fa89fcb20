//! A user's cookies: which are sent where, in which order, until when, and how many.

use proptest::prelude::*;
use wavetank_journey::cookies::{CookieFate, Jar, Site};

const NOW: i64 = 1_600_000_000;

/// `https://host/path` or `http://host/path`.
fn site(address: &str) -> Site<'_> {
    let (scheme, rest) = address.split_once("://").expect("has a scheme");
    let at = rest.find('/').expect("has a path");
    Site { host: &rest[..at], path: &rest[at..], secure: scheme == "https" }
}

fn jar(from: &str, headers: &[&str]) -> Jar {
    let mut jar = Jar::default();
    for header in headers {
        jar.take(header.as_bytes(), &site(from), NOW);
    }
    jar
}

fn sent(jar: &Jar, to: &str, now: i64) -> String {
    let mut out = b"|".to_vec();
    let any = jar.render(&site(to), now, &mut out);
    assert_eq!(any, out.len() > 1);
    String::from_utf8(out).expect("is text").split_off(1)
}

/// Headers from one address; what a request to another carries.
fn check(from: &str, headers: &[&str], to: &[(&str, &str)]) {
    let jar = jar(from, headers);
    for (to, expected) in to {
        assert_eq!(sent(&jar, to, NOW), *expected, "{headers:?} from {from}, sent to {to}");
    }
}

#[test]
fn a_cookie_goes_back_to_its_host_only() {
    check(
        "http://a.org/",
        &["x=1"],
        &[
            ("http://a.org/", "x=1"),
            ("https://a.org/deep/er?q", "x=1"),
            ("http://b.a.org/", ""),
            ("http://xa.org/", ""),
            ("http://org/", ""),
        ],
    );
}

#[test]
fn a_domain_widens_it_to_the_hosts_below() {
    let to = &[
        ("http://a.org/", "x=1"),
        ("http://b.a.org/", "x=1"),
        ("http://c.b.a.org/", "x=1"),
        ("http://xa.org/", ""),
        ("http://other.org/", ""),
    ];
    for header in ["x=1; domain=a.org", "x=1; Domain=.A.ORG", "x=1; domain=b.a.org; domain=a.org"] {
        check("http://b.a.org/", &[header], to);
    }
    let fate = |from: &str, header: &str| Jar::default().take(header.as_bytes(), &site(from), NOW);
    for (from, header) in [
        ("http://a.org/", "x=1; domain=b.a.org"),
        ("http://a.org/", "x=1; domain=other.org"),
        ("http://a.org/", "x=1; domain=org"),
        ("http://127.0.0.1/", "x=1; domain=0.0.1"),
        ("http://a.org/", "x=1; domain=rg"),
    ] {
        assert!(matches!(fate(from, header), CookieFate::Ignored(_)), "{header} from {from}");
    }
    check("http://127.0.0.1/", &["x=1; domain=127.0.0.1"], &[("http://127.0.0.1/", "x=1")]);
    check(
        "http://localhost/",
        &["x=1; domain=localhost"],
        &[("http://localhost/", "x=1"), ("http://b.localhost/", "")],
    );
}

#[test]
fn paths_confine_a_cookie() {
    check(
        "http://a.org/shop/cart",
        &["folder=1", "given=2; path=/shop/cart", "root=3; path=/", "slash=4; path=/shop/"],
        &[
            ("http://a.org/shop/cart", "given=2; slash=4; folder=1; root=3"),
            ("http://a.org/shop/cart/x", "given=2; slash=4; folder=1; root=3"),
            ("http://a.org/shop/cartel", "slash=4; folder=1; root=3"),
            ("http://a.org/shop", "folder=1; root=3"),
            ("http://a.org/shopping", "root=3"),
            ("http://a.org/", "root=3"),
        ],
    );
    check("http://a.org/one", &["x=1", "y=2; path=relative"], &[("http://a.org/", "x=1; y=2")]);
}

#[test]
fn secure_cookies_wait_for_tls() {
    check(
        "https://a.org/",
        &["x=1; secure", "y=2"],
        &[("http://a.org/", "y=2"), ("https://a.org/", "x=1; y=2")],
    );
}

#[test]
fn cookies_end() {
    let jar = jar("http://a.org/", &["x=1; max-age=10", "y=2; expires=Sun, 13 Sep 2020 12:26:45 GMT", "z=3"]);
    assert_eq!(sent(&jar, "http://a.org/", NOW + 4), "x=1; y=2; z=3");
    assert_eq!(sent(&jar, "http://a.org/", NOW + 5), "x=1; z=3");
    assert_eq!(sent(&jar, "http://a.org/", NOW + 10), "z=3");
}

#[test]
fn a_cookie_is_replaced_removed_and_forgotten() {
    let home = site("http://a.org/");
    let mut jar = jar("http://a.org/", &["x=1", "y=2"]);
    let steps = [
        ("x=3", CookieFate::Kept, "x=3; y=2"),
        ("x=longer", CookieFate::Kept, "x=longer; y=2"),
        ("x=4; path=/", CookieFate::Kept, "x=4; y=2"),
        ("X=5", CookieFate::Kept, "x=4; y=2; X=5"),
        ("x=; max-age=0", CookieFate::Removed, "y=2; X=5"),
        ("x=; max-age=0", CookieFate::Removed, "y=2; X=5"),
        ("y=; expires=Thu, 01 Jan 1970 00:00:00 GMT", CookieFate::Removed, "X=5"),
        ("X=; max-age=-1", CookieFate::Removed, ""),
    ];
    for (header, fate, expected) in steps {
        assert_eq!(jar.take(header.as_bytes(), &home, NOW), fate, "{header}");
        assert_eq!(sent(&jar, "http://a.org/", NOW), expected, "after {header}");
    }
    assert!(jar.is_empty());
    assert_eq!(std::mem::size_of::<Jar>(), std::mem::size_of::<usize>(), "an empty jar is a pointer");
    jar.take(b"x=1", &home, NOW);
    assert_eq!(jar.value(b"x", &home, NOW), Some(b"1".as_slice()));
    jar.clear();
    assert_eq!(jar.value(b"x", &home, NOW), None);
}

#[test]
fn a_full_jar_drops_what_has_ended_and_then_the_oldest() {
    let home = site("http://a.org/");
    let mut jar = jar("http://a.org/", &["old=1", "brief=2; max-age=1"]);
    for number in 0..148 {
        jar.take(format!("n{number}=x").as_bytes(), &home, NOW);
    }
    assert_eq!(jar.len(), 150);
    jar.take(b"one=more", &home, NOW + 5);
    assert_eq!((jar.len(), jar.value(b"old", &home, NOW)), (150, Some(b"1".as_slice())));
    assert_eq!(jar.value(b"brief", &home, NOW), None);
    jar.take(b"two=more", &home, NOW + 5);
    assert_eq!((jar.len(), jar.value(b"old", &home, NOW)), (150, None));
    for number in 0..40 {
        jar.take(format!("big{number}={}", "x".repeat(4000)).as_bytes(), &home, NOW);
    }
    assert!(jar.len() < 20, "64 KiB hold 16 of these, not {}", jar.len());
    assert!(jar.value(b"big39", &home, NOW).is_some());
}

proptest! {
    #[test]
    fn any_header_is_survived(
        headers: Vec<Vec<u8>>, text in "[ab]=[a-z]{0,3}(; (domain=(a.org|b.a.org|org)|path=/[a-z]{0,2}|max-age=[0-9-]{0,3}|secure)){0,4}",
        host in "[a-z.]{0,9}", path in "[a-z/]{0,9}",
    ) {
        let mut jar = Jar::default();
        let site = Site { host: &host, path: &path, secure: false };
        for header in headers.iter().map(Vec::as_slice).chain([text.as_bytes()]) {
            jar.take(header, &site, NOW);
            jar.take(header, &super_site(), NOW);
        }
        let mut out = Vec::new();
        jar.render(&site, NOW, &mut out);
        jar.render(&super_site(), NOW, &mut out);
        prop_assert!(!out.contains(&b'\n') && !out.contains(&b'\r'));
    }
}

fn super_site() -> Site<'static> {
    Site { host: "b.a.org", path: "/x/y", secure: true }
}
