//! The flash sale: who may buy, the responses, and that no more is sold than the stock.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, thread};

use serde_json::Value;
use wavetank_plan::EngineChoice;
use wavetank_target::{ServeOptions, ShopOptions, start};

use crate::serve::client::{Answer, Client, engines, get, serve};

fn on(engine: EngineChoice, threads: u32) -> ServeOptions {
    ServeOptions { threads: Some(threads), engine, ..ServeOptions::default() }
}

/// A POST of `body` with `cookie`.
fn post(path: &str, cookie: &str, body: &str) -> String {
    let len = body.len();
    format!("POST {path} HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\nContent-Length: {len}\r\n\r\n{body}")
}

fn asked(client: &mut Client, request: String) -> Answer {
    client.send(request);
    client.answer()
}

/// Begins a sale that is open; returns its article.
fn begin(client: &mut Client, stock: u64) -> String {
    let begun = asked(client, post("/admin/sale", "", &format!("{{\"stock\": {stock}}}")));
    assert_eq!(begun.status, 200, "{begun:?}");
    json(&begun)["event1"]["sku"].as_str().expect("a text").to_owned()
}

/// Logs in; returns the cookie.
fn log_in(client: &mut Client, user: &str) -> String {
    let said = asked(client, post("/api/login", "", &format!("user={user}&password=secret-{user}")));
    assert_eq!(said.status, 200, "{said:?}");
    let cookie = said.field("set-cookie").expect("a session");
    cookie.split(';').next().expect("a pair").to_owned()
}

fn order(sku: &str, user: &str, cookie: &str) -> String {
    post("/api/order", cookie, &format!("{{\"sku\": \"{sku}\", \"user\": \"{user}\"}}"))
}

fn json(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_else(|_| panic!("no JSON: {answer:?}"))
}

fn sale(client: &mut Client) -> Value {
    json(&client.get("/api/seckill"))
}

#[test]
fn one_article_goes_to_one_user() {
    for engine in engines() {
        let (server, at) = serve(on(engine, 2));
        let mut client = Client::connect(at);
        let first = sale(&mut client);
        assert_eq!(
            (&first["stock"], &first["sold"], &first["left"]),
            (&1_000.into(), &0.into(), &1_000.into())
        );
        assert_eq!((&first["event1"]["sku"], &first["event1"]["state"]), (&"P0001".into(), &"open".into()));
        let sku = begin(&mut client, 2);
        assert_eq!(sku, "P0002");
        let shown = client.get("/api/seckill");
        assert_eq!(
            (shown.field("cache-control"), shown.field("content-type")),
            (Some("no-store"), Some("application/json"))
        );
        let users = ["ann", "bob", "eve"].map(|user| (user, log_in(&mut client, user)));
        let mut buy = |user: usize, sku: &str| {
            let (user, cookie) = &users[user];
            let said = asked(&mut client, order(sku, user, cookie));
            (said.status, json(&said)["result"].as_str().expect("a text").to_owned())
        };
        let said = |status: u16, text: &str| (status, text.to_owned());
        assert_eq!(buy(0, &sku), said(200, "sold"));
        assert_eq!(buy(0, &sku), said(409, "bought_before"));
        assert_eq!(buy(1, &sku), said(200, "sold"));
        assert_eq!(buy(2, &sku), said(409, "sold_out"));
        assert_eq!(buy(1, &sku), said(409, "bought_before"));
        let shown = sale(&mut client);
        assert_eq!((&shown["sold"], &shown["event1"]["state"]), (&2.into(), &"sold_out".into()));
        let (ann, cookie) = &users[0];
        assert_eq!(asked(&mut client, order("P0001", ann, cookie)).status, 404, "another sale's article");
        let sku = begin(&mut client, 2);
        assert_eq!(asked(&mut client, order(&sku, ann, cookie)).status, 200, "another sale");
        let truth = server.truth();
        assert_eq!((truth.paths["/api/order"], truth.statuses[&409], truth.requests), (7, 3, truth.answers));
    }
}

#[test]
fn no_client_buys_early_or_as_another_user() {
    let (_server, at) = serve(on(EngineChoice::Epoll, 1));
    let mut client = Client::connect(at);
    let begun = asked(&mut client, post("/admin/sale", "", "{\"stock\": \"1k\", \"opens_in\": \"1h\"}"));
    let shown = json(&begun);
    let countdown = shown["event1"]["countdown_ms"].as_i64().expect("a number");
    assert!((3_590_000..=3_600_000).contains(&countdown), "{shown}");
    assert_eq!(shown["event1"]["state"], "waiting");
    let cookie = log_in(&mut client, "ann");
    let early = asked(&mut client, order("P0002", "ann", &cookie));
    assert_eq!((early.status, &json(&early)["result"]), (403, &"too_early".into()));
    begin(&mut client, 1);
    for (user, cookie, status) in [
        ("bob", cookie.as_str(), 403),
        ("ann", "", 401),
        ("ann", "session=YW5u.AAAA", 401),
        ("ann", &cookie.replace("session=", "session=Y"), 401),
    ] {
        let refused = asked(&mut client, order("P0003", user, cookie));
        assert_eq!(refused.status, status, "{user} with {cookie}: {refused:?}");
        assert_eq!(refused.field("www-authenticate").is_some(), status == 401, "{refused:?}");
    }
    let wrong = asked(&mut client, post("/api/login", "", "user=ann&password=secret-bob"));
    assert_eq!((wrong.status, wrong.field("set-cookie")), (401, None));
    assert_eq!(asked(&mut client, order("P0003", "ann", &cookie)).status, 200);
}

#[test]
fn what_cannot_be_understood_is_reported() {
    let (server, at) = serve(on(EngineChoice::Epoll, 1));
    let mut client = Client::connect(at);
    for (path, body) in [
        ("/api/login", ""),
        ("/api/login", "user=ann"),
        ("/api/login", "{\"user\": \"ann\"}"),
        ("/api/order", "sku=P0001&user=ann"),
        ("/api/order", "{\"sku\": 1, \"user\": \"ann\"}"),
        ("/admin/sale", "{\"stock\": -1}"),
        ("/admin/sale", "[[[["),
    ] {
        let said = asked(&mut client, post(path, "", body));
        let text = String::from_utf8(said.body.clone()).expect("text");
        assert_eq!(
            (said.status, text.contains("must be"), text.lines().count()),
            (400, true, 1),
            "{path} {said:?}"
        );
    }
    for path in ["/api/login", "/api/order", "/admin/sale"] {
        let said = client.get(path);
        assert_eq!((said.status, said.field("allow")), (405, Some("POST")), "{path}");
    }
    let said = asked(&mut client, post("/api/seckill", "", ""));
    assert_eq!((said.status, said.field("allow")), (405, Some("GET, HEAD")));
    let mut client = Client::connect(at);
    client.send(post("/api/order", "", &"x".repeat(5_000)));
    assert_eq!(client.answer().status, 413);
    assert_eq!(server.truth().statuses[&400], 7);
}

/// Requests pipelined on one connection are answered in order, however long each one has to wait.
#[test]
fn pipelined_answers_keep_their_order() {
    for engine in engines() {
        let (_server, at) = serve(on(engine, 1));
        let mut client = Client::connect(at);
        let sku = begin(&mut client, 1);
        let cookie = log_in(&mut client, "ann");
        let all = [
            (get("/delay/20ms"), 200),
            (order(&sku, "ann", &cookie), 200),
            (get("/status/418"), 418),
            (get("/tier/query"), 200),
            (order(&sku, "ann", &cookie), 409),
            (get("/tier/transaction?work=5ms"), 200),
            (get("/api/seckill"), 200),
            (get("/status/404"), 404),
        ];
        client.send(all.iter().map(|(request, _)| request.as_str()).collect::<String>());
        let statuses: Vec<_> = all.iter().map(|_| client.answer().status).collect();
        assert_eq!(statuses, all.map(|(_, status)| status));
    }
}

#[test]
fn who_leaves_before_the_answer_leaves_nothing_behind() {
    for engine in engines() {
        let (server, at) = serve(on(engine, 1));
        let mut last = Client::connect(at);
        let sku = begin(&mut last, 1_000);
        for buyer in 0..200 {
            let user = format!("u{buyer}");
            let cookie = log_in(&mut last, &user);
            let mut client = Client::connect(at);
            client.send(order(&sku, &user, &cookie));
            if buyer % 2 == 0 {
                client.send(get("/tier/query").repeat(3));
            }
        }
        // Orders are carried out in order of arrival, and this one comes last.
        let cookie = log_in(&mut last, "last");
        assert_eq!(asked(&mut last, order(&sku, "last", &cookie)).status, 200);
        last.get("/delay/300ms");
        assert_eq!(server.truth().connections.open, 1);
        let sold = sale(&mut last)["sold"].as_u64();
        assert!(sold <= Some(201) && sold > Some(0), "{sold:?}");
    }
}

/// 2,000 buyers on 40 connections for 300 articles: exactly 300 are sold, despite all races.
#[test]
fn never_more_is_sold_than_there_is() {
    const BUYERS: u64 = 2_000;
    const CONNECTIONS: u64 = 40;
    const STOCK: u64 = 300;
    for engine in engines() {
        let (server, at) = serve(on(engine, 4));
        let sku = begin(&mut Client::connect(at), STOCK);
        let (sold, refused) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for connection in 0..CONNECTIONS {
                let (sku, sold, refused) = (&sku, &sold, &refused);
                scope.spawn(move || {
                    let mut client = Client::connect(at);
                    let mine = (0..BUYERS).filter(|buyer| buyer % CONNECTIONS == connection);
                    let orders: Vec<_> = mine
                        .map(|buyer| {
                            let user = format!("u{buyer}");
                            let cookie = log_in(&mut client, &user);
                            order(sku, &user, &cookie)
                        })
                        .collect();
                    // All are sent together, each one twice: a user who has bought cannot buy
                    // again.
                    client.send(orders.concat().repeat(2));
                    for _ in 0..2 * orders.len() {
                        let counter = if client.answer().status == 200 { sold } else { refused };
                        counter.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let shown = sale(&mut Client::connect(at));
        assert_eq!((sold.into_inner(), refused.into_inner()), (STOCK, 2 * BUYERS - STOCK));
        assert_eq!((&shown["sold"], &shown["left"]), (&STOCK.into(), &0.into()));
        assert_eq!(server.truth().statuses[&409], 2 * BUYERS - STOCK);
    }
}

#[test]
fn a_file_keeps_what_was_sold() {
    let folder = std::env::temp_dir().join(format!("wavetank-shop-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    let file = folder.join("sale.db");
    let options = || ServeOptions {
        threads: Some(2),
        shop: ShopOptions { database: Some(file.clone()), ..ShopOptions::default() },
        ..ServeOptions::default()
    };
    let buy = |at: SocketAddr, sku: &str, user: &str| {
        let mut client = Client::connect(at);
        let cookie = log_in(&mut client, user);
        (asked(&mut client, order(sku, user, &cookie)).status, cookie)
    };
    let (server, at) = serve(options());
    let sku = begin(&mut Client::connect(at), 3);
    let (status, cookie) = buy(at, &sku, "ann");
    assert_eq!(status, 200);
    for path in ["/tier/transaction", "/tier/query"] {
        assert_eq!(Client::connect(at).get(path).status, 200, "{path}");
    }
    let taken = start(ServeOptions { listen: vec![([127, 0, 0, 1], 0).into()], ..options() });
    assert!(taken.expect_err("another server uses it").message.contains("another server"));
    server.stop();
    let (server, at) = serve(options());
    let shown = sale(&mut Client::connect(at));
    assert_eq!((&shown["event1"]["sku"], &shown["sold"]), (&sku.as_str().into(), &1.into()), "{shown}");
    let again = asked(&mut Client::connect(at), order(&sku, "ann", &cookie));
    assert_eq!(again.status, 409, "the session holds, and she has bought: {again:?}");
    assert_eq!(buy(at, &sku, "bob").0, 200);
    assert_eq!(server.database_fault(), None);
    server.stop();
    fs::write(folder.join("other"), "text that is no database, of more than a hundred bytes".repeat(3))
        .expect("a file");
    for name in ["other", "no/such/folder"] {
        let mut wrong = options();
        wrong.shop.database = Some(folder.join(name));
        wrong.listen = vec![([127, 0, 0, 1], 0).into()];
        let error = start(wrong).expect_err(name);
        assert_eq!((error.code.as_str(), error.exit as u8), ("bad_database", 5), "{error}");
    }
    fs::remove_dir_all(folder).expect("ours");
}
