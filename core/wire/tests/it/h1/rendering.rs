//! Requests and response heads exactly as they are sent.

use wavetank_wire::h1::{
    ParseError, RequestParts, RequestReader, ResponseParts, Version, is_field_name, is_field_value,
    push_decimal, render_request, render_response_head,
};

const GET: RequestParts<'_> = RequestParts {
    method: "GET",
    target: "/a?b",
    version: Version::Http11,
    host: "x:80",
    keep_alive: true,
    headers: &[],
    body: b"",
};

fn check(parts: &RequestParts<'_>, expected: &str) {
    assert_eq!(String::from_utf8(render_request(parts)).unwrap(), expected);
}

#[test]
fn requests_without_a_body() {
    check(&GET, "GET /a?b HTTP/1.1\r\nHost: x:80\r\n\r\n");
    let headers = &[("User-Agent", "wavetank/1"), ("Accept", "*/*")];
    let expected = "GET /a?b HTTP/1.1\r\nHost: x:80\r\nUser-Agent: wavetank/1\r\nAccept: */*\r\n\r\n";
    check(&RequestParts { headers, ..GET }, expected);
    for method in ["POST", "PUT", "PATCH"] {
        let expected = format!("{method} /a?b HTTP/1.1\r\nHost: x:80\r\nContent-Length: 0\r\n\r\n");
        check(&RequestParts { method, ..GET }, &expected);
    }
    check(&RequestParts { method: "DELETE", ..GET }, "DELETE /a?b HTTP/1.1\r\nHost: x:80\r\n\r\n");
}

#[test]
fn the_connection_is_named_only_against_the_version() {
    let close = RequestParts { keep_alive: false, ..GET };
    check(&close, "GET /a?b HTTP/1.1\r\nHost: x:80\r\nConnection: close\r\n\r\n");
    let kept = RequestParts { version: Version::Http10, ..GET };
    check(&kept, "GET /a?b HTTP/1.0\r\nHost: x:80\r\nConnection: keep-alive\r\n\r\n");
    check(&RequestParts { keep_alive: false, ..kept }, "GET /a?b HTTP/1.0\r\nHost: x:80\r\n\r\n");
    let own = RequestParts { headers: &[("connection", "TE, close")], ..close };
    check(&own, "GET /a?b HTTP/1.1\r\nHost: x:80\r\nconnection: TE, close\r\n\r\n");
}

#[test]
fn the_users_host_comes_first_and_alone() {
    let headers = &[("Accept", "*/*"), ("hOsT", "other")];
    check(&RequestParts { headers, ..GET }, "GET /a?b HTTP/1.1\r\nHost: other\r\nAccept: */*\r\n\r\n");
    let two = RequestParts { headers: &[("Host", "one"), ("Host", "two")], ..GET };
    check(&two, "GET /a?b HTTP/1.1\r\nHost: one\r\nHost: two\r\n\r\n");
}

#[test]
fn bodies_are_framed_unless_the_user_did() {
    let post = RequestParts { method: "POST", body: b"hello", ..GET };
    check(&post, "POST /a?b HTTP/1.1\r\nHost: x:80\r\nContent-Length: 5\r\n\r\nhello");
    check(
        &RequestParts { method: "GET", ..post },
        "GET /a?b HTTP/1.1\r\nHost: x:80\r\nContent-Length: 5\r\n\r\nhello",
    );
    let own = RequestParts { headers: &[("content-length", "3")], ..post };
    check(&own, "POST /a?b HTTP/1.1\r\nHost: x:80\r\ncontent-length: 3\r\n\r\nhello");
    let coded = RequestParts { headers: &[("Transfer-Encoding", "chunked")], ..post };
    let head = "POST /a?b HTTP/1.1\r\nHost: x:80\r\nTransfer-Encoding: chunked\r\n\r\n";
    check(&coded, &format!("{head}5\r\nhello\r\n0\r\n\r\n"));
    check(&RequestParts { body: b"", ..coded }, &format!("{head}0\r\n\r\n"));
    let other = RequestParts { headers: &[("Transfer-Encoding", "gzip")], ..post };
    check(&other, "POST /a?b HTTP/1.1\r\nHost: x:80\r\nTransfer-Encoding: gzip\r\n\r\nhello");
}

fn check_head(parts: &ResponseParts<'_>, expected: &str) {
    let mut out = b"before".to_vec();
    render_response_head(&mut out, parts);
    assert_eq!(String::from_utf8(out).unwrap(), format!("before{expected}"));
}

#[test]
fn response_heads() {
    let ok = ResponseParts {
        status: 200,
        http_10: false,
        keep_alive: true,
        content_length: Some(0),
        headers: &[],
    };
    check_head(&ok, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let close = ResponseParts { keep_alive: false, ..ok };
    check_head(&close, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let kept = ResponseParts { http_10: true, ..ok };
    check_head(&kept, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n");
    let until_close = ResponseParts { content_length: None, http_10: true, ..close };
    check_head(&until_close, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    let headers: &[(&str, &[u8])] = &[("Server", b"wavetank"), ("A", b"")];
    let teapot = ResponseParts { status: 418, headers, ..ok };
    check_head(&teapot, "HTTP/1.1 418 I'm a teapot\r\nServer: wavetank\r\nA: \r\nContent-Length: 0\r\n\r\n");
    check_head(&ResponseParts { status: 204, ..ok }, "HTTP/1.1 204 No Content\r\n\r\n");
    check_head(&ResponseParts { status: 100, ..ok }, "HTTP/1.1 100 Continue\r\n\r\n");
    check_head(&ResponseParts { status: 777, ..ok }, "HTTP/1.1 777 \r\nContent-Length: 0\r\n\r\n");
}

#[test]
fn numbers_in_digits() {
    for number in [0, 9, 10, 99, 100, 12_345, u64::from(u32::MAX), u64::MAX] {
        let mut out = Vec::new();
        push_decimal(&mut out, number);
        assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
    }
}

#[test]
fn names_and_values_that_would_break_a_line() {
    assert!(is_field_name("X-A_b~1") && !is_field_name("") && !is_field_name("a b") && !is_field_name("a:"));
    assert!(!is_field_name("a\r\nb") && !is_field_name("ä"));
    assert!(
        is_field_value("")
            && is_field_value("a\tb ä")
            && !is_field_value("a\r\nb: c")
            && !is_field_value("\0")
    );
}

/// The text of a fault is for people: one clause without the name of a type. Each fault has a
/// status for the client.
#[test]
fn faults_speak_in_clauses() {
    let fault: ParseError = RequestReader::default().read(b"GET /\r\n", &mut ()).unwrap_err();
    assert_eq!(fault.to_string(), "the request line is not method, target and version");
    assert_eq!(fault.reason.status(), 400);
}
