//! When a page has painted its first chart, in a Chromium that was started for it alone.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result};

use super::Session;
use crate::ci;

/// How long a page may take to be painted at all.
const PATIENCE: Duration = Duration::from_mins(1);
/// What the page's own clock says begins with this.
const WORD: &str = "painted after";

/// Tells both instants on the console: when the first text was painted, and when the frame is over in which the first chart
/// has a place. Standing ahead of the page's policy, it is not bound by it.
const LOOK: &str = r"<script>(() => {
  const at = {};
  const tell = () => { if (at.text !== undefined && at.chart !== undefined) console.log(`painted after ${at.text} ${Math.max(at.text, at.chart)} ms`); };
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) if (entry.name === 'first-contentful-paint') at.text = entry.startTime;
    tell();
  }).observe({type: 'paint', buffered: true});
  const look = () => {
    const chart = document.querySelector('svg.plot');
    if (!chart || chart.getBoundingClientRect().height === 0) return requestAnimationFrame(look);
    const after = new MessageChannel();
    after.port1.onmessage = () => { at.chart = performance.now(); tell(); };
    after.port2.postMessage(0);
  };
  requestAnimationFrame(look);
})()</script>";

/// Seconds since the page was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Painted {
    pub(super) text: f64,
    pub(super) chart: f64,
}

/// Opens `page` once in a browser without a past; `None` and a skip where there is no browser.
pub(super) fn painted(session: &mut Session, page: &Path) -> Result<Option<Painted>> {
    let Some(chromium) = ci::find_program("chromium") else {
        session.skip("bench report: first chart: no chromium".to_owned());
        return Ok(None);
    };
    let head = "<meta charset=\"utf-8\">";
    let text = fs::read_to_string(page).context("the page")?;
    let at = text.find(head).context("a page begins with its encoding")? + head.len();
    let copy = session.folder.path().join("painted.html");
    fs::write(&copy, format!("{}{LOOK}{}", &text[..at], &text[at..])).context("a copy of the page")?;
    let profile = tempfile::tempdir().context("a place for the browser's profile")?;
    let mut command = Command::new(chromium);
    command.arg(format!("--user-data-dir={}", profile.path().display())).args([
        "--headless=new",
        "--enable-logging=stderr",
        "--no-first-run",
        "--disable-gpu",
        "--disable-background-networking",
        // Root in a container has no sandbox; it opens nothing but our own file.
        "--no-sandbox",
        "--host-resolver-rules=MAP * ~NOTFOUND",
    ]);
    command.arg(format!("file://{}", copy.display()));
    let mut browser = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("chromium")?;
    let told = told(&mut browser);
    browser.kill().context("kill")?;
    browser.wait().context("wait")?;
    told.map(Some)
}

/// What the page says on the browser's console.
fn told(browser: &mut Child) -> Result<Painted> {
    let stderr = browser.stderr.take().context("stderr is piped")?;
    let (say, hear) = mpsc::sync_channel(1);
    // Ends with the browser, whose end closes what it reads.
    std::thread::spawn(move || {
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        if let Some(painted) = lines.find_map(|line| parse(&line)) {
            // Nobody listens any more after the patience is over.
            let _ = say.send(painted);
        }
    });
    hear.recv_timeout(PATIENCE).context("the page never said when it was painted")
}

fn parse(line: &str) -> Option<Painted> {
    let (_, rest) = line.split_once(WORD)?;
    let mut words = rest.split_whitespace().map(|word| word.parse::<f64>().ok());
    Some(Painted { text: words.next()?? / 1e3, chart: words.next()?? / 1e3 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_console_says() {
        let line =
            "[1:1:0101/000000.1:INFO:CONSOLE:3] \"painted after 88.5 250 ms\", source: file:///a.html (3)";
        assert_eq!(parse(line), Some(Painted { text: 0.0885, chart: 0.25 }));
        assert_eq!(parse("[1:1] \"painted after a b ms\""), None);
        assert_eq!(parse("DevTools listening"), None);
    }
}
