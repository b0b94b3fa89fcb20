//! `cargo xtask pictures`: makes the pictures of the README from new runs.
//!
//! A run and a search load `wavetank serve` with a stated capacity. Chromium takes screenshots of
//! both pages. Their numbers are printed for the captions, which are written by hand.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::Value;

use wavetank_bench::programs::{self, target_folder};
use wavetank_bench::stopwatch::Stopwatch;

/// Two workers of 4 ms: 500 requests a second.
const STATED: f64 = 500.0;
const TIER: &str = "tier/simple?workers=2&work=4ms";
/// How long a server may take to accept, and Chromium to photograph.
const PATIENCE: Duration = Duration::from_mins(1);
/// Searches until one holds the capacity: one in twenty may miss it.
const SEARCHES_MAX: usize = 3;
/// Of a search only the chart is shown.
const CHART_ALONE: &str = "<style>body>header,body>footer,.skip,nav,.verdict,.numbers,.pair,section:not(#summary),#summary>p{display:none!important}\
main{display:block!important}#summary>.chart{margin-top:.5rem!important}</style>";

/// `cargo xtask pictures`.
#[derive(Args)]
pub(crate) struct PicturesArguments {
    /// The program, built with `cargo build --release -p wavetank` where it is not named.
    #[arg(long)]
    wavetank: Option<PathBuf>,
    /// Where they go, instead of docs/.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Makes `report.png` and `knee.png`.
pub(crate) fn run(root: &Path, arguments: &PicturesArguments) -> Result<()> {
    let own = || target_folder(root).join("release/wavetank");
    let wavetank = arguments.wavetank.clone().unwrap_or_else(own);
    ensure!(wavetank.exists(), "{} is missing: cargo build --release -p wavetank", wavetank.display());
    let chromium = programs::find("chromium").context("chromium is not installed")?;
    let docs = arguments.out.clone().unwrap_or_else(|| root.join("docs"));
    let folder = tempfile::tempdir().context("a place for pages")?;
    let server = Server::start(&wavetank)?;
    let studio = Studio { wavetank, chromium, folder: folder.path().to_owned(), url: server.url() };
    let page = studio.report()?;
    studio.photograph(&page, "", (1_024, 1_000), &docs.join("report.png"))?;
    let page = studio.knee()?;
    studio.photograph(&page, CHART_ALONE, (1_024, 416), &docs.join("knee.png"))
}

/// What it all takes.
struct Studio {
    wavetank: PathBuf,
    chromium: PathBuf,
    folder: PathBuf,
    url: String,
}

impl Studio {
    /// A run that passes, as a page.
    fn report(&self) -> Result<PathBuf> {
        let page = self.folder.join("report.html");
        let words = "--name catalogue -r 350/s --arrivals poisson -d 30s --warmup 3s --threads 1";
        let doc = self.json_output("run", words, &["p99 < 50ms", "failed < 0.1%"], &page)?;
        println!(
            "report.png: {}, {:.0}/s done, p99 {:.1} ms",
            doc["verdict"]["status"],
            doc["rate"]["done_per_s"].as_f64().unwrap_or_default(),
            doc["response_us"]["p99"].as_f64().unwrap_or_default() / 1e3
        );
        ensure!(doc["verdict"]["status"] == "pass", "it did not pass: {}", doc["verdict"]);
        Ok(page)
    }

    /// A search that finds what the server states, as a page.
    fn knee(&self) -> Result<PathBuf> {
        let page = self.folder.join("knee.html");
        for seed in 1..=SEARCHES_MAX {
            let words = format!("-d 2s --warmup 500ms --settle 300ms --threads 1 --from 100/s --seed {seed}");
            let doc = self.json_output("search", &words, &["p95 < 24ms"], &page)?;
            println!("knee.png: {}", doc["answer"]["headline"]);
            let end = |name: &str| doc["answer"][name].as_f64();
            if end("low").zip(end("high")).is_some_and(|(low, high)| low <= STATED && STATED <= high) {
                return Ok(page);
            }
            println!("the interval misses {STATED}/s: once more");
        }
        bail!("no search of {SEARCHES_MAX} held {STATED}/s: is this machine busy?")
    }

    /// Returns the JSON output of `wavetank`, which also writes `page`.
    fn json_output(&self, verb: &str, words: &str, thresholds: &[&str], page: &Path) -> Result<Value> {
        let mut command = Command::new(&self.wavetank);
        command.arg(verb).arg(format!("{}{TIER}", self.url)).args(words.split(' '));
        command.args(thresholds.iter().flat_map(|threshold| ["--threshold", threshold]));
        command.args(["--quiet", "--format", "json", "--out"]).arg(page).current_dir(&self.folder);
        let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("wavetank")?;
        serde_json::from_slice(&output.stdout).with_context(|| format!("`wavetank {verb}` printed no JSON"))
    }

    /// Takes a screenshot of the top of `page`, `width` × `height` pixels, with `style` added to
    /// the page's own.
    fn photograph(&self, page: &Path, style: &str, (width, height): (u32, u32), to: &Path) -> Result<()> {
        let head = "<meta charset=\"utf-8\">";
        let text = fs::read_to_string(page).context("the page")?;
        let at = text.find(head).context("a page begins with its encoding")? + head.len();
        let copy = self.folder.join("photographed.html");
        fs::write(&copy, format!("{}{style}{}", &text[..at], &text[at..])).context("a copy of the page")?;
        let profile = tempfile::tempdir().context("a place for the browser's profile")?;
        let mut command = Command::new(&self.chromium);
        command.arg(format!("--user-data-dir={}", profile.path().display())).args([
            "--headless=new",
            "--no-first-run",
            "--disable-gpu",
            "--disable-background-networking",
            "--hide-scrollbars",
            // Root in a container has no sandbox; it opens nothing but our own file.
            "--no-sandbox",
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ]);
        command.arg(format!("--window-size={width},{height}")).arg(format!("--screenshot={}", to.display()));
        command.arg(format!("file://{}", copy.display()));
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().context("chromium")?;
        ensure!(status.success() && to.exists(), "chromium took no picture: {status}");
        println!("{}", to.display());
        Ok(())
    }
}

/// `wavetank serve`, ended when dropped.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(wavetank: &Path) -> Result<Self> {
        // The address that the README uses, if it is free.
        let usual = TcpListener::bind(("127.0.0.1", 8080));
        let free = usual.or_else(|_| TcpListener::bind(("127.0.0.1", 0))).context("no free port")?;
        let address = free.local_addr().context("no free port")?;
        drop(free);
        let mut command = Command::new(wavetank);
        command.args(["serve", "--threads", "1", "--listen"]).arg(address.to_string());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let server = Self { child: child.context("wavetank serve")?, address };
        let watch = Stopwatch::start();
        while TcpStream::connect(address).is_err() {
            ensure!(watch.elapsed() < PATIENCE, "`wavetank serve` does not accept on {address}");
            std::thread::park_timeout(Duration::from_millis(10));
        }
        Ok(server)
    }

    fn url(&self) -> String {
        format!("http://localhost:{}/", self.address.port())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
