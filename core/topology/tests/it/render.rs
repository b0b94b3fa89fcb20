//! Configurations for nginx and `HAProxy`: their contents, the reason for each line, and sizes that
//! do not fit.

use wavetank_grammar::Diagnostic;
use wavetank_topology::render::{HostResources, haproxy, haproxy_room, nginx};
use wavetank_topology::{Input, Lab, MachineFacts, Rendered, ServiceKind, read};

const HEAD: &str =
    "wavetank_lab: 1\nname: shop\nnetworks: {front: 10.30.0.0/24, back: 10.30.1.0/24}\nhosts:\n";

/// A balancer with one service and two addresses towards two servers.
fn balanced(service: &str) -> Lab {
    let networks = "{front: {address: 10.30.0.10}, back: {address: 10.30.1.10 to 10.30.1.11, sources: 2}}";
    let text = format!(
        "{HEAD}  lb1:\n    networks: {networks}\n    services:\n      - {service}\n  app[1-2]:\n    \
         networks: {{back: {{address: 10.30.1.1 to 10.30.1.2}}}}\n    services: [{{serve: {{listen: 9000}}}}]\n"
    );
    let files = |_: &str| Err("no such file".to_owned());
    // Of a machine that nothing is known of, nothing is refused.
    let reading = read(&Input {
        name: "lab.yaml",
        bytes: text.as_bytes(),
        files: &files,
        machine: MachineFacts::default(),
    });
    reading.lab.unwrap_or_else(|| panic!("{:?}", reading.diagnostics))
}

fn means(cpus: u32, files: u64) -> HostResources {
    let lua_modules = ["ndk.so", "lua.so"].map(|name| format!("/usr/lib/nginx/modules/{name}")).to_vec();
    HostResources { cpus, files, lua_modules }
}

/// The configuration of the first host's first service, as its `copy`.
fn rendered(lab: &Lab, copy: u32, means: &HostResources) -> Result<Rendered, Diagnostic> {
    let host = &lab.hosts[0];
    let service = &host.services[0];
    match &service.kind {
        ServiceKind::Nginx(kind) => nginx(host, service, kind, means),
        ServiceKind::Haproxy(kind) => haproxy(host, service, kind, copy, means),
        other => panic!("{other:?}"),
    }
}

/// Each of `expected` is a line of the configuration, none of `absent` a part of it.
#[track_caller]
fn check(service: &str, expected: &[&str], absent: &[&str]) {
    let text = rendered(&balanced(service), 0, &means(2, 20_000)).expect("it fits").text;
    for line in expected {
        assert!(text.lines().any(|one| one.trim() == *line), "no line `{line}` in\n{text}");
    }
    for part in absent {
        assert!(!text.contains(part), "`{part}` in\n{text}");
    }
}

#[test]
fn static_files_stay_open_and_every_worker_has_its_queue() {
    let expected = [
        "listen 80 reuseport backlog=4096;",
        "listen 81 reuseport backlog=4096;",
        "worker_processes 2;",
        "open_file_cache max=17 inactive=60s;",
        "root www;",
        "access_log off;",
    ];
    check("nginx: {listen: [80, 81], pages: {/1k: 1kB}}", &expected, &["ssl", "proxy_pass", "lua"]);
}

#[test]
fn a_proxy_keeps_connections_and_uses_all_its_addresses() {
    let servers = "[\"app1:9000\", {server: \"app2:9000\", weight: 3}]";
    let expected = [
        "listen 443 ssl reuseport backlog=4096;",
        "server 10.30.1.1:9000 max_fails=2 fail_timeout=2s;",
        "server 10.30.1.2:9000 weight=3 max_fails=2 fail_timeout=2s;",
        "keepalive 600;",
        "proxy_set_header Connection \"\";",
        "50.00% 10.30.1.10;",
        "* 10.30.1.11;",
        "proxy_bind $own_address;",
    ];
    let service = format!("nginx: {{listen: 443, tls: true, servers: {servers}, connections: 1000}}");
    check(&service, &expected, &["open_file_cache"]);
    let absent = ["keepalive 128", "proxy_http_version"];
    check("nginx: {listen: 80, servers: \"app1:9000\", keepalive: false}", &[], &absent);
}

#[test]
fn a_sale_is_lua() {
    let expected = [
        "load_module /usr/lib/nginx/modules/lua.so;",
        "init_by_lua_block { sale = require \"sale\"; sale.init(500) }",
        "location = /api/order { content_by_lua_block { sale.order() } }",
    ];
    check("nginx: {listen: 80, sale: 500}", &expected, &["root www"]);
}

#[test]
fn haproxy_over_tcp_and_http() {
    let expected = [
        "mode tcp",
        "maxconn 9936",
        "timeout client 90000ms",
        "balance leastconn",
        "default-server on-marked-down shutdown-sessions",
        "server app1 10.30.1.1:9000",
        "server app2 10.30.1.2:9000",
    ];
    let tcp =
        "mode: tcp, listen: 80, servers: \"app[1-2]:9000\", balance: leastconn, timeouts: {client: 90s}";
    check(&format!("haproxy: {{{tcp}}}"), &expected, &["http", " source ", "frontend page"]);
    let expected = [
        "mode http",
        "option httpchk GET /up",
        "default-server check inter 500ms fall 2 rise 2",
        "bind :80 backlog 4096 shards by-thread",
        "bind :8404",
        "cpu-map 1/1 1",
        "cpu-map 1/2 1",
    ];
    let http = "listen: 80, servers: \"app1:9000\", check: {http: /up, every: 500ms}, stats: 8404, threads: 2, pin: \"1\"";
    check(&format!("haproxy: {{{http}}}"), &expected, &["shutdown-sessions"]);
    let absent = ["check inter", "timeout check"];
    check("haproxy: {listen: 80, servers: \"app1:9000\", check: false}", &[], &absent);
}

#[test]
fn copies_share_out_every_port_once() {
    let words = "listen: 8080, servers: \"app[1-2]:9000\", copies: 3, source_ports: ranges, stats: 8404";
    let lab = balanced(&format!("haproxy: {{{words}}}"));
    let ranges = |copy| {
        let text = rendered(&lab, copy, &means(2, 20_000)).expect("it fits").text;
        let lines = text.lines().filter_map(|line| Some(line.trim().strip_prefix("server ")?.to_owned()));
        lines.collect::<Vec<_>>()
    };
    let all: Vec<Vec<String>> = (0..3).map(ranges).collect();
    assert_eq!(all[0][0], "app1 10.30.1.1:9000 source 10.30.1.10:8405-27447");
    assert_eq!(all[0][1], "app1-2 10.30.1.1:9000 source 10.30.1.11:8405-27447");
    assert_eq!(all[1][2], "app2 10.30.1.2:9000 source 10.30.1.10:27448-46490");
    assert_eq!(all[2][3], "app2-2 10.30.1.2:9000 source 10.30.1.11:46491-65533");
}

#[test]
fn every_line_knows_what_caused_it() {
    let words = "listen: 8080, servers: [\"app1:9000\", \"app2:9000\"], timeouts: {connect: 1s}";
    let lab = balanced(&format!("haproxy: {{{words}}}"));
    let service = &lab.hosts[0].services[0];
    let rendered = rendered(&lab, 0, &means(2, 20_000)).expect("it fits");
    let cause = |part: &str| {
        let number =
            rendered.text.lines().position(|line| line.contains(part)).expect("the line is there") + 1;
        rendered.origin_of(number).expect("something caused it")
    };
    assert_eq!(cause("bind :8080"), service.place_of("listen"));
    assert_eq!(cause("timeout connect"), service.place_of("timeouts.connect"));
    assert_eq!(cause("server app2"), service.backends()[1].place);
    assert_eq!(rendered.text.lines().count(), rendered.origins.len());
}

#[test]
fn most_directives_have_a_reason() {
    let servers = "servers: \"app1:9000\"";
    for service in [
        format!("haproxy: {{listen: 80, {servers}, stats: 81}}"),
        format!("nginx: {{listen: 80, {servers}}}"),
    ] {
        let text = rendered(&balanced(&service), 0, &means(2, 20_000)).expect("it fits").text;
        let reasons = text.lines().filter(|line| line.trim_start().starts_with("# ")).count();
        let directives = text.lines().filter(|line| !line.trim_start().starts_with('#')).count();
        assert!(reasons * 2 >= directives, "{reasons} reasons for {directives} lines:\n{text}");
    }
}

#[test]
fn what_is_left_out_is_gone_and_must_have_been_there() {
    let absent = ["open_file_cache max", "multi_accept"];
    check(
        "nginx: {listen: 80, without: [open_file_cache, reuseport]}",
        &["listen 80 backlog=4096;"],
        &absent,
    );
    let haproxy = "haproxy: {listen: 80, servers: \"app1:9000\", without: [\"timeout queue\", http-reuse]}";
    check(haproxy, &[], &["timeout queue", "http-reuse"]);
    let lab = balanced("nginx: {listen: 80, without: [use]}");
    let error = rendered(&lab, 0, &means(2, 20_000)).expect_err("there is no such directive");
    let place = lab.hosts[0].services[0].place_of("without");
    assert_eq!((error.code.as_str(), error.place), ("lab_without", Some(place)));
    assert!(error.hint.contains("open_file_cache"), "{}", error.hint);
}

/// Returns the outcome for this number of connections: a line, or the hint of an error.
#[track_caller]
fn size(service: &str, files: u64, expected: Result<&str, &str>) {
    let rendered = rendered(&balanced(service), 0, &means(2, files));
    match (&rendered, expected) {
        (Ok(found), Ok(line)) => {
            assert!(found.text.lines().any(|one| one.trim() == line), "no `{line}` in\n{}", found.text);
        }
        (Err(error), Err(hint)) => {
            assert_eq!((error.code.as_str(), error.hint.as_str()), ("lab_files_short", hint));
        }
        other => panic!("{service}: {other:?}"),
    }
}

#[test]
fn connections_must_fit_into_files() {
    assert_eq!(haproxy_room(20_000), 9_936);
    let many = |copies: u32| {
        format!("haproxy: {{listen: 80, servers: \"app1:9000\", connections: 100k, copies: {copies}}}")
    };
    size(&many(12), 20_000, Ok("maxconn 8950"));
    size(&many(1), 20_000, Err("copies: 11, which share the port"));
    size(&many(1), 1_000_000, Ok("maxconn 100064"));
    // Workers have files of their own: nginx gets as many as it takes.
    size("nginx: {listen: 80, connections: 100k}", 20_000, Ok("worker_processes 6;"));
    let two = "nginx: {listen: 80, connections: 100k, workers: 2}";
    size(two, 20_000, Err("workers: 6, or a higher limit of open files"));
}

#[test]
fn one_stock_is_one_nginx() {
    let lab = balanced("nginx: {listen: 80, sale: 5, copies: 2}");
    let error = rendered(&lab, 0, &means(2, 20_000)).expect_err("two stocks");
    assert_eq!(error.code, "lab_sale_copies");
}
