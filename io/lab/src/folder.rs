//! [`LabsFolder`] and [`LabFolder`]: where labs are found.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use wavetank_plan::{UserError, did_you_mean, sanitize};

use crate::lab_spec::LabSpec;
use crate::lab_tag::lab_name;
use crate::lock::{LOCK_FILE, Lock, remove_above};
use crate::response::system;
use crate::state::{LabState, STATE_FILE};

/// Where labs lie unless `WAVETANK_LABS` says otherwise.
const DEFAULT: &str = "/run/wavetank/labs";

/// The file in a lab's folder that keeps the order.
const ORDER_FILE: &str = "order.json";

/// Bytes of a socket's path at most (`sun_path` of unix(7), with a zero byte at its end).
const SOCKET_PATH_MAX: usize = 107;

/// Everything that lies at the top of a lab's folder: state, order, the keeper's own, the hosts' folders, keys of SSH
/// servers, what a run has read of a host.
const OWN: [&str; 10] = [
    LOCK_FILE,
    STATE_FILE,
    "lab.json.new",
    ORDER_FILE,
    "keeper.log",
    "keeper.sock",
    "hosts",
    "ssh",
    "visitor-hosts",
    "visitor-resolv.conf",
];

/// The folder of all labs of this machine.
#[derive(Clone, Debug)]
pub struct LabsFolder {
    path: PathBuf,
}

/// The folder of one lab, be it there or not.
#[derive(Clone, Debug)]
pub struct LabFolder {
    path: PathBuf,
    name: String,
}

impl LabsFolder {
    /// `$WAVETANK_LABS`, or `/run/wavetank/labs`.
    pub fn system() -> Self {
        let named = std::env::var_os("WAVETANK_LABS").filter(|path| !path.is_empty());
        let path = named.map_or_else(|| PathBuf::from(DEFAULT), PathBuf::from);
        // Processes of the lab have other working directories.
        Self { path: std::path::absolute(&path).unwrap_or(path) }
    }

    /// The folder of the lab of this name.
    ///
    /// # Errors
    /// A name that no lab can have.
    pub fn lab(&self, name: &str) -> Result<LabFolder, UserError> {
        let name = lab_name(name)?;
        Ok(LabFolder { path: self.path.join(name), name: name.to_owned() })
    }

    /// All labs that are there, by name: live ones, and what killed ones left.
    pub fn labs(&self) -> Vec<LabFolder> {
        let Ok(entries) = std::fs::read_dir(&self.path) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let labs = names.filter_map(|name| self.lab(&name).ok()).filter(LabFolder::exists);
        let mut labs: Vec<LabFolder> = labs.collect();
        labs.sort_by(|one, other| one.name.cmp(&other.name));
        labs
    }

    /// The lab of this name, or, without one, the only lab there is.
    ///
    /// # Errors
    /// No lab of that name, or none at all, or, without a name, several.
    pub fn choose(&self, name: Option<&str>) -> Result<LabFolder, UserError> {
        let labs = self.labs();
        let names: Vec<&str> = labs.iter().map(|lab| lab.name.as_str()).collect();
        let Some(name) = name else {
            return match labs.as_slice() {
                [only] => Ok(only.clone()),
                [] => {
                    Err(UserError::usage("lab_none", "there is no lab", "wavetank lab up FILE brings one up"))
                }
                _ => {
                    let message = format!("there are several labs: {}", names.join(", "));
                    Err(UserError::usage("lab_which", message, format!("say which: --lab {}", names[0])))
                }
            };
        };
        let lab = self.lab(name)?;
        if lab.exists() {
            return Ok(lab);
        }
        let hint = match did_you_mean(name, names.iter().copied()) {
            Some(near) => format!("did you mean --lab {near}?"),
            None if names.is_empty() => {
                "there is no lab at all; wavetank lab up FILE brings one up".to_owned()
            }
            None => format!("there is {}", names.join(", ")),
        };
        Err(UserError::usage("lab_none", format!("there is no lab `{}`", sanitize(name)), hint))
    }
}

impl LabsFolder {
    /// Takes away what a lab leaves that was killed between its first and its last breath: an empty folder for labs.
    pub fn remove_stale(&self) {
        remove_above(&self.path.join("none"));
    }
}

impl LabFolder {
    /// The lab's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a host's services write, and its own process.
    pub fn host_folder(&self, host: &str) -> PathBuf {
        self.path.join("hosts").join(host)
    }

    /// What is known of the lab; an error if it is not far enough to say anything.
    pub fn state(&self) -> Result<LabState, UserError> {
        LabState::read(&self.path)?.ok_or_else(|| {
            let message = format!("lab `{}` is only beginning, or its beginning was broken off", self.name);
            UserError::usage(
                "lab_not_up",
                message,
                format!("wait, or: wavetank lab down --lab {}", self.name),
            )
        })
    }

    /// What the lab was made from.
    ///
    /// # Errors
    /// A lab that is only beginning, or was brought up by another version of wavetank.
    pub fn order(&self) -> Result<LabSpec, UserError> {
        let path = self.path.join(ORDER_FILE);
        let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => crate::up::no_root(),
            _ => system(&format!("`{}` cannot be read", path.display()), &error),
        })?;
        LabSpec::read(&text)
    }

    /// The socket at which a process waits for the errand that it sends into a host. Beside the hosts' folders: its path
    /// must be short.
    pub(crate) fn errand_socket(&self, pid: u32) -> PathBuf {
        self.path.join("hosts").join(format!("exec-{pid}.sock"))
    }

    /// The socket at which the keeper takes questions.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join("keeper.sock")
    }

    /// Stores what the lab is made from. Files that only root may read in a host stand in it with all their text.
    pub(crate) fn store(&self, order: &LabSpec) -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).mode(0o600).open(self.path.join(ORDER_FILE))?;
        file.write_all(order.written().as_bytes())
    }

    /// The folder as a process of the lab was told it.
    pub(crate) fn from_argument(path: PathBuf) -> Option<Self> {
        let name = lab_name(path.file_name()?.to_str()?).ok()?.to_owned();
        Some(Self { path, name })
    }

    /// An error if something that is no lab's lies where the folder would be: it would be taken away with the lab. Or if
    /// the folder lies so deep that no socket can be made in it.
    pub(crate) fn check_usable(&self) -> Result<(), UserError> {
        let (longest, most) = (self.errand_socket(u32::MAX), SOCKET_PATH_MAX);
        let beyond = longest.as_os_str().as_bytes().len().saturating_sub(most);
        if beyond > 0 {
            let path = self.path.display();
            let message =
                format!("`{path}` is too long by {beyond} letters: paths of sockets have at most {most}");
            return Err(UserError::usage(
                "lab_folder",
                message,
                "a folder nearer to the root in WAVETANK_LABS",
            ));
        }
        if self.path.symlink_metadata().is_err() || self.exists() {
            return Ok(());
        }
        let message = format!("`{}` is there, and is no lab's", self.path.display());
        Err(UserError::usage("lab_folder", message, "another --lab NAME, or another folder in WAVETANK_LABS"))
    }

    /// The right to change the folder, if nobody has it; it is made if `make` says so.
    pub(crate) fn lock(&self, make: bool) -> Result<Option<Lock>, UserError> {
        Lock::take(&self.path, make)
            .map_err(|error| system(&format!("`{}` cannot be made or locked", self.path.display()), &error))
    }

    /// Whether there is a folder of a lab. It is taken away with everything in it, so it holds what a lab leaves and
    /// nothing else; a link would be emptied where it leads.
    pub fn exists(&self) -> bool {
        let real = self.path.symlink_metadata().is_ok_and(|about| about.is_dir());
        let Ok(entries) = std::fs::read_dir(&self.path) else { return false };
        let names = entries.flatten().map(|entry| entry.file_name());
        // Who put a file of his own beside a lab's state has a lab all the same.
        let ours = || names.into_iter().all(|name| OWN.iter().any(|own| name == *own));
        real && (self.path.join(STATE_FILE).exists() || ours())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_place(files: &[&str], a_lab: bool) {
        let root = tempfile::tempdir().expect("temporary folders can be made");
        let folder = LabsFolder { path: root.path().to_owned() }.lab("shop").expect("a name");
        std::fs::create_dir(folder.path()).expect("can be made");
        for file in files {
            std::fs::write(folder.path().join(file), "precious").expect("can be written");
        }
        assert_eq!(folder.exists(), a_lab, "{files:?}");
        assert_eq!(folder.check_usable().is_ok(), a_lab, "{files:?}");
        let link = LabsFolder { path: root.path().to_owned() }.lab("link").expect("a name");
        std::os::unix::fs::symlink(folder.path(), link.path()).expect("can be made");
        assert!(!link.exists() && link.check_usable().is_err(), "a link to {files:?}");
    }

    #[test]
    fn a_path_that_is_too_long_for_a_socket_is_told() {
        let of = |letters: usize| LabsFolder { path: PathBuf::from(format!("/{}", "x".repeat(letters))) };
        let check = |letters: usize, fits: bool| {
            let lab = of(letters).lab("shop").expect("a name");
            assert_eq!(lab.check_usable().is_ok(), fits, "{letters}");
        };
        // "/" and "/shop" and "/hosts/exec-4294967295.sock"
        let others = 1 + 5 + 27;
        check(SOCKET_PATH_MAX - others, true);
        check(SOCKET_PATH_MAX - others + 1, false);
    }

    #[test]
    fn what_is_somebody_elses_is_no_lab() {
        check_place(&[], true);
        check_place(&["lock"], true);
        check_place(&["lock", "order.json", "keeper.log"], true);
        check_place(&["lab.json", "notes.txt"], true);
        check_place(&["lock", "accounts.db"], false);
        check_place(&["accounts.db"], false);
    }

    /// Labs of these names, and what is chosen of them.
    #[track_caller]
    fn check(there: &[&str], asked: Option<&str>, chosen: Result<&str, &str>) {
        let root = tempfile::tempdir().expect("temporary folders can be made");
        let labs = LabsFolder { path: root.path().to_owned() };
        for name in there {
            std::fs::create_dir(root.path().join(name)).expect("can be made");
        }
        std::fs::create_dir_all(root.path().join("other/things")).expect("can be made");
        let found = labs.choose(asked);
        assert_eq!(
            found.as_ref().map(LabFolder::name).map_err(|error| error.code),
            chosen,
            "{there:?} {asked:?}"
        );
    }

    #[test]
    fn a_name_is_needed_only_where_there_are_several() {
        check(&["shop"], None, Ok("shop"));
        check(&["shop", "bank"], None, Err("lab_which"));
        check(&["shop", "bank"], Some("bank"), Ok("bank"));
        check(&[], None, Err("lab_none"));
    }

    #[test]
    fn a_lab_that_is_not_there_is_not_chosen() {
        check(&["shop"], Some("shob"), Err("lab_none"));
        check(&["shop"], Some("other"), Err("lab_none"));
        check(&["shop"], Some("../shop"), Err("lab_name"));
    }
}
