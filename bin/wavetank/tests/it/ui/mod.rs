//! The web page in a real browser: start, watch, change, stop, report, compare, and how it looks.

mod site;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use site::{LIMIT, Site, click, fill, open_page, press_button, program, text_contains};
use wavetank_testkit::{Browser, Program, Running, TestDir, is_long, poll_until};

use crate::pages::{Wrong, axe_or_skip, check_readable, check_widths};

#[test]
fn a_run_is_started_changed_stopped_and_compared_in_a_browser() {
    let Some(mut browser) =
        Browser::start_on_loopback("a_run_is_started_changed_stopped_and_compared_in_a_browser")
    else {
        return;
    };
    let site = Site::start();
    let url = site.url();
    open_page(&mut browser, &url);
    browser.wait_for(&text_contains("No run is stored yet"));
    // The address works once.
    browser.open_url(&url);
    browser.wait_for(&text_contains("this address was used already"));
    let base = url.split("/?").next().expect("a host").to_owned();
    open_page(&mut browser, &format!("{base}/#/start"));
    // Variables are fields; a wrong value is reported while typing, with its line.
    browser.wait_for("document.getElementById('var-0')?.value === '100/s'");
    browser.wait_for("!document.querySelector('button.primary').disabled");
    assert_eq!(browser.evaluate("document.getElementById('var-2').type"), "password");
    assert_eq!(browser.evaluate("document.getElementById('var-2').value"), "", "a secret is not shown");
    fill(&mut browser, "var-0", "100/x");
    browser.wait_for(
        "document.querySelector('.remarks li.error') && document.querySelector('button.primary').disabled",
    );
    let remark = browser.evaluate("document.querySelector('.remarks').innerText");
    assert!(
        remark.as_str().is_some_and(|remark| remark.contains("line 1") && remark.contains("100/x")),
        "{remark}"
    );
    fill(&mut browser, "var-0", "150/s");
    browser.wait_for("!document.querySelector('button.primary').disabled");
    press_button(&mut browser, "Start the run");
    browser.wait_for("location.hash.startsWith('#/run/')");
    // The first chart is there with the first seal.
    browser.wait_for("document.querySelector('#rate path.s0')?.getAttribute('d')");
    assert_eq!(browser.evaluate("document.querySelector('h1').textContent"), "shop");
    sleep_and_wake(&mut browser);
    change_and_stop(&mut browser, &site);
    report_and_compare(&mut browser, &site, &base);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// After a sleep the page connects again and loads the seconds that it missed.
fn sleep_and_wake(browser: &mut Browser) {
    let run = "import('/assets/run.js').then(m => m.LiveRun.current)";
    browser.wait_for(&format!("{run}.then(run => run.points.all.length >= 6)"));
    browser.evaluate(&format!(
        "{run}.then(run => {{ run.source.close(); run.points.reset(run.points.all.slice(0, 1)); run.last = run.tried = -1e6; run.checkSilence(); }})"
    ));
    assert_eq!(browser.evaluate(&text_contains("no news of the run")), true);
    browser.wait_for(&format!("{run}.then(run => run.points.all.length >= 7)"));
    browser.wait_for(&format!("!{}", text_contains("no news of the run")));
}

fn change_and_stop(browser: &mut Browser, site: &Site) {
    // A wrong load gets one clear reply, and a right one changes what is offered.
    fill(browser, "load", "12");
    press_button(browser, "Change the load");
    browser.wait_for("document.querySelector('.controls .problem')?.textContent");
    fill(browser, "load", "300/s");
    press_button(browser, "Change the load");
    browser.wait_for(&text_contains("changed to 300 req/s"));
    let offered = "import('/assets/run.js').then(m => m.LiveRun.current.state.latest.offered_per_s > 290)";
    browser.wait_for(offered);
    browser.wait_for(&text_contains("load modified"));
    fill(browser, "event", "deploy <b>4711</b>");
    press_button(browser, "Add the event");
    browser.wait_for(&text_contains("deploy <b>4711</b>"));
    press_button(browser, "Stop the run …");
    browser.wait_for("document.querySelector('dialog').open");
    press_button(browser, "Stop now and cut open requests");
    browser.wait_for(&text_contains("Open the report"));
    browser.wait_for("/INCOMPLETE|INVALID/.test(document.body.innerText)");
    let truth = site.target.settled();
    assert!(truth.requests > 0, "the load arrived");
    let record = site.call(&["report", "latest", "--format", "json"]).expect_exit(0).json();
    assert_eq!(record["modified"], true, "{record}");
    assert_eq!(record["changes"][0]["load"]["rate"]["count"], 300, "{record}");
}

fn report_and_compare(browser: &mut Browser, site: &Site, base: &str) {
    let href = browser
        .evaluate("[...document.querySelectorAll('a')].find(a => a.textContent === 'Open the report').href");
    browser.open_url(href.as_str().expect("a link"));
    browser.wait_for("document.querySelector('section#summary, #summary')?.textContent");
    site.call(&["run", "shop.yaml", "--speed", "600x"]);
    open_page(browser, &format!("{base}/#/"));
    browser.wait_for("document.querySelectorAll('tbody tr').length === 2");
    click(browser, "tbody tr:nth-child(1) input");
    click(browser, "tbody tr:nth-child(2) input");
    browser.wait_for("[...document.querySelectorAll('button')].some(b => b.textContent.startsWith('Compare') && !b.disabled)");
    let runs = browser.evaluate("[...document.querySelectorAll('tbody tr')].map(row => row.dataset.run)");
    let [b, a] = [0, 1].map(|at| runs[at].as_str().expect("a folder").to_owned());
    press_button(browser, "Compare the two marked runs");
    browser.wait_for(
        "location.pathname === '/compare' && document.querySelector('main')?.textContent.length > 200",
    );
    assert_eq!(browser.evaluate("location.search"), format!("?a={a}&b={b}"));
    open_page(browser, &format!("{base}/#/run/{a}"));
    browser.wait_for(&text_contains("Download"));
    let fetched = browser.evaluate(
        "Promise.all([...document.querySelectorAll('.downloads a')].map(a => fetch(a.href).then(async r => \
         `${a.textContent} ${r.status} ${(await r.text()).length > 20 || a.textContent === 'hlog'}`)))",
    );
    let names = ["html", "text", "oneline", "json", "csv", "junit", "markdown", "hgrm", "hlog"];
    assert_eq!(fetched, json!(names.map(|name| format!("{name} 200 true"))));
}

#[test]
fn the_page_fits_reads_well_and_works_with_keys_alone() {
    let test = "the_page_fits_reads_well_and_works_with_keys_alone";
    let Some(mut browser) = Browser::start_on_loopback(test) else { return };
    let site = Site::start();
    let url = site.url();
    let base = url.split("/?").next().expect("a host").to_owned();
    // A record from elsewhere, and a file, with names that would be markup.
    let hostile = "<img src=x onerror=alert(1)>";
    site.place.write(&format!("{hostile}.yaml"), "wavetank: 1\n");
    site.call(&["run", &site.target.url("/evil"), "-r", "50/s", "-d", "1s", "--name", "other"]);
    let record = site.place.runs("runs")[0].join("run.json");
    let text = std::fs::read_to_string(&record).expect("a record").replace("evil", hostile);
    std::fs::write(&record, text).expect("it is written");
    let run = ["run", "shop.yaml", "--detach", "--runs-dir", "runs"];
    site.call(&run).expect_exit(0);
    open_page(&mut browser, &url);
    browser.wait_for(&format!(
        "document.querySelectorAll('tbody tr').length === 2 && {}",
        text_contains(hostile)
    ));
    assert_eq!(browser.evaluate("document.querySelectorAll('img').length"), 0, "names are text");
    let state = site.call(&["status", "--format", "json"]).stdout;
    let state: Value = serde_json::from_str(state.lines().next().expect("it is running")).expect("an object");
    let id = state["id"].as_str().expect("an id");
    let stored = browser.evaluate("[...document.querySelectorAll('tbody tr')].map(row => row.dataset.run).find(run => !run.includes('shop'))");
    let stored = stored.as_str().expect("a folder").to_owned();
    let (axe, mut wrong) = (axe_or_skip(test), Wrong::default());
    let pages = [
        ("list", format!("{base}/#/"), "document.querySelectorAll('tbody tr').length === 2"),
        ("start", format!("{base}/#/start/shop.yaml"), "document.getElementById('var-0')?.value"),
        ("stored", format!("{base}/#/run/{stored}"), "document.querySelector('.downloads')"),
        ("refused", format!("{base}/?token=0"), "document.querySelector('.problem')"),
        (
            "running",
            format!("{base}/#/run/{id}"),
            "document.querySelector('#rate path.s0')?.getAttribute('d')?.length > 40",
        ),
    ];
    for (name, url, ready) in &pages {
        browser.show(1_024, "light", "screen");
        open_page(&mut browser, url);
        browser.wait_for(&format!("!!({ready})"));
        picture(&mut browser, name);
        check_widths(&mut browser, name, &mut wrong);
        if let Some(axe) = &axe {
            check_readable(&mut browser, name, axe, &mut wrong);
        }
    }
    wrong.expect_none();
    keys_alone(&mut browser, &site);
}

/// Stops the run with keys alone: every control is reached by Tab, and its focus is visible.
fn keys_alone(browser: &mut Browser, site: &Site) {
    browser.evaluate("document.activeElement.blur(); 0");
    let label = "(document.activeElement.textContent || document.activeElement.id || document.activeElement.getAttribute('aria-label')).trim()";
    let mut seen = Vec::new();
    while seen.last().is_none_or(|last: &String| last != "Stop the run …") {
        assert!(seen.len() < 40, "it is reached: {seen:?}");
        browser.press("Tab");
        seen.push(browser.evaluate(label).as_str().expect("a text").to_owned());
        let outline = browser.evaluate("getComputedStyle(document.activeElement).outlineStyle");
        assert_ne!(outline, "none", "{seen:?}");
    }
    assert!(seen.iter().any(|name| name == "load") && seen.iter().any(|name| name == "event"), "{seen:?}");
    browser.press("Enter");
    browser.wait_for("document.querySelector('dialog').open");
    browser.press("Escape");
    browser.wait_for("!document.querySelector('dialog').open");
    browser.press("Enter");
    browser.wait_for("document.querySelector('dialog').open");
    browser.press("Tab");
    browser.press("Enter");
    browser.wait_for(&text_contains("Open the report"));
    let live = browser.evaluate("document.getElementById('live').textContent");
    // A busy machine may drop requests, which makes the run invalid.
    let is_over = |live: &str| {
        ["incomplete", "invalid"].iter().any(|status| live.starts_with(&format!("The run is over: {status}")))
    };
    assert!(live.as_str().is_some_and(is_over), "{live}");
    let status = site.call(&["status"]);
    assert!(status.stdout.contains("no run of this user is running"), "{status}");
}

/// Many states: the page keeps joined points and not each second.
#[test]
fn states_of_a_long_run_need_little_memory() {
    let test = "states_of_a_long_run_need_little_memory";
    let Some(mut browser) = Browser::start_on_loopback(test) else { return };
    let site = Site::start();
    site.call(&["run", "shop.yaml", "--detach"]).expect_exit(0);
    open_page(&mut browser, &site.url());
    browser.wait_for("document.querySelector('ul.plain a')");
    click(&mut browser, "ul.plain a");
    browser.wait_for("document.querySelector('#rate path.s0')?.getAttribute('d')");
    let run = "import('/assets/run.js').then(m => m.LiveRun.current)";
    browser.evaluate(&format!(
        "{run}.then(run => {{ run.source.close(); run.timers.forEach(clearInterval); run.first = run.state; }})"
    ));
    // An hour, or twenty minutes; in parts, since each draws its charts.
    let parts = if is_long() { 12 } else { 4 };
    for part in 0..parts {
        browser.evaluate(&format!(
            "{run}.then(run => {{ for (let s = {part} * 300 + 1; s <= {part} * 300 + 300; s += 1) {{ \
             const next = structuredClone(run.first); next.at_s += s; next.latest.length_s = 1; \
             next.latest.response_us.p99 = 1000 + s; run.receive(next); }} }})"
        ));
    }
    let fed = browser.evaluate(&format!(
        "{run}.then(run => ({{points: run.points.all.length, end: run.points.end - run.first.at_s, \
         elements: document.querySelectorAll('*').length}}))"
    ));
    assert!(fed["points"].as_u64().is_some_and(|points| (300..=600).contains(&points)), "{fed}");
    assert!((fed["end"].as_f64().expect("a number") - f64::from(parts) * 300.0).abs() < 1.0, "{fed}");
    assert!(fed["elements"].as_u64() < Some(2_000), "{fed}");
    let heap = browser.heap_bytes();
    assert!(heap < 150_000_000, "{heap} bytes");
}

#[test]
fn a_page_of_one_run_opens_with_it() {
    let site = Site::start();
    let run =
        program(&site.place).args(["run", &site.target.url("/"), "-r", "50/s", "-d", "20s", "--ui"]).start();
    let url = poll_until(LIMIT, || {
        let printed = run.stderr();
        let line = printed.lines().find_map(|line| line.strip_prefix("page")).map(str::trim)?;
        Some(line.to_owned())
    });
    let url = url.expect("it prints the address");
    assert!(url.starts_with("http://127.0.0.1:") && url.contains("/?token="), "{url}");
    let page = page_of(run.id());
    assert!(page.is_some(), "the page is a process of its own");
    let Some(mut browser) = Browser::start_on_loopback("a_page_of_one_run_opens_with_it") else {
        return end(run, page);
    };
    browser.open_url(&url);
    browser.wait_for(
        "location.hash.startsWith('#/run/') && document.querySelector('#rate path.s0')?.getAttribute('d')",
    );
    browser.open_url("about:blank");
    assert!(!run.ends_within(Duration::ZERO), "closing the page changes nothing");
    end(run, page);
}

/// The process of the page that belongs to a run.
fn page_of(run: u32) -> Option<u32> {
    let processes = std::fs::read_dir("/proc").expect("it is there").flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).find(|id| {
        let words =
            std::fs::read(Path::new("/proc").join(id.to_string()).join("cmdline")).unwrap_or_default();
        let words: Vec<_> = words.split(|byte| *byte == 0).collect();
        words.windows(2).any(|pair| pair[0] == b"--of-process" && pair[1] == run.to_string().as_bytes())
    })
}

/// Ends the run and its page.
fn end(run: Running, page: Option<u32>) {
    run.signal(wavetank_testkit::Signal::INT);
    run.wait(LIMIT);
    if let Some(page) = page {
        let killed = Program::foreign("kill").map(|kill| kill.args([page.to_string()]).run());
        assert!(killed.is_some_and(|outcome| outcome.exit == Some(0)), "the page outlives its run");
    }
}

#[test]
fn a_search_is_watched_and_stopped_in_a_browser() {
    let Some(mut browser) = Browser::start_on_loopback("a_search_is_watched_and_stopped_in_a_browser") else {
        return;
    };
    let site = Site::start();
    let words =
        ["--threshold", "p50 < 900ms", "-d", "2s", "--settle", "0s", "--from", "20/s", "--name", "knee"];
    let target = site.target.url("/");
    let search = program(&site.place).args(["search", &target, "--no-probe"]).args(words).start();
    open_page(&mut browser, &site.url());
    browser.wait_for(&text_contains("knee running"));
    // A level takes two seconds, and a busy browser may not see each of them.
    browser.wait_for("/[1-9] runs finished, now at [0-9,]+\\/s/.test(document.body.innerText)");
    click(&mut browser, "ul.plain a");
    browser.wait_for("document.querySelectorAll('section.search li .badge.pass').length >= 2");
    browser.wait_for("document.querySelector('#rate path.s0')?.getAttribute('d')");
    browser.wait_for(&text_contains("A search chooses its own load."));
    // The host that sends the load, with a bar for each of its CPUs.
    browser.wait_for("document.querySelector('ul.hosts .bars meter') && document.querySelector('ul.hosts').innerText.includes('TCP sockets')");
    press_button(&mut browser, "Stop the run …");
    press_button(&mut browser, "Stop now and cut open requests");
    browser.wait_for(&text_contains("INCOMPLETE: stopped by its user"));
    search.wait(LIMIT).expect_exit(4);
    let link = "[...document.querySelectorAll('a')].find(a => a.textContent === 'Result and downloads')";
    browser.evaluate(&format!("{link}.click(); 0"));
    browser.wait_for("document.querySelectorAll('.downloads a').length === 6");
    let fetched = browser.evaluate(
        "Promise.all([...document.querySelectorAll('.downloads a, a.button')].map(a => fetch(a.href).then(r => r.status)))",
    );
    assert!(fetched.as_array().is_some_and(|all| all.iter().all(|status| status == 200)), "{fetched}");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// The page has no `--allow-target`, so it starts nothing against a host of the internet.
#[test]
fn a_public_target_is_refused_as_on_the_command_line() {
    let test = "a_public_target_is_refused_as_on_the_command_line";
    let Some(mut browser) = Browser::start_on_loopback(test) else { return };
    let site = Site::start();
    let url = site.url();
    open_page(&mut browser, &url);
    let base = url.split("/?").next().expect("a host");
    open_page(&mut browser, &format!("{base}/#/start/shop.yaml"));
    browser.wait_for("document.getElementById('var-0')?.value === '100/s'");
    fill(&mut browser, "set-target", "http://192.0.2.1/");
    browser.wait_for("!document.querySelector('button.primary').disabled");
    press_button(&mut browser, "Start the run");
    browser.wait_for(&text_contains("--allow-target"));
    assert_eq!(browser.evaluate("location.hash"), "#/start/shop.yaml", "no run is shown");
    assert_eq!(site.call(&["status"]).stdout, "no run of this user is running\n");
}

#[test]
fn wrong_options_get_one_line() {
    let place = TestDir::new();
    let check = |words: &[&str], part: &str| {
        let outcome = program(&place).args(words).run();
        outcome.expect_exit(2);
        assert!(outcome.stderr.contains(part), "{outcome}");
    };
    check(&["ui", "--listen", "0.0.0.0:0"], "ssh -L");
    check(&["ui", "--listen", "here"], "is not an address");
    check(&["ui", "--dir", "none"], "cannot read experiments in `none`");
    check(&["run", "http://127.0.0.1:9/", "--ui", "--detach"], "--ui and --detach exclude each other");
    check(&["run", "http://127.0.0.1:9/", "--ui", "--once"], "--ui and --once exclude each other");
}

/// Writes what is seen to the folder of `WAVETANK_PICTURES`, for people.
fn picture(browser: &mut Browser, name: &str) {
    let Ok(folder) = std::env::var("WAVETANK_PICTURES") else { return };
    for (width, scheme) in [(380, "light"), (1_024, "light"), (1_600, "dark"), (380, "dark")] {
        browser.show(width, scheme, "screen");
        // The charts adapt to the width with the next frame.
        browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        let file = Path::new(&folder).join(format!("{name}-{width}-{scheme}.png"));
        std::fs::write(file, browser.picture(true)).expect("it can be written");
    }
    browser.show(1_024, "light", "screen");
}
