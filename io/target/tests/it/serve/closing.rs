//! `/close` on connections with streams: uploads in progress are finished.

use wavetank_target::ServeOptions;
use wavetank_wire::h1::Limits;
use wavetank_wire::h2;

use crate::serve::client::{Client, engines, serve};
use crate::serve::http3_client::{Http3Client, Seen, serve_http3};

const UPLOAD: &str = "POST /echo HTTP/2\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody";
const CLOSE: &str = "GET /close HTTP/2\r\nHost: x\r\n\r\n";

#[test]
fn uploads_are_finished_over_http2() {
    for engine in engines() {
        let (server, at) = serve(ServeOptions { engine, ..ServeOptions::default() });
        let (mut client, mut seen) = (Client::connect(at), Seen::default());
        let mut http = h2::Client::new(Limits::default(), false);
        http.request(0, UPLOAD.as_bytes(), false).expect("a request");
        let mut start = std::mem::take(http.out());
        // The frame of the body, with its header.
        let rest = start.split_off(start.len() - 13);
        assert!(rest.ends_with(b"body"), "the default window has room");
        http.request(1, CLOSE.as_bytes(), false).expect("a request");
        client.send([start, std::mem::take(http.out())].concat());
        let mut read = |client: &mut Client, http: &mut h2::Client<u32>| {
            let bytes = client.read_once();
            http.read(&bytes, &mut seen).expect("a good server");
            (seen.ends.clone(), bytes.is_empty())
        };
        while http.parting().is_none() {
            assert!(!read(&mut client, &mut http).1, "{engine:?}: it announces the end");
        }
        client.send([std::mem::take(http.out()), rest].concat());
        let ends = loop {
            let (ends, is_over) = read(&mut client, &mut http);
            if is_over {
                break ends;
            }
        };
        assert_eq!(ends, ["1 200 12", "0 200 4"], "{engine:?}");
        drop(client);
        server.stop();
    }
}

#[test]
fn uploads_are_finished_over_http3() {
    let (_server, at) = serve_http3();
    let mut client = Http3Client::connect(at);
    let rest = client.ask(0, UPLOAD, 2);
    client.ask(1, CLOSE, 0);
    client.turn_until(Http3Client::is_parting);
    client.write(0, &rest, true);
    client.turn_until(|client| client.has_ended);
    assert_eq!(client.seen.ends, ["1 200 12", "0 200 4"]);
}
