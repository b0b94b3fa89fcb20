//! Receivers that are slow, wrong or gone: intervals are lost and counted, and nothing hangs.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use wavetank_metrics::{Loss, Outputs};
use wavetank_testkit::Stamp;

use crate::support::{output, receiver, request, respond, snapshot};

/// More than the end of a run may wait for outputs.
const LIMIT: Duration = Duration::from_mins(1);

/// Ends the outputs, which takes no longer than the limit, and returns their only loss.
#[track_caller]
fn lost(outputs: &mut Outputs) -> Loss {
    let began = Stamp::now();
    let mut losses = outputs.finish(false);
    assert!(Stamp::now().since(began) < LIMIT, "it hangs");
    assert_eq!(losses.len(), 1, "{losses:?}");
    losses.remove(0)
}

/// A receiver that treats two connections with `answer` loses the only interval, for a reason with
/// `says` in it.
#[track_caller]
fn check(answer: impl FnMut(TcpStream) + Send + 'static, says: &str) {
    let (address, thread) = receiver(2, answer);
    let mut outputs = output(&format!("otlp=http://me:hidden@{address}"));
    outputs.give(snapshot(1));
    let loss = lost(&mut outputs);
    assert_eq!((loss.lost, loss.all), (1, 1), "{loss:?}");
    assert!(loss.reason.contains(says) && !loss.reason.contains("hidden"), "{loss:?}");
    assert_eq!(outputs.new_problems().len(), 1, "the first loss is reported");
    assert_eq!(outputs.new_problems(), [], "it is reported once");
    thread.join().expect("the receiver ends");
}

#[test]
fn a_receiver_that_refuses_the_data() {
    check(
        |mut stream| {
            request(&mut stream);
            let text = "HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\nContent-Length: 9\r\n\r\nno\x1b space";
            respond(&mut stream, text);
        },
        "it answered 500: no",
    );
}

#[test]
fn a_receiver_that_redirects() {
    check(
        |mut stream| {
            request(&mut stream);
            let text = "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
            respond(&mut stream, text);
        },
        "it answered 302",
    );
}

#[test]
fn a_receiver_that_closes_each_connection() {
    check(drop, "");
}

#[test]
fn a_receiver_that_answers_nonsense() {
    check(
        |mut stream| {
            request(&mut stream);
            respond(&mut stream, "SSH-2.0-OpenSSH\r\n\r\n");
        },
        "",
    );
}

#[test]
fn a_receiver_that_ends_in_the_middle_of_its_response() {
    check(
        |mut stream| {
            request(&mut stream);
            respond(&mut stream, "HTTP/1.1 2");
        },
        "",
    );
}

#[test]
fn a_receiver_that_is_not_there() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let mut outputs = output(&format!("prometheus-write=http://{address}"));
    outputs.give(snapshot(1));
    outputs.give(snapshot(2));
    let loss = lost(&mut outputs);
    assert_eq!((loss.lost, loss.all), (2, 2), "{loss:?}");
    assert!(loss.reason.contains("refused"), "{loss:?}");
}

#[test]
fn a_receiver_that_never_answers_fills_the_queue() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let address = listener.local_addr().expect("it is bound");
    let mut outputs = output(&format!("influx=http://{address}/load"));
    let began = Stamp::now();
    (0..100).for_each(|count| outputs.give(snapshot(count)));
    assert!(Stamp::now().since(began) < LIMIT, "giving waits");
    assert!(outputs.lost()[0].1 >= 60, "{:?}", outputs.lost());
    let loss = lost(&mut outputs);
    assert_eq!((loss.lost, loss.all), (100, 100), "{loss:?}");
    assert!(loss.reason.contains("intervals wait"), "{loss:?}");
}

#[test]
fn a_receiver_that_comes_back_gets_all_counts() {
    let mut connections = 0;
    let (address, thread) = receiver(2, move |mut stream| {
        connections += 1;
        let (_, body) = request(&mut stream);
        let status = if connections == 1 { "503 Busy" } else { "204 No Content" };
        respond(&mut stream, &format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"));
        body
    });
    let mut outputs = output(&format!("influx=http://{address}/load"));
    outputs.give(snapshot(5));
    outputs.give(snapshot(9));
    let loss = lost(&mut outputs);
    assert_eq!((loss.lost, loss.all), (1, 2), "{loss:?}");
    let bodies = thread.join().expect("the receiver ends");
    assert!(String::from_utf8_lossy(&bodies[1]).contains(" value=9i "), "{bodies:?}");
}

#[test]
fn a_scraper_that_sends_nothing_or_nonsense() {
    let port = wavetank_testkit::free_port();
    let mut outputs = output(&format!("prometheus=127.0.0.1:{port}"));
    outputs.give(snapshot(3));
    let connect = || TcpStream::connect(("127.0.0.1", port)).expect("the endpoint is open");
    let ask = |text: &str| {
        let mut stream = connect();
        stream.write_all(text.as_bytes()).expect("it reads");
        // It may close before all was read.
        let mut bytes = Vec::new();
        let _ = std::io::Read::read_to_end(&mut stream, &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    assert!(ask("SSH-2.0-x\r\n\r\n").starts_with("HTTP/1.1 400 "));
    assert!(ask("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    assert!(ask("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(ask("HEAD /metrics HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
    let silent = connect();
    let text = ask("GET /metrics?x=1 HTTP/1.1\r\nAccept: application/openmetrics-text;version=1.0.0\r\n\r\n");
    assert!(text.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text;"), "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
    drop(silent);
    // A client that does not read its response does not keep others from theirs.
    let mut many = snapshot(3);
    let family = many.families[2].clone();
    many.families = vec![family; 2_000];
    outputs.give(many);
    let mut deaf = connect();
    deaf.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("it reads");
    assert!(ask("HEAD /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
    drop(deaf);
    assert_eq!(outputs.finish(false), []);
}
