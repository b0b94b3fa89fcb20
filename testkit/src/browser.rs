//! [`Browser`]: a headless Chromium that opens files and reports what happened to them.
//!
//! It is controlled with its own protocol, JSON values each followed by a zero byte, over a
//! separate pipe (`--remote-debugging-pipe`, <https://chromedevtools.github.io/devtools-protocol>).
//! No port is opened.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use crate::clock::Stamp;
use crate::program::{LIMIT, Program};
use crate::skip::skip;
use crate::test_dir::TestDir;

/// Longest response that is read; the longest one is a page printed to PDF.
const ANSWER_MAX: usize = 64 << 20;
/// How long a browser may take to end when asked to.
const ENDING: Duration = Duration::from_secs(10);

/// A running browser with one page, without any network; gone when dropped.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// Read from it and not a whole value yet.
    read: Vec<u8>,
    /// The page's own session.
    session: Option<String>,
    /// Number of commands sent.
    commands: u64,
    /// Events received since the page was opened.
    events: Vec<Value>,
    /// Its profile.
    _place: TestDir,
}

impl Browser {
    /// Starts it. Returns `None` and records a skip of `test` if it is not installed.
    pub fn start(test: &str) -> Option<Self> {
        Self::start_with(test, "MAP * ~NOTFOUND")
    }

    /// Starts it with access to 127.0.0.1, and to no other host.
    pub fn start_on_loopback(test: &str) -> Option<Self> {
        Self::start_with(test, "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    }

    fn start_with(test: &str, hosts: &str) -> Option<Self> {
        let found =
            ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| Program::foreign(name));
        let (Some(program), Some(shell)) = (found, Program::foreign("sh")) else {
            skip(test, "no chromium");
            return None;
        };
        let place = TestDir::new();
        // It reads commands from descriptor 3 and writes responses to 4. Only a shell can set these
        // up.
        let mut command = Command::new(&shell.arguments()[0]);
        command.args([
            "-c",
            "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1",
            &program.arguments()[0],
        ]);
        command.arg(format!("--user-data-dir={}", place.file("profile"))).args([
            "--headless=new",
            "--remote-debugging-pipe",
            "--no-first-run",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--hide-scrollbars",
            // Tests run as root in containers, where its sandbox cannot work. It opens only files
            // of this repository.
            "--no-sandbox",
        ]);
        command.args([&format!("--host-resolver-rules={hosts}"), "about:blank"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell starts");
        let input = child.stdin.take().expect("it is piped");
        let output = child.stdout.take().expect("it is piped");
        let (read, events) = (Vec::new(), Vec::new());
        let mut browser =
            Self { child, input, output, read, session: None, commands: 0, events, _place: place };
        browser.attach();
        Some(browser)
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let session = self.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        self.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Opens this file and waits until it is loaded.
    pub fn open(&mut self, file: &Path) {
        self.open_url(&format!("file://{}", file.display()));
    }

    /// Opens this address and waits until it is loaded.
    pub fn open_url(&mut self, url: &str) {
        self.events.clear();
        let opened = self.call("Page.navigate", json!({ "url": url }));
        assert!(opened["errorText"].is_null(), "{url}: {opened}");
        let deadline = Stamp::now().plus(LIMIT);
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.receive(deadline);
            self.events.push(event);
        }
    }

    /// The addresses requested since the page was opened, including the page itself.
    pub fn requests(&self) -> Vec<String> {
        let asked = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        asked.map(|event| event["params"]["request"]["url"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Returns its complaints since the page was opened: errors, warnings, and loads that its
    /// policy blocked.
    pub fn complaints(&self) -> Vec<String> {
        let of = |event: &&Value| {
            ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"]
                .iter()
                .any(|method| event["method"] == *method)
        };
        self.events.iter().filter(of).map(|event| event["params"].to_string()).collect()
    }

    /// Makes the page this many CSS pixels wide, light or dark, on a screen or on paper (`screen`,
    /// `print`).
    pub fn show(&mut self, width: u32, scheme: &str, media: &str) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"media": media, "features": features}));
    }

    /// Returns the value of this expression in the page, once it is settled. The page's policy does
    /// not apply to it.
    #[track_caller]
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let words = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut answer = self.call("Runtime.evaluate", words);
        assert!(answer["exceptionDetails"].is_null(), "{}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    /// Waits until this expression is true in the page, through any change of the page, and returns
    /// its value.
    #[track_caller]
    pub fn wait_for(&mut self, expression: &str) -> Value {
        let words = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let found = crate::clock::poll_until(LIMIT, || {
            // A page that is just left has no value.
            let mut answer = self.try_call("Runtime.evaluate", words.clone()).ok()?;
            let value = answer["result"]["value"].take();
            let is_true = answer["exceptionDetails"].is_null()
                && !matches!(value, Value::Null | Value::Bool(false))
                && value != "";
            is_true.then_some(value)
        });
        found.unwrap_or_else(|| {
            panic!("never true: {expression}\n{}", self.evaluate("document.body.innerText"))
        })
    }

    /// Presses a key by its name, e.g. `Tab` or `Enter`, with the element that has the focus.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            " " => 32,
            "End" => 35,
            "ArrowLeft" => 37,
            "ArrowDown" => 40,
            key => u32::from(key.to_ascii_uppercase().as_bytes()[0]),
        };
        let text = match key {
            "Enter" => "\r",
            key if key.len() == 1 => key,
            _ => "",
        };
        let down = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        for kind in [down, "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
                "text": if kind == "keyUp" { "" } else { text }});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Inserts text into the field that has the focus.
    pub fn insert(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Returns the bytes that the page's scripts use, after what is not used any more is freed.
    pub fn heap_bytes(&mut self) -> u64 {
        self.call("HeapProfiler.collectGarbage", json!({}));
        let usage = self.call("Runtime.getHeapUsage", json!({}));
        ["usedSize", "embedderHeapUsedSize", "backingStorageSize"]
            .iter()
            .map(|part| usage[part].as_f64().unwrap_or(0.0) as u64)
            .sum()
    }

    /// The page as a PDF file.
    pub fn pdf(&mut self) -> Vec<u8> {
        let printed =
            self.call("Page.printToPDF", json!({"preferCSSPageSize": true, "printBackground": true}));
        self.decoded(&printed)
    }

    /// The page as a PNG file: what is seen of it, or all of it.
    pub fn picture(&mut self, all: bool) -> Vec<u8> {
        let shot =
            self.call("Page.captureScreenshot", json!({"format": "png", "captureBeyondViewport": all}));
        self.decoded(&shot)
    }

    #[expect(clippy::unused_self, reason = "only a browser answers in this way")]
    fn decoded(&self, answer: &Value) -> Vec<u8> {
        let data = answer["data"].as_str().expect("the response has data");
        base64::engine::general_purpose::STANDARD.decode(data).expect("it is base64")
    }

    /// Sends a command and waits for the response; panics if there is none.
    fn call(&mut self, method: &str, params: impl Into<Value>) -> Value {
        self.try_call(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Sends a command and waits for the response, which may be an error.
    fn try_call(&mut self, method: &str, params: impl Into<Value>) -> Result<Value, Value> {
        self.commands += 1;
        let mut command = json!({"id": self.commands, "method": method, "params": params.into()});
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).unwrap_or_else(|error| panic!("{method}: the browser is gone: {error}"));
        let deadline = Stamp::now().plus(LIMIT);
        loop {
            let mut answer = self.receive(deadline);
            if answer["id"] == self.commands {
                let error = answer["error"].take();
                return if error.is_null() { Ok(answer["result"].take()) } else { Err(error) };
            }
            self.events.push(answer);
        }
    }

    /// The next value it sends.
    fn receive(&mut self, deadline: Stamp) -> Value {
        let mut seen = 0;
        loop {
            if let Some(end) = self.read[seen..].iter().position(|byte| *byte == 0).map(|at| seen + at) {
                let value = serde_json::from_slice(&self.read[..end]).expect("a browser speaks JSON");
                self.read.drain(..=end);
                return value;
            }
            seen = self.read.len();
            assert!(seen <= ANSWER_MAX, "the response is too long");
            let left = deadline.left().expect("the browser responds in time");
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            let mut ready = [PollFd::new(&self.output, PollFlags::IN)];
            if poll(&mut ready, Some(&timeout)).is_ok_and(|ready| ready == 0) {
                continue;
            }
            let mut chunk = [0; 16 * 1024];
            let n = self.output.read(&mut chunk).expect("a pipe can be read");
            assert!(n > 0, "the browser is gone");
            self.read.extend_from_slice(&chunk[..n]);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // On a close request it ends its processes and leaves its profile, which is removed next.
        let _ = self.input.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let closed = crate::clock::poll_until(ENDING, || self.child.try_wait().ok().flatten());
        if closed.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
