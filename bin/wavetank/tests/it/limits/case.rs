//! [`Case`]: a file with a lab, a load, what the run must find, and files that the lab names.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Names a part of cases to run, separated by commas, instead of the usual selection.
const SELECTION: &str = "WAVETANK_LIMITS";
const LAB: &str = "lab.yaml";
const LOAD: &str = "load.yaml";

/// See the module's description.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) name: String,
    /// The finding that must come first: its code, its blame, and what its message contains.
    pub(super) expected: Option<[String; 3]>,
    /// The exit code of the run.
    pub(super) exit: i32,
    /// Other findings that are right.
    pub(super) also: Vec<String>,
    /// Whether the printed fix removes the finding.
    pub(super) cured: bool,
    /// All files, by their names.
    pub(super) files: BTreeMap<String, String>,
}

impl Case {
    /// Reads the cases of a folder of `tests`, those of the environment variable or else `usual`.
    /// `None` means all.
    pub(super) fn all(folder: &str, usual: Option<&[&str]>) -> Vec<Self> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
        let selection = std::env::var(SELECTION).ok();
        let chosen: Option<Vec<&str>> =
            selection.as_deref().map(|names| names.split(',').collect()).or(usual.map(<[_]>::to_vec));
        let mut cases: Vec<Self> = fs::read_dir(&folder)
            .expect("the folder of the cases")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
            .map(|path| {
                let name = path.file_stem().and_then(|name| name.to_str()).expect("a name in UTF-8");
                Self::parse(name, &fs::read_to_string(&path).expect("can be read"))
            })
            .filter(|case| chosen.as_ref().is_none_or(|names| names.contains(&case.name.as_str())))
            .collect();
        cases.sort_by(|one, other| one.name.cmp(&other.name));
        cases
    }

    /// Reads `key: value` lines, and each file after a line `--- NAME`. `expect` has a code, a
    /// blame and a part of the message.
    fn parse(name: &str, text: &str) -> Self {
        let mut parts = text.split("\n--- ");
        let head = parts.next().expect("a head");
        let file = |part: &str| {
            let (name, content) = part.split_once('\n').expect("a line with the file's name");
            (name.trim().to_owned(), format!("{}\n", content.trim_end()))
        };
        let value = |key: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(known, _)| *known == key).map(|(_, value)| value.trim().to_owned())
        };
        let expected = value("expect").map(|text| {
            let mut parts = text.splitn(3, ' ').map(str::to_owned);
            std::array::from_fn(|_| parts.next().unwrap_or_default())
        });
        let list = |key| value(key).unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        let mut files: BTreeMap<String, String> = parts.map(file).collect();
        if files.get(LAB).is_some_and(|lab| lab.contains("{from: app.py}")) {
            files.insert("app.py".to_owned(), include_str!("../../limits/app.py").to_owned());
        }
        let case = Self {
            name: name.to_owned(),
            exit: value("exit").map_or(i32::from(expected.is_some()), |exit| exit.parse().expect("a number")),
            expected,
            also: list("also"),
            cured: value("cured").as_deref() == Some("yes"),
            files,
        };
        assert!(case.files.contains_key(LAB) && case.files.contains_key(LOAD), "{name}: lab and load");
        case
    }

    pub(super) fn lab(&self) -> &str {
        &self.files[LAB]
    }

    /// The programs that its lab needs.
    pub(super) fn programs(&self) -> Vec<&'static str> {
        let known = [("nginx", "- nginx:"), ("haproxy", "- haproxy:"), ("python3", "python3")];
        known.into_iter().filter(|(_, text)| self.lab().contains(text)).map(|(name, _)| name).collect()
    }

    /// Changes the lines of one file.
    pub(super) fn edit(&mut self, file: &str, change: impl FnOnce(&mut Vec<String>)) {
        let text = self.files.get_mut(file).unwrap_or_else(|| panic!("{}: no file {file}", self.name));
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        change(&mut lines);
        *text = lines.join("\n") + "\n";
    }

    /// Changes the lines of a host's part of the topology file.
    pub(super) fn edit_host(&mut self, host: &str, change: impl FnOnce(&mut Vec<String>)) {
        self.edit(LAB, |lines| {
            let is_host = |line: &String| {
                let key = line.strip_prefix("  ").and_then(|line| line.strip_suffix(':'));
                key.is_some_and(|key| key.trim_matches('"').split('[').next() == Some(bare(host, key)))
            };
            let start = lines.iter().position(is_host).unwrap_or_else(|| panic!("no host {host}")) + 1;
            let length = lines[start..].iter().take_while(|line| line.starts_with("    ")).count();
            let mut own: Vec<String> = lines[start..start + length].to_vec();
            change(&mut own);
            lines.splice(start..start + length, own);
        });
    }

    /// The configuration that a host's service names.
    pub(super) fn config_of(&self, host: &str) -> String {
        let mut clone = self.clone();
        let mut found = None;
        clone.edit_host(host, |lines| {
            let after = |line: &String| Some(line.split_once("config: ")?.1.to_owned());
            found = lines.iter().find_map(after);
        });
        let found = found.unwrap_or_else(|| panic!("{}: {host} has no configuration", self.name));
        found.trim_end_matches(['}', ']']).split(',').next().unwrap_or_default().to_owned()
    }
}

/// `host` as the pattern `key` begins: `app` of `app1` for `app[1-3]`.
fn bare<'h>(host: &'h str, key: &str) -> &'h str {
    if key.contains('[') { host.trim_end_matches(|letter: char| letter.is_ascii_digit()) } else { host }
}
