//! A run's socket and its clients: real sockets, without a run.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use wavetank_control::{ControlReply, ControlRequest, ControlServer, RunFolder, client};
use wavetank_record::{LiveDoc, LiveState, LoadChangeDoc};

fn state(id: &str, at: f64) -> LiveDoc {
    LiveDoc { id: id.to_owned(), at_s: wavetank_record::Number(at), ..LiveDoc::default() }
}

fn folder(place: &tempfile::TempDir) -> RunFolder {
    RunFolder::of_user(Some(place.path()))
}

/// Replies to all requests like a run, while `body` runs.
fn serving<T>(server: &ControlServer, id: &str, body: impl FnOnce() -> T + Send) -> T
where
    T: Send,
{
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let calls = scope.spawn(|| {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            over.store(true, Ordering::Release);
            result
        });
        while !over.load(Ordering::Acquire) {
            while let Some(pending) = server.next() {
                let reply = match &pending.request {
                    ControlRequest::Status => ControlReply::State(Box::new(state(id, 2.0))),
                    ControlRequest::Mark { text } if text.is_empty() => {
                        ControlReply::Rejected { message: "no text".to_owned(), hint: "write one".to_owned() }
                    }
                    request => ControlReply::Accepted(format!("{request:?}")),
                };
                pending.reply(reply);
            }
            std::thread::yield_now();
        }
        calls.join().expect("it ended").unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[test]
fn requests_are_answered_by_the_run() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = folder(&place);
    assert_eq!(client::running(&folder).expect("no folder has no runs"), []);
    let server = ControlServer::listen(&folder, "3f81aa").expect("it listens");
    serving(&server, "3f81aa", || {
        assert_eq!(client::running(&folder).expect("one run"), [state("3f81aa", 2.0)]);
        let load = LoadChangeDoc::SessionRate { count: 5, per_ns: 7 };
        for request in [
            ControlRequest::Stop { now: true },
            ControlRequest::Set { load, phase: None },
            ControlRequest::Mark { text: "a\"b\\c 中".to_owned() },
        ] {
            let reply = client::send(&folder, "3f81aa", &request).expect("a reply");
            assert_eq!(reply, ControlReply::Accepted(format!("{request:?}")));
        }
        let reply = client::send(&folder, "3f81aa", &ControlRequest::Mark { text: String::new() });
        assert!(matches!(reply, Ok(ControlReply::Rejected { .. })), "{reply:?}");
        assert!(client::send(&folder, "other", &ControlRequest::Status).is_err());
    });
    drop(server);
    assert_eq!(client::running(&folder).expect("an empty folder"), []);
    assert!(!folder.path().join("3f81aa.sock").exists());
}

/// The process of the run may end as soon as the server is dropped.
#[test]
fn a_run_that_ends_has_replied() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = folder(&place);
    for round in 0..50 {
        let server = ControlServer::listen(&folder, "a").expect("it listens");
        let mut client = UnixStream::connect(folder.path().join("a.sock")).expect("it accepts");
        let request = serde_json::to_string(&ControlRequest::Stop { now: true }).expect("it encodes");
        writeln!(client, "{request}").expect("it reads");
        let pending = std::iter::repeat_with(|| {
            std::thread::yield_now();
            server.next()
        });
        pending.flatten().next().expect("endless").reply(ControlReply::Accepted("stopped".to_owned()));
        drop(server);
        client.set_nonblocking(true).expect("a socket");
        let mut reply = [0; 512];
        let length = client.read(&mut reply).unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert!(String::from_utf8_lossy(&reply[..length]).contains("stopped"), "round {round}");
    }
}

#[test]
fn a_busy_run_has_the_state_that_it_published() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = folder(&place);
    let server = ControlServer::listen(&folder, "a").expect("it listens");
    server.publish(&state("a", 1.0));
    // Nothing takes requests here.
    assert_eq!(client::running(&folder).expect("one run"), [state("a", 1.0)]);
}

#[test]
fn watchers_read_states_until_the_end() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = folder(&place);
    let server = ControlServer::listen(&folder, "a").expect("it listens");
    assert!(!server.is_watched());
    let mut states = client::watch(&folder, "a").expect("it is there");
    // This one never reads, and the run does not wait for it.
    let _silent = client::watch(&folder, "a").expect("it is there");
    let first = serving(&server, "a", || states.next());
    assert_eq!(first.expect("a state").expect("a state"), state("a", 2.0));
    assert!(server.is_watched());
    let long = "x".repeat(200_000);
    for at in 0..200 {
        server.publish(&LiveDoc { target: long.clone(), ..state("a", f64::from(at)) });
        if at < 5 {
            let next = states.next().expect("a state").expect("a state");
            assert_eq!(next.at_s, wavetank_record::Number(f64::from(at)));
        }
    }
    server.publish(&LiveDoc { state: LiveState::Over, ..state("a", 200.0) });
    drop(server);
    // Some may be missing, but what comes is in order, and then it ends.
    let rest: Vec<f64> = states.map(|state| state.expect("a state").at_s.0).collect();
    assert!(rest.is_sorted() && rest.first() == Some(&5.0), "{rest:?}");
}

fn answer_to(path: &Path, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(path).expect("it listens");
    // A server that has read enough may close before everything is written.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

#[test]
fn what_is_no_request_is_rejected() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = folder(&place);
    let server = ControlServer::listen(&folder, "a").expect("it listens");
    server.publish(&state("a", 1.0));
    let path = folder.path().join("a.sock");
    for bytes in [
        &b""[..],
        b"\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"{\"request\":\"fly\"}\n",
        b"{\"request\":\"stop\",\"now\":\"yes\"}\n",
        b"{\"request\":\"set\",\"load\":{\"rate\":{\"count\":-1,\"per_ns\":1}}}\n",
        b"{\"request\":\"set\",\"load\":{\"users\":1e40}}\n",
        b"\xff\xfe\n",
        &vec![b'['; 100_000],
    ] {
        let answer = answer_to(&path, bytes);
        assert!(answer.contains("\"rejected\"") && answer.contains("cannot read the request"), "{answer}");
    }
    assert!(server.next().is_none(), "none of them reached the run");
    // Clients that only connect take places, and free them when they leave.
    let idle: Vec<_> = (0..100).map(|_| UnixStream::connect(&path).expect("it listens")).collect();
    drop(idle);
    while !answer_to(&path, b"{\"request\":\"status\"}\n").contains("\"state\"") {}
}
