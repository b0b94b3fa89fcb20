//! [`LabsFolder`] and [`LabFolder`]: the folders of labs.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use wavetank_units::{Code, UserError, did_you_mean, sanitize};

use crate::lab_spec::LabSpec;
use crate::lab_tag::lab_name;
use crate::lock::{LOCK_FILE, Lock, remove_above};
use crate::response::system;
use crate::state::{LabState, STATE_FILE};

/// The folder of labs unless `WAVETANK_LABS` is set.
const DEFAULT: &str = "/run/wavetank/labs";

/// The file in a lab's folder with its specification.
const ORDER_FILE: &str = "order.json";

/// Maximum length of a socket's path (`sun_path` of unix(7), without the final zero byte).
const SOCKET_PATH_MAX: usize = 107;

/// All names at the top of a lab's folder: state, order, the keeper's own files, the hosts'
/// folders, keys of SSH servers, and what a run has read of a host.
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

/// The folder of one lab, whether it exists or not.
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

    /// Returns the folder of the lab of this name.
    ///
    /// # Errors
    /// An invalid lab name.
    pub fn lab(&self, name: &str) -> Result<LabFolder, UserError> {
        let name = lab_name(name)?;
        Ok(LabFolder { path: self.path.join(name), name: name.to_owned() })
    }

    /// Returns all existing labs by name: live ones, and the remains of killed ones.
    pub fn labs(&self) -> Vec<LabFolder> {
        let Ok(entries) = std::fs::read_dir(&self.path) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let labs = names.filter_map(|name| self.lab(&name).ok()).filter(LabFolder::exists);
        let mut labs: Vec<LabFolder> = labs.collect();
        labs.sort_by(|one, other| one.name.cmp(&other.name));
        labs
    }

    /// Returns the lab of this name or, without a name, the only lab, or else the only one with
    /// this host and service.
    ///
    /// # Errors
    /// Those of [`choose`](Self::choose).
    pub fn choose_with(
        &self,
        name: Option<&str>,
        host: &str,
        service: Option<&str>,
    ) -> Result<LabFolder, UserError> {
        let labs = self.labs();
        let has = |lab: &&LabFolder| {
            let known = lab.order().ok().and_then(|order| order.lab.host(host).cloned());
            known.is_some_and(|host| {
                service.is_none_or(|name| host.services.iter().any(|service| service.name == name))
            })
        };
        if name.is_none() && labs.len() > 1 {
            let mut with = labs.iter().filter(has);
            if let (Some(only), None) = (with.next(), with.next()) {
                return Ok(only.clone());
            }
        }
        self.choose(name)
    }

    /// Returns the lab of this name or, without a name, the only lab.
    ///
    /// # Errors
    /// No lab of that name, no lab at all, or several labs without a name.
    pub fn choose(&self, name: Option<&str>) -> Result<LabFolder, UserError> {
        let labs = self.labs();
        let names: Vec<&str> = labs.iter().map(|lab| lab.name.as_str()).collect();
        let Some(name) = name else {
            return match labs.as_slice() {
                [only] => Ok(only.clone()),
                [] => Err(UserError::usage(
                    Code::LabNone,
                    "there is no lab",
                    "bring one up with `wavetank lab up FILE`",
                )),
                _ => {
                    let message = format!("there are several labs: {}", names.join(", "));
                    Err(UserError::usage(Code::LabWhich, message, "select yours with --lab NAME"))
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
                "there is no lab at all; bring one up with `wavetank lab up FILE`".to_owned()
            }
            None => format!("there is {}", names.join(", ")),
        };
        Err(UserError::usage(Code::LabNone, format!("there is no lab `{}`", sanitize(name)), hint))
    }
}

impl LabsFolder {
    /// Removes the empty folder left by a lab that was killed while starting or stopping.
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

    /// The folder for output of a host's services and of its own process.
    pub fn host_folder(&self, host: &str) -> PathBuf {
        self.path.join("hosts").join(host)
    }

    /// Returns the state of the lab; an error if the lab is starting and has not stored one yet.
    pub fn state(&self) -> Result<LabState, UserError> {
        LabState::read(&self.path)?.ok_or_else(|| {
            let message = format!("lab `{}` is starting, or its start was interrupted", self.name);
            UserError::usage(
                Code::LabNotUp,
                message,
                format!("wait, or run `wavetank lab down --lab {}`", self.name),
            )
        })
    }

    /// Returns the lab's specification.
    ///
    /// # Errors
    /// A lab that is starting, or was brought up by another version of wavetank.
    pub fn order(&self) -> Result<LabSpec, UserError> {
        let path = self.path.join(ORDER_FILE);
        let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => crate::refusals::no_root(),
            _ => system(&format!("`{}` cannot be read", path.display()), &error),
        })?;
        LabSpec::read(&text)
    }

    /// Returns the socket at which a process waits for the errand that it sends into a host. It is
    /// not inside the host's folder, because its path must be short.
    pub(crate) fn errand_socket(&self, pid: u32) -> PathBuf {
        self.path.join("hosts").join(format!("exec-{pid}.sock"))
    }

    /// The socket at which the keeper accepts clients.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join("keeper.sock")
    }

    /// Stores the lab's specification. It contains the full text of files that only root may read
    /// in a host.
    pub(crate) fn store(&self, order: &LabSpec) -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).mode(0o600).open(self.path.join(ORDER_FILE))?;
        file.write_all(order.written().as_bytes())
    }

    /// Returns the folder from the path in the arguments of a process of the lab.
    pub(crate) fn from_argument(path: PathBuf) -> Option<Self> {
        let name = lab_name(path.file_name()?.to_str()?).ok()?.to_owned();
        Some(Self { path, name })
    }

    /// Fails if the folder contains foreign files, which would be removed with the lab. Also fails
    /// if its path is too long for a socket in it.
    pub(crate) fn check_usable(&self) -> Result<(), UserError> {
        let (longest, most) = (self.errand_socket(u32::MAX), SOCKET_PATH_MAX);
        let beyond = longest.as_os_str().as_bytes().len().saturating_sub(most);
        if beyond > 0 {
            let path = self.path.display();
            let message =
                format!("`{path}` is {beyond} characters too long: a socket path has at most {most}");
            return Err(UserError::usage(
                Code::LabFolder,
                message,
                "set WAVETANK_LABS to a folder with a shorter path",
            ));
        }
        if self.path.symlink_metadata().is_err() || self.exists() {
            return Ok(());
        }
        let message = format!("`{}` exists and is not a lab's folder", self.path.display());
        Err(UserError::usage(
            Code::LabFolder,
            message,
            "use another --lab NAME, or set WAVETANK_LABS to another folder",
        ))
    }

    /// Returns the lock on the folder unless it is held elsewhere. Creates the folder if `make` is
    /// set.
    pub(crate) fn lock(&self, make: bool) -> Result<Option<Lock>, UserError> {
        Lock::take(&self.path, make)
            .map_err(|error| system(&format!("cannot create or lock `{}`", self.path.display()), &error))
    }

    /// Whether the path is a folder of a lab. The folder is later removed with everything in it, so
    /// it may contain only what a lab leaves. A link does not count, because removal would empty
    /// its target.
    pub fn exists(&self) -> bool {
        let real = self.path.symlink_metadata().is_ok_and(|about| about.is_dir());
        let Ok(entries) = std::fs::read_dir(&self.path) else { return false };
        let names = entries.flatten().map(|entry| entry.file_name());
        // If a state file exists, it is a lab, even if a user put other files next to it.
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
    fn a_path_that_is_too_long_for_a_socket_is_reported() {
        let of = |letters: usize| LabsFolder { path: PathBuf::from(format!("/{}", "x".repeat(letters))) };
        let check = |letters: usize, fits: bool| {
            let lab = of(letters).lab("shop").expect("a name");
            assert_eq!(lab.check_usable().is_ok(), fits, "{letters}");
        };
        // "/" and "/shop" and "/hosts/exec-4294967295.sock".
        let others = 1 + 5 + 27;
        check(SOCKET_PATH_MAX - others, true);
        check(SOCKET_PATH_MAX - others + 1, false);
    }

    #[test]
    fn a_foreign_folder_is_no_lab() {
        check_place(&[], true);
        check_place(&["lock"], true);
        check_place(&["lock", "order.json", "keeper.log"], true);
        check_place(&["lab.json", "notes.txt"], true);
        check_place(&["lock", "accounts.db"], false);
        check_place(&["accounts.db"], false);
    }

    /// Checks which of the labs `there` is chosen.
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
            found.as_ref().map(LabFolder::name).map_err(|error| error.code.as_str()),
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
