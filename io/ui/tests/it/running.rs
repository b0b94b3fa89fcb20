//! A running run: its states as events, and requests to it.

use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;

use wavetank_control::{ControlReply, ControlRequest, ControlServer, RunFolder};
use wavetank_record::{LiveDoc, LiveState, Number};

use crate::client::Site;

fn state(at: f64, state: LiveState) -> LiveDoc {
    LiveDoc {
        schema: wavetank_record::LIVE_SCHEMA.to_owned(),
        id: "3f81aa".to_owned(),
        name: "<script>alert(1)</script>".to_owned(),
        pid: 77,
        at_s: Number(at),
        state,
        ..LiveDoc::default()
    }
}

/// A run in a thread of its own; it replies until `stop` is dropped or a client stops it.
struct Run {
    thread: Option<JoinHandle<Vec<ControlRequest>>>,
}

impl Run {
    fn start(site: &Site) -> Self {
        let folder = RunFolder::of_user(Some(&site.place.path().join("run-time")));
        let (ready, listens) = sync_channel(1);
        let run = move || {
            let server = ControlServer::listen(&folder, "3f81aa").expect("it listens");
            ready.send(()).expect("the test waits");
            let mut requests = Vec::new();
            let mut at = 0.0;
            loop {
                std::thread::yield_now();
                if server.is_watched() {
                    at += 1.0;
                    server.publish(&state(at, LiveState::Running));
                }
                let Some(pending) = server.next() else { continue };
                let request = pending.request.clone();
                pending.reply(match &request {
                    ControlRequest::Status => ControlReply::State(Box::new(state(at, LiveState::Running))),
                    ControlRequest::Set { .. } => ControlReply::Rejected {
                        message: "the phase is planned for at most 8 users".to_owned(),
                        hint: "users=8".to_owned(),
                    },
                    _ => ControlReply::Accepted("done".to_owned()),
                });
                let is_stop = matches!(request, ControlRequest::Stop { .. });
                if request != ControlRequest::Status {
                    requests.push(request);
                }
                if is_stop {
                    server.publish(&state(at + 1.0, LiveState::Over));
                    return requests;
                }
            }
        };
        let thread = std::thread::spawn(run);
        listens.recv().expect("it listens");
        Self { thread: Some(thread) }
    }

    /// The requests that it got.
    fn requests(mut self) -> Vec<ControlRequest> {
        self.thread.take().expect("it is there").join().expect("it ends")
    }
}

#[test]
fn states_arrive_as_events_until_the_run_is_over() {
    let site = Site::start_with(std::path::Path::new("/bin/false"), Some(77));
    let run = Run::start(&site);
    assert_eq!(site.get("/api/start-page").json()["run"], "3f81aa");
    let list = site.get("/api/runs").json();
    assert_eq!(list["running"][0]["id"], "3f81aa", "{list}");
    assert_eq!(list["running"][0]["name"], "<script>alert(1)</script>", "JSON, which the page shows as text");
    let stream = site.connect("GET", "/api/runs/3f81aa/live", &[("Cookie", &site.cookie)], "");
    let again = stream.try_clone().expect("a socket");
    let first = Site::read_until(stream, |line| line.starts_with("data: "));
    assert!(first.contains(r#""schema":"wavetank.live/1""#), "{first}");
    assert_eq!(site.server.watchers(), 1);
    site.post("/api/runs/3f81aa/event", r#"{"text":"deploy 4711"}"#).expect(200, r#"{"accepted":"done"}"#);
    site.post("/api/runs/3f81aa/set", r#"{"kind":"users","value":"9","phase":"main"}"#)
        .expect(400, "at most 8 users")
        .expect(400, r#""hint":"users=8""#);
    site.post("/api/runs/3f81aa/set", r#"{"kind":"rate","value":"2x","phase":"main"}"#).expect(400, "error");
    site.post("/api/runs/3f81aa/set", r#"{"threads":"2"}"#).expect(400, "cannot read the request");
    site.post("/api/runs/3f81aa/stop", r#"{"now":true}"#).expect(200, "done");
    let requests = run.requests();
    assert!(matches!(requests.last(), Some(ControlRequest::Stop { now: true })), "{requests:?}");
    assert_eq!(requests.iter().filter(|one| matches!(one, ControlRequest::Set { .. })).count(), 1);
    Site::read_until(again, |line| line == "event: ended");
    site.post("/api/runs/3f81aa/stop", "{}").expect(409, "run 3f81aa has ended");
    // A page that connects too late learns the same.
    let late = site.send("GET", "/api/runs/3f81aa/live", &[("Cookie", &site.cookie)], "");
    late.expect(200, "event: ended");
}

#[test]
fn only_running_runs_are_reached() {
    let site = Site::start();
    for run in ["none", "..%2F..%2Fx", "%2Ftmp%2Fx", "latest", "-h"] {
        site.post(&format!("/api/runs/{run}/stop"), "{}").expect(409, "has ended");
        site.get(&format!("/api/runs/{run}")).expect(404, "there is no run");
        site.get(&format!("/runs/{run}/report")).expect(404, "there is no run");
    }
}
