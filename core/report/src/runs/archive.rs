//! [`archive_text`]: what `wavetank runs show` prints.

use wavetank_record::{ArchiveDoc, HostDoc};
use wavetank_units::quantity::{format_grouped, show_size};
use wavetank_units::sanitize;

use super::{outcome, started_text};
use crate::format::seconds;
use crate::text_layout::{TextLayout, pad_left, width};

/// One archive in lines of at most `columns`.
pub fn archive_text(doc: &ArchiveDoc, columns: usize) -> String {
    let mut page = TextLayout::with_width(columns);
    let run = &doc.run;
    let name = sanitize(&run.name).into_owned();
    page.head(outcome(run), &sanitize(&doc.headline), &[format!("{name} · run {}", sanitize(&run.id))]);
    let length = run.duration_s.map(|length| format!("measured for {}", seconds(length))).unwrap_or_default();
    page.parts("started", &[format!("{} UTC", started_text(&run.started_at)), length]);
    page.parts("load", &[sanitize(&run.load).into_owned(), sanitize(&run.target).into_owned()]);
    let tags: Vec<_> =
        run.tags.iter().map(|(key, value)| sanitize(&format!("{key}={value}")).into_owned()).collect();
    page.parts("tags", &tags);
    // Commands and hashes are copied from here, so each is on one line, however long.
    for (label, text) in [("command", &doc.command), ("repeat", &doc.repeat)] {
        if !text.is_empty() {
            page.labelled(label, &[sanitize(text).into_owned()]);
        }
    }
    if doc.repeat.contains("***") {
        page.sentence("", "replace each *** with the secret");
    }
    let version = if doc.version.is_empty() { String::new() } else { format!("wavetank {}", doc.version) };
    let parts = [version, doc.engine.clone(), doc.host.as_ref().map(host).unwrap_or_default()];
    page.parts("made by", &parts.map(|part| sanitize(&part).into_owned()));
    if !doc.plan_hash.is_empty() {
        page.labelled("plan", &[format!("SHA-256 {}", doc.plan_hash)]);
    }
    for note in &doc.notes {
        page.sentence("note", &sanitize(note));
    }
    page.labelled(if doc.packed { "packed in" } else { "folder" }, std::slice::from_ref(&doc.path));
    files(doc, &mut page);
    for problem in &doc.problems {
        page.sentence("problem", &sanitize(problem));
    }
    page.into_text()
}

fn host(host: &HostDoc) -> String {
    let cpus = host.cpus.len();
    let model = if host.cpu_model.is_empty() { "CPU" } else { &host.cpu_model };
    format!("{}, Linux {}, {cpus} × {model}", host.hostname, host.kernel)
}

fn files(doc: &ArchiveDoc, page: &mut TextLayout) {
    let all: u64 = doc.files.iter().map(|file| file.bytes).sum();
    let word = if doc.files.len() == 1 { "file" } else { "files" };
    let head = format!("{} {word} · {}", format_grouped(doc.files.len() as u64), show_size(all));
    let sizes: Vec<_> = doc.files.iter().map(|file| show_size(file.bytes)).collect();
    let columns = sizes.iter().map(|size| width(size)).max().unwrap_or_default();
    let line = |(size, path): (&String, &str)| format!("{}  {}", pad_left(size, columns), sanitize(path));
    let paths = doc.files.iter().map(|file| file.path.as_str());
    let lines: Vec<_> = std::iter::once(head).chain(sizes.iter().zip(paths).map(line)).collect();
    page.labelled("files", &lines);
}
