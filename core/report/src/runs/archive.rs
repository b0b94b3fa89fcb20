//! [`archive_text`]: what `wavetank runs show` prints.

use wavetank_plan::harmless;
use wavetank_plan::quantity::{show_size, show_whole};
use wavetank_record::{ArchiveDoc, HostDoc};

use super::{began, outcome};
use crate::page::{Page, pad_left, width};
use crate::units::seconds;

/// One archive in lines of at most `columns`.
pub fn archive_text(doc: &ArchiveDoc, columns: usize) -> String {
    let mut page = Page::of(columns);
    let run = &doc.run;
    let name = harmless(&run.name).into_owned();
    page.head(outcome(run), &harmless(&doc.headline), &[format!("{name} · run {}", harmless(&run.id))]);
    let length = run.duration_s.map(|length| format!("measured for {}", seconds(length))).unwrap_or_default();
    page.parts("began", &[format!("{} UTC", began(&run.started_at)), length]);
    page.parts("load", &[harmless(&run.load).into_owned(), harmless(&run.target).into_owned()]);
    let tags: Vec<_> =
        run.tags.iter().map(|(key, value)| harmless(&format!("{key}={value}")).into_owned()).collect();
    page.parts("tags", &tags);
    // Commands and hashes are copied from here: they stand on one line, however long.
    for (label, text) in [("command", &doc.command), ("repeat", &doc.repeat)] {
        if !text.is_empty() {
            page.labelled(label, &[harmless(text).into_owned()]);
        }
    }
    if doc.repeat.contains("***") {
        page.sentence("", "replace each *** with the secret");
    }
    let version = if doc.version.is_empty() { String::new() } else { format!("wavetank {}", doc.version) };
    let parts = [version, doc.engine.clone(), doc.host.as_ref().map(host).unwrap_or_default()];
    page.parts("made by", &parts.map(|part| harmless(&part).into_owned()));
    if !doc.plan_hash.is_empty() {
        page.labelled("plan", &[format!("SHA-256 {}", doc.plan_hash)]);
    }
    for note in &doc.notes {
        page.sentence("note", &harmless(note));
    }
    page.labelled(if doc.packed { "packed in" } else { "folder" }, std::slice::from_ref(&doc.path));
    files(doc, &mut page);
    for problem in &doc.problems {
        page.sentence("problem", &harmless(problem));
    }
    page.into_text()
}

fn host(host: &HostDoc) -> String {
    let cpus = host.cpus.len();
    let model = if host.cpu_model.is_empty() { "CPU" } else { &host.cpu_model };
    format!("{}, Linux {}, {cpus} × {model}", host.hostname, host.kernel)
}

fn files(doc: &ArchiveDoc, page: &mut Page) {
    let all: u64 = doc.files.iter().map(|file| file.bytes).sum();
    let word = if doc.files.len() == 1 { "file" } else { "files" };
    let head = format!("{} {word} · {}", show_whole(doc.files.len() as u64), show_size(all));
    let sizes: Vec<_> = doc.files.iter().map(|file| show_size(file.bytes)).collect();
    let columns = sizes.iter().map(|size| width(size)).max().unwrap_or_default();
    let line = |(size, path): (&String, &str)| format!("{}  {}", pad_left(size, columns), harmless(path));
    let paths = doc.files.iter().map(|file| file.path.as_str());
    let lines: Vec<_> = std::iter::once(head).chain(sizes.iter().zip(paths).map(line)).collect();
    page.labelled("files", &lines);
}
