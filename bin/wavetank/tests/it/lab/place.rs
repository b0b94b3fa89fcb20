//! [`Place`]: a test's own lab, and the state of this machine that it must leave unchanged.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{Outcome, Program, skip};

/// Two load hosts and a server on one network.
pub(crate) const HOSTS: &str = "\
networks:
  front: 10.91.0.0/24
hosts:
  load[1-2]: {role: load, networks: [front]}
  app: {role: server, networks: [front]}
";

/// A folder for labs, and the name of its first lab.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    pub(crate) name: String,
    before: Machine,
}

/// Everything that a lab could leave on a machine.
#[derive(Debug, PartialEq, Eq)]
struct Machine {
    links: BTreeSet<String>,
    mounts: String,
    tables: String,
    namespaces: BTreeSet<String>,
    groups: BTreeSet<PathBuf>,
    processes: BTreeSet<String>,
}

impl Place {
    /// Creates a place for the lab with the networks and hosts of `text`. Returns `None` if this
    /// machine cannot have labs.
    pub(crate) fn new(test: &str, text: &str) -> Option<Self> {
        if !NetNs::available(test) {
            return None;
        }
        for program in ["ip", "tc", "nft"] {
            if Program::foreign(program).is_none() {
                skip(test, &format!("`{program}` is not installed"));
                return None;
            }
        }
        // The same test may run in parallel in another process.
        let name = format!("{test}-{}", std::process::id());
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        let file = format!("wavetank_lab: 1\nname: {name}\n{text}");
        fs::write(folder.path().join("lab.yaml"), file).expect("can be written");
        let before = Machine::now(&name, folder.path());
        Some(Self { folder, name, before })
    }

    /// Returns the program with `lab WORDS`.
    pub(crate) fn lab(&self, words: &[&str]) -> Program {
        let labs = self.labs();
        let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).args(["lab"]).args(words);
        program.in_folder(self.folder.path()).environment("WAVETANK_LABS", &labs.to_string_lossy())
    }

    /// Writes a file next to the topology file.
    pub(crate) fn file(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).expect("can be written");
    }

    /// Brings the lab up.
    #[track_caller]
    pub(crate) fn up(&self) -> Outcome {
        let up = self.lab(&["up", "lab.yaml"]).run();
        up.expect_exit(0);
        up
    }

    /// Runs a shell's command in a host, which must succeed, and returns its output.
    #[track_caller]
    pub(crate) fn said(&self, host: &str, command: &str) -> String {
        let reported = self.lab(&["exec", host, "--", "sh", "-c", command]).run();
        reported.expect_exit(0).stdout.trim_end().to_owned()
    }

    /// Returns the process of the keeper, by the lab's state file.
    pub(crate) fn keeper(&self) -> rustix::process::Pid {
        let text =
            fs::read_to_string(self.labs().join(&self.name).join("lab.json")).expect("the lab is there");
        let state: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let pid = state["keeper"]["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        pid.and_then(rustix::process::Pid::from_raw).expect("a keeper")
    }

    /// Returns a process of the lab that runs the program's own subcommand `command`, if there is
    /// one, independently of the state file.
    pub(crate) fn running(&self, command: &str) -> Option<rustix::process::Pid> {
        let words = format!("{command} --mark wavetank-{}-", self.name);
        let mut all = walked(Path::new("/proc"), 1).into_iter();
        let keeper = all.find(|folder| command_line(folder).is_some_and(|line| line.contains(&words)))?;
        rustix::process::Pid::from_raw(keeper.file_name()?.to_str()?.parse().ok()?)
    }

    /// Returns the folder of the labs.
    pub(crate) fn labs(&self) -> PathBuf {
        self.folder.path().join("labs")
    }

    /// Returns whether this machine is as it was before the lab.
    pub(crate) fn is_as_before(&self) -> bool {
        !self.labs().exists() && Machine::now(&self.name, self.folder.path()) == self.before
    }

    /// Panics with the difference unless this machine is as it was before the lab.
    #[track_caller]
    pub(crate) fn nothing_left(&self, after: &str) {
        assert_eq!(Machine::now(&self.name, self.folder.path()), self.before, "after {after}");
        assert!(!self.labs().exists(), "after {after}: {:?}", walked(&self.labs(), 3));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A test that failed midway leaves its lab running.
        if self.labs().join(&self.name).exists() {
            self.lab(&["down", "--lab", &self.name]).run();
        }
    }
}

impl Machine {
    fn now(lab: &str, place: &Path) -> Self {
        let names =
            |path: &str| walked(Path::new(path), 1).iter().map(|path| path.display().to_string()).collect();
        let tables = Program::foreign("nft").expect("asked for before").args(["list", "tables"]).run();
        let marked = format!("wavetank-{lab}");
        let groups = walked(Path::new("/sys/fs/cgroup"), 3);
        let bears =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&marked));
        Self {
            links: names("/sys/class/net"),
            mounts: fs::read_to_string("/proc/self/mounts").expect("Linux has it"),
            tables: tables.stdout,
            namespaces: names("/run/netns"),
            groups: groups.into_iter().filter(bears).collect(),
            // Processes without a mark have a folder of the lab in their arguments. Commands in a
            // host have neither, but belong to its control groups.
            processes: processes(&[&marked, &place.join("labs").to_string_lossy()]),
        }
    }
}

/// Returns the command lines that contain one of `words`.
fn processes(words: &[&str]) -> BTreeSet<String> {
    let lines = walked(Path::new("/proc"), 1).into_iter().filter_map(|folder| command_line(&folder));
    lines.filter(|line| words.iter().any(|word| line.contains(word))).collect()
}

/// Returns the command line of a process, by its folder in `/proc`.
fn command_line(folder: &Path) -> Option<String> {
    let line = fs::read(folder.join("cmdline")).ok()?;
    Some(String::from_utf8_lossy(&line).replace('\0', " "))
}

/// Returns everything below a folder, down to `depth` levels.
fn walked(folder: &Path, depth: usize) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all = BTreeSet::new();
    for path in entries {
        if depth > 1 && path.is_dir() && !path.is_symlink() {
            all.extend(walked(&path, depth - 1));
        }
        all.insert(path);
    }
    all
}
