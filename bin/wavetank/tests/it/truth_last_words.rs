//! Truth suite: responses that came before the target's reset count, whichever call returns the
//! reset first.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use wavetank_testkit::{
    Client, RunHarness, RunResult, Script, ScriptAction, Serve, Signal, Target, Truth, answer, skip,
};

/// Runs load on each engine of this host. `target` starts a target and returns it with its URL and
/// the run's arguments. `judge` checks the result against the target.
fn check<T>(test: &str, target: impl Fn(&RunHarness) -> (T, String, String), judge: impl Fn(&RunResult, &T)) {
    for engine in ["epoll", "uring"] {
        let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
        let (target, url, line) = target(&trial);
        let words = line.split_whitespace().chain(["--no-probe", "--engine", engine]);
        let outcome = trial.load(&url, words).run();
        if outcome.exit == Some(5) {
            skip(test, &format!("{engine}: {}", outcome.stdout));
            continue;
        }
        let result = outcome.expect_exit(0).result();
        result.conserved();
        judge(&result, &target);
    }
}

/// `/close` answers the first request of a connection and drops the requests behind it.
#[test]
fn what_a_closing_target_answered_is_done() {
    let start = |trial: &RunHarness| {
        let serve = Serve::start(&trial.program(), &[]);
        let url = serve.url("/close");
        (serve, url, "-c 4 -n 2000 --pipeline 16".to_owned())
    };
    check("what_a_closing_target_answered_is_done", start, |result, serve| {
        let truth = Client::connect(serve.address()).get("/truth");
        let truth: serde_json::Value = serde_json::from_slice(&truth.body).expect("/truth is JSON");
        assert_eq!(result.count("requests.done"), 2_000, "{result}");
        assert_eq!(truth["requests"], 2_000, "{result}");
        assert_eq!(result.count("connections.opened"), 2_000, "one answer a connection: {result}");
    });
}

/// All responses and resets come while the run is stopped. Requests that it then sends on those
/// connections are lost, are sent again on others, and count once.
#[test]
fn what_could_not_be_sent_does_not_count_as_sent() {
    const CONNECTIONS: u64 = 32;
    const HALF_A_SECOND: Duration = Duration::from_millis(500);
    for engine in ["epoll", "uring"] {
        let target = Target::start(Script::new(|seen| {
            let answer = ScriptAction::Send(answer(200, b"ok"));
            if seen.number <= CONNECTIONS {
                vec![ScriptAction::Wait(HALF_A_SECOND), answer, ScriptAction::Reset]
            } else {
                vec![answer]
            }
        }));
        let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
        let words = ["-c", "32", "-n", "64", "--threads", "1", "--no-probe", "--engine", engine];
        let running = trial.load(&target.url("/"), words).start();
        let refused = || running.ends_within(Duration::ZERO);
        target.wait_for("requests", 120 * HALF_A_SECOND, |truth| truth.requests == CONNECTIONS || refused());
        running.signal(Signal::STOP);
        let over = |truth: &Truth| truth.open == 0 || refused();
        target.wait_for("resets", 120 * HALF_A_SECOND, over);
        running.signal(Signal::CONT);
        let outcome = running.wait(120 * HALF_A_SECOND);
        if outcome.exit == Some(5) {
            skip("what_could_not_be_sent_does_not_count_as_sent", &format!("{engine}: {}", outcome.stdout));
            continue;
        }
        // The counts of target and run agree, since neither includes the lost requests.
        let result = trial.check(&outcome, &target, 0);
        assert_eq!(result.count("requests.done"), 2 * CONNECTIONS, "{result}");
        assert_eq!(result.count_or_zero("wire.retried"), 0, "{result}");
        assert_eq!(result.count("wire.sent"), 2 * CONNECTIONS, "{result}");
    }
}

/// A server that reads the start of an upload, rejects it, and closes with the rest unread, which
/// causes a reset.
struct Refusing {
    address: SocketAddr,
    answered: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Refusing {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (answered, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (counts, ends) = (Arc::clone(&answered), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                let mut beginning = [0; 1_000];
                stream.read_exact(&mut beginning).expect("an upload");
                let answer = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno";
                stream.write_all(answer).expect("it fits the buffers");
                counts.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { address, answered, over, thread: Some(thread) }
    }
}

impl Drop for Refusing {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn an_early_no_to_an_upload_is_heard() {
    for body in [10_000, 300_000, 20_000_000] {
        let start = |trial: &RunHarness| {
            let target = Refusing::start();
            let (file, url) = (trial.place().file("body"), format!("http://{}/", target.address));
            std::fs::write(&file, vec![b'x'; body]).expect("a file");
            (target, url, format!("-X POST --body-file {file} -c 2 -n 200 --expect-status 413"))
        };
        check("an_early_no_to_an_upload_is_heard", start, |result, target| {
            assert_eq!(result.count("status.413"), 200, "{body} bytes: {result}");
            assert_eq!(result.count("requests.done"), 200, "{body} bytes: {result}");
            assert_eq!(target.answered.load(Ordering::SeqCst), 200, "{body} bytes: {result}");
        });
    }
}
