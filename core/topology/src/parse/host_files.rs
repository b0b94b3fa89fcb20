//! Files that only one host has, and files next to the topology file.

use wavetank_grammar::{Diagnostic, Entry, Node, Spanned};
use wavetank_units::Code;

use super::{Reader, TreeReader as _};
use crate::HostFile;
use crate::grammar::MapName;

/// Maximum size of a file that a lab includes.
const FILE_BYTES_MAX: usize = 4 << 20;
/// Maximum length of a file's name.
const NAME_BYTES_MAX: usize = 255;
/// Maximum number of files of a host.
const FILES_MAX: usize = 64;
/// Files that the lab itself writes on every host.
const OF_THE_LAB: [&str; 3] = ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf"];

/// Folders without files of their own.
const OF_THE_KERNEL: [&str; 3] = ["/proc/", "/sys/", "/dev/"];

impl Reader<'_> {
    pub(super) fn host_files(&mut self, node: &Node) -> Vec<HostFile> {
        let entries = self.entries(node, "files");
        if let Some(beyond) = entries.get(FILES_MAX) {
            let message = format!("{} files", entries.len());
            self.fail::<()>(
                Code::LabTooMany,
                beyond.place,
                message,
                format!("at most {FILES_MAX} on a host"),
            );
        }
        let all: Vec<_> = entries.iter().take(FILES_MAX).map(|entry| self.host_file(entry)).collect();
        all.into_iter().flatten().collect()
    }

    fn host_file(&mut self, entry: &Entry) -> Option<HostFile> {
        let path = self.host_path(entry);
        if entry.value.entries().is_none() {
            let text = self.clean_text(&entry.value, "a file's text")?.value;
            self.warn_of_name(&text, entry);
            return Some(HostFile { path: path?, text, mode: 0o644, place: entry.place });
        }
        let mut keys = self.open(&entry.value, MapName::HostFile)?;
        let text =
            keys.take("text").map(|node| self.clean_text(node, "a file's text").map(|text| text.value));
        let from = keys.take("from").map(|node| self.relative_file(node).map(|(_, text)| text));
        let mode = keys.take("mode").map(|node| self.mode(node));
        keys.finish();
        let (text, mode) = (text.or(from)??, mode.unwrap_or(Some(0o644))?);
        Some(HostFile { path: path?, text, mode, place: entry.place })
    }

    /// Warns if the text of a file is the name of a file next to the topology file.
    fn warn_of_name(&mut self, text: &str, entry: &Entry) {
        if !text.is_empty() && text.len() <= NAME_BYTES_MAX && (self.files)(text).is_ok() {
            let message = format!("`{}` gets the text `{text}`, not the file of that name", entry.key);
            let hint = format!("{{from: {text}}}?");
            self.out.push(Diagnostic::warning(Code::LabFileText, entry.value.place, message, hint));
        }
    }

    /// Reads the absolute path of a file in a host. Its folder becomes the host's own.
    fn host_path(&mut self, entry: &Entry) -> Option<String> {
        let path = entry.key.as_str();
        let parts = path.strip_prefix('/').map(|rest| rest.split('/'));
        let shaped = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(char::is_control);
        if !parts.is_some_and(|mut parts| parts.all(shaped)) {
            let message = format!("`{path}` is not an absolute path of a file");
            let hint = "use an absolute path without `.` and `..`: /etc/app.conf";
            return self.fail(Code::LabFilePath, entry.place, message, hint);
        }
        if let Some(folder) = OF_THE_KERNEL.iter().find(|folder| path.starts_with(*folder)) {
            let message = format!("`{path}` belongs to the kernel");
            let hint = format!("use a path outside {folder}; kernel settings are in sysctls");
            return self.fail(Code::LabFilePath, entry.place, message, hint);
        }
        if OF_THE_LAB.contains(&path) {
            let message = format!("the lab itself writes `{path}`");
            let hint = "it contains the names of hosts; name an address with virtual: [{…, name: shop}]";
            return self.fail(Code::LabFilePath, entry.place, message, hint);
        }
        Some(path.to_owned())
    }

    /// Reads permission bits: `"0644"`.
    fn mode(&mut self, node: &Node) -> Option<u32> {
        let text = self.text(node, "permission bits")?;
        let octal = text.value.strip_prefix("0o").unwrap_or(&text.value);
        match u32::from_str_radix(octal, 8) {
            Ok(mode) if mode <= 0o777 && octal.len() >= 3 => Some(mode),
            _ => {
                let message = format!("`{}` are not permission bits", text.value);
                self.fail(Code::LabValue, text.place, message, "three digits from 0 to 7: \"0644\"")
            }
        }
    }

    /// Reads a file next to the topology file and returns its name as written and its text.
    pub(super) fn relative_file(&mut self, node: &Node) -> Option<(Spanned<String>, String)> {
        let name = self.clean_text(node, "a file's name")?;
        let bytes = match (self.files)(&name.value) {
            Ok(bytes) => bytes,
            Err(why) => {
                let message = format!("`{}` cannot be read: {why}", name.value);
                let hint = "names are relative to the topology file's folder";
                return self.fail(Code::LabFileUnreadable, name.place, message, hint);
            }
        };
        if bytes.len() > FILE_BYTES_MAX {
            let message = format!("`{}` has {} bytes", name.value, bytes.len());
            return self.fail(Code::LabTooMany, name.place, message, "a lab takes files of at most 4 MiB");
        }
        if let Ok(text) = String::from_utf8(bytes) {
            return Some((name, text));
        }
        let message = format!("`{}` is not UTF-8 text", name.value);
        self.fail(Code::LabFileUnreadable, name.place, message, "save it as UTF-8")
    }
}
