//! Measures when a page has painted its first chart, in a freshly started Chromium.

use crate::programs;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::session::Session;

/// How long a page may take until it is painted.
const PATIENCE: Duration = Duration::from_mins(1);
/// Prefix of the line that the page prints from its own clock.
const WORD: &str = "painted after";

/// Script that prints two instants on the console. The first is the first paint of text. The second
/// is the end of the frame in which the first chart has a size. The script comes before the page's
/// content security policy, which therefore does not block it.
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

/// Seconds since the start of the navigation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Painted {
    pub(crate) text: f64,
    pub(crate) chart: f64,
}

/// Opens `page` once in a browser with a fresh profile. Returns `None` and notes a skip if there is
/// no browser.
pub(crate) fn painted(session: &mut Session, page: &Path) -> Result<Option<Painted>> {
    let Some(chromium) = programs::find("chromium") else {
        session.skip("bench report: first chart: no chromium".to_owned());
        return Ok(None);
    };
    let head = "<meta charset=\"utf-8\">";
    let text = fs::read_to_string(page).context("the page")?;
    let at = text.find(head).context("no encoding at the start of the page")? + head.len();
    let copy = session.folder.path().join("painted.html");
    fs::write(&copy, format!("{}{LOOK}{}", &text[..at], &text[at..])).context("cannot copy the page")?;
    let profile = tempfile::tempdir().context("cannot create the browser's profile")?;
    let mut command = Command::new(chromium);
    command.arg(format!("--user-data-dir={}", profile.path().display())).args([
        "--headless=new",
        "--enable-logging=stderr",
        "--no-first-run",
        "--disable-gpu",
        "--disable-background-networking",
        // Root in a container cannot use the sandbox. The browser opens only our own file.
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
    let reported = paint_times(&mut browser);
    browser.kill().context("kill")?;
    browser.wait().context("wait")?;
    reported.map(Some)
}

/// Returns the instants that the page prints on the browser's console.
fn paint_times(browser: &mut Child) -> Result<Painted> {
    let stderr = browser.stderr.take().context("stderr is piped")?;
    let (say, hear) = mpsc::sync_channel(1);
    // The thread ends with the browser, since that closes the pipe.
    std::thread::spawn(move || {
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        if let Some(painted) = lines.find_map(|line| parse(&line)) {
            // The receiver is gone after the timeout.
            let _ = say.send(painted);
        }
    });
    hear.recv_timeout(PATIENCE).context("the page did not report when it was painted")
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
