//! The flash sale on nginx and Lua, tested against the rules of the one in `wavetank serve`.

use std::net::SocketAddr;
use std::thread;

use crate::services::stand::{Stand, alone, exchange};

const SHOP: &str = "  shop1: {networks: [net], services: [{nginx: {listen: 8080, sale: 50, workers: 2}}]}\n";

fn post(place: SocketAddr, path: &str, cookie: &str, body: &str) -> (u16, String) {
    let answer = exchange(
        place,
        &format!(
            "POST {path} HTTP/1.1\r\nHost: shop1\r\nCookie: {cookie}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ),
    );
    let status = answer.split(' ').nth(1).and_then(|word| word.parse().ok());
    (status.unwrap_or_else(|| panic!("no HTTP: {answer}")), answer)
}

/// Logs `user` in and returns the cookie.
fn log_in(place: SocketAddr, user: &str) -> String {
    let (status, answer) = post(place, "/api/login", "", &format!("user={user}&password=secret-{user}"));
    assert_eq!(status, 200, "{answer}");
    let cookie = answer.lines().find_map(|line| line.strip_prefix("Set-Cookie: "));
    cookie.and_then(|line| line.split(';').next()).expect("a session").to_owned()
}

fn order(place: SocketAddr, user: &str, cookie: &str, sku: &str) -> u16 {
    post(place, "/api/order", cookie, &format!("{{\"sku\": \"{sku}\", \"user\": \"{user}\"}}")).0
}

#[test]
fn nothing_is_oversold_and_no_client_buys_twice() {
    const NAME: &str = "nothing_is_oversold_and_no_client_buys_twice";
    alone(NAME, &["nginx"], || {
        if !std::path::Path::new("/usr/lib/nginx/modules/ngx_http_lua_module.so").exists() {
            wavetank_testkit::skip(NAME, "nginx has no Lua module");
            return;
        }
        let mut stand = Stand::new(SHOP);
        stand.start();
        let place = SocketAddr::new(stand.address("shop1"), 8080);
        // 120 buyers in eight threads, each with two tries, for 50 items.
        let buyer = |thread: usize| {
            let all = (0..15).map(move |number| format!("buyer{}", thread * 15 + number));
            let outcomes = all.flat_map(|user| {
                let cookie = log_in(place, &user);
                [order(place, &user, &cookie, "P0001"), order(place, &user, &cookie, "P0001")]
            });
            outcomes.collect::<Vec<u16>>()
        };
        let outcomes: Vec<u16> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || buyer(number))).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
        });
        let count = |status| outcomes.iter().filter(|one| **one == status).count();
        assert_eq!((count(200), count(409)), (50, 190), "{outcomes:?}");
        let state = stand.get("shop1", 8080, "/api/seckill");
        assert!(
            state.contains("\"stock\":50,\"left\":0,\"sold\":50") && state.contains("no-store"),
            "{state}"
        );
    });
}

#[test]
fn its_answers_are_those_of_the_built_in_sale() {
    const NAME: &str = "its_answers_are_those_of_the_built_in_sale";
    alone(NAME, &["nginx"], || {
        if !std::path::Path::new("/usr/lib/nginx/modules/ngx_http_lua_module.so").exists() {
            wavetank_testkit::skip(NAME, "nginx has no Lua module");
            return;
        }
        let mut stand = Stand::new(SHOP);
        stand.start();
        let place = SocketAddr::new(stand.address("shop1"), 8080);
        let ann = log_in(place, "ann");
        let check = |path: &str, cookie: &str, body: &str, status: u16, part: &str| {
            let (found, answer) = post(place, path, cookie, body);
            assert!(found == status && answer.contains(part), "{path} {body}: {answer}");
        };
        check("/api/login", "", "user=ann&password=wrong", 401, "no account");
        check("/api/login", "", "user=ann", 400, "the body must be a form");
        check("/api/order", "", r#"{"sku": "P0001", "user": "ann"}"#, 401, "log in first");
        check("/api/order", &ann, r#"{"sku": "P0001", "user": "bob"}"#, 403, "another user's");
        check("/api/order", &ann, r#"{"sku": "P0007", "user": "ann"}"#, 404, "no article");
        check("/api/order", &ann, r#"{"sku": "P0001"}"#, 400, "the body must be JSON");
        check("/api/order", &ann, r#"{"sku": "P0001", "user": "ann", "n": 2}"#, 400, "the body must be JSON");
        check(
            "/admin/sale",
            "",
            r#"{"stock": "2k", "opens_in": "60s"}"#,
            200,
            "\"state\":\"waiting\"},\"stock\":2000",
        );
        check("/api/order", &ann, r#"{"sku": "P0002", "user": "ann"}"#, 403, "too_early");
        check("/admin/sale", "", r#"{"stock": 1000001}"#, 400, "the body must be JSON");
        check("/admin/sale", "", r#"{"stock": 1} x"#, 400, "the body must be JSON");
        check("/admin/sale", "", r#"{"stock": 0}"#, 200, "\"state\":\"sold_out\"");
        check("/api/order", &ann, r#"{"sku": "P0003", "user": "ann"}"#, 409, "sold_out");
        let forged = "session=YW5u.AAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        check("/api/order", forged, r#"{"sku": "P0003", "user": "ann"}"#, 401, "log in first");
        assert!(stand.get("shop1", 8080, "/api/order").contains("405"));
    });
}
