//! [`LabsFolder`] and [`LabFolder`]: where labs are found.

use std::path::{Path, PathBuf};

use wavetank_plan::{UserError, did_you_mean, harmless};

use crate::answer::system;
use crate::lock::{LOCK_FILE, Lock};
use crate::mark::lab_name;
use crate::order::Order;
use crate::state::LabState;

/// Where labs lie unless `WAVETANK_LABS` says otherwise.
const DEFAULT: &str = "/run/wavetank/labs";

/// The file in a lab's folder that keeps the order.
const ORDER_FILE: &str = "order.json";

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
    pub fn of_this_machine() -> Self {
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
        let labs = names.filter_map(|name| self.lab(&name).ok()).filter(LabFolder::is_there);
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
        if lab.is_there() {
            return Ok(lab);
        }
        let hint = match did_you_mean(name, names.iter().copied()) {
            Some(near) => format!("did you mean --lab {near}?"),
            None if names.is_empty() => {
                "there is no lab at all; wavetank lab up FILE brings one up".to_owned()
            }
            None => format!("there is {}", names.join(", ")),
        };
        Err(UserError::usage("lab_none", format!("there is no lab `{}`", harmless(name)), hint))
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
    pub fn order(&self) -> Result<Order, UserError> {
        let path = self.path.join(ORDER_FILE);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| system(&format!("`{}` cannot be read", path.display()), &error))?;
        Order::read(&text)
    }

    /// The socket at which the keeper takes questions.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join("keeper.sock")
    }

    /// Stores what the lab is made from.
    pub(crate) fn store(&self, order: &Order) -> std::io::Result<()> {
        std::fs::write(self.path.join(ORDER_FILE), order.written())
    }

    /// The folder as a process of the lab was told it.
    pub(crate) fn told(path: PathBuf) -> Option<Self> {
        let name = lab_name(path.file_name()?.to_str()?).ok()?.to_owned();
        Some(Self { path, name })
    }

    /// An error if something that is no lab's lies where the folder would be: it would be taken away with the lab.
    pub(crate) fn fit_for_a_lab(&self) -> Result<(), UserError> {
        if !self.path.exists() || self.is_there() {
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

    /// Whether there is a folder of a lab: one that holds nothing of ours is somebody else's.
    fn is_there(&self) -> bool {
        let holds = |name: &str| self.path.join(name).exists();
        let empty = || std::fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_none());
        holds(LOCK_FILE) || holds("lab.json") || empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
