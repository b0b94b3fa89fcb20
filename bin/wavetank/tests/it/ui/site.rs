//! [`Site`]: the page's process with a target and folders of its own, and what a person does there.

use std::time::Duration;

use serde_json::{Value, json};
use wavetank_testkit::{Browser, Program, Running, Script, Target, TestDir, poll_until};

/// No wait of a test is as long on a machine that works.
pub(super) const LIMIT: Duration = Duration::from_mins(2);

/// An experiment with variables, one of them secret.
const SHOP: &str = "
wavetank: 1
name: shop
target: TARGET
probe: false
redact: [token]
vars: {rate: 100/s, path: items, token: planted}
steps:
  - get: /${path}
    headers: {x-token: \"${token}\"}
phases:
  - {name: steady, rate: \"${rate}\", for: 10m}
thresholds: [failed < 1%]
";

/// The page's process with folders of its own.
pub(super) struct Site {
    pub(super) place: TestDir,
    pub(super) target: Target,
    page: Running,
}

impl Site {
    pub(super) fn start() -> Self {
        let target = Target::start(Script::constant(Duration::ZERO));
        let place = TestDir::new();
        place.write("shop.yaml", SHOP.replace("TARGET", &target.url("")));
        let page = program(&place).args(["ui"]).start();
        Self { place, target, page }
    }

    /// The first printed address.
    pub(super) fn url(&self) -> String {
        let url = poll_until(LIMIT, || {
            assert!(!self.page.ends_within(Duration::ZERO), "it runs: {}", self.page.stderr());
            self.page.stdout().lines().next().map(str::to_owned).filter(|url| url.contains("token="))
        });
        url.expect("it prints its address")
    }

    pub(super) fn call(&self, words: &[&str]) -> wavetank_testkit::Outcome {
        program(&self.place).args(words).run()
    }

    /// Ends a run that a failed test left, so that it does not go on in the background.
    fn stop_all(&self) {
        let status = self.call(&["status", "--format", "json"]);
        for line in status.stdout.lines() {
            let state: Value = serde_json::from_str(line).expect("an object in each line");
            self.call(&["stop", state["id"].as_str().expect("an id"), "--now"]);
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop_all();
    }
}

pub(super) fn program(place: &TestDir) -> Program {
    Program::new(env!("CARGO_BIN_EXE_wavetank"))
        .environment("XDG_RUNTIME_DIR", &place.path().to_string_lossy())
        .in_folder(place.path())
}

/// Sets a field as a person types it.
pub(super) fn fill(browser: &mut Browser, id: &str, text: &str) {
    browser.evaluate(&format!(
        "document.getElementById('{id}').focus(); document.getElementById('{id}').select?.(); 0"
    ));
    browser.insert(text);
}

pub(super) fn click(browser: &mut Browser, selector: &str) {
    browser.evaluate(&format!("document.querySelector({}).click(); 0", json!(selector)));
}

/// A button with this text.
pub(super) fn press_button(browser: &mut Browser, text: &str) {
    let find = format!(
        "[...document.querySelectorAll('button')].find(b => b.textContent === {} && b.offsetParent)",
        json!(text)
    );
    browser.wait_for(&format!("!!{find}"));
    browser.evaluate(&format!("{find}.click(); 0"));
}

pub(super) fn open_page(browser: &mut Browser, url: &str) {
    // Without it, another part of the same page would not be loaded.
    browser.open_url("about:blank");
    browser.open_url(url);
    browser.wait_for("document.querySelector('h1')?.textContent");
}

pub(super) fn text_contains(text: &str) -> String {
    format!("document.body.innerText.includes({})", json!(text))
}
