//! [`logs`]: the output of a host's services.

use std::path::PathBuf;

use wavetank_units::{Code, UserError, did_you_mean, sanitize};

use crate::LabFolder;
use crate::supervisor::host_unknown;

/// One log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// The service's name, with a number if several of its processes have a log each.
    pub name: String,
    /// The file.
    pub path: PathBuf,
}

/// Returns the logs of `host`, by name: all of them, or those of one service. Output of the host's
/// own process is in `host`.
pub fn logs(folder: &LabFolder, host: &str, service: Option<&str>) -> Result<Vec<LogFile>, UserError> {
    let state = folder.state()?;
    if !state.hosts.iter().any(|one| one.name == host) {
        return Err(host_unknown(host, state.hosts.iter().map(|one| one.name.as_str())));
    }
    let logs = found(folder, host);
    let Some(service) = service else { return Ok(logs) };
    let its: Vec<LogFile> = logs.iter().filter(|log| is_of(&log.name, service)).cloned().collect();
    if its.is_empty() {
        let names = logs.iter().map(|log| log.name.as_str());
        let hint = match did_you_mean(service, names.clone()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there is {}", names.collect::<Vec<_>>().join(", ")),
        };
        let message = format!("host {host} has no log of a service `{}`", sanitize(service));
        return Err(UserError::usage(Code::LabService, message, hint));
    }
    Ok(its)
}

pub(crate) fn found(folder: &LabFolder, host: &str) -> Vec<LogFile> {
    let Ok(entries) = std::fs::read_dir(folder.host_folder(host)) else { return Vec::new() };
    let log = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(".log")?.to_owned();
        Some(LogFile { name, path })
    };
    let mut logs: Vec<LogFile> = entries.flatten().filter_map(|entry| log(entry.path())).collect();
    logs.sort_by(|one, other| one.name.cmp(&other.name));
    logs
}

/// Whether `log` belongs to `service`: for example `haproxy`, `haproxy.2` or `haproxy.error`.
fn is_of(log: &str, service: &str) -> bool {
    log.strip_prefix(service).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostState, LabState, LabTag, Phase, TaggedProcess};

    /// Checks what is found among two logs of one service and one of another.
    #[track_caller]
    fn check(host: &str, service: Option<&str>, expected: Result<&[&str], &str>) {
        let root = tempfile::tempdir().expect("temporary folders can be made");
        let folder = LabFolder::from_argument(root.path().join("shop")).expect("a name that fits");
        let its = folder.host_folder("lb1");
        std::fs::create_dir_all(&its).expect("can be made");
        for file in ["haproxy.1.log", "haproxy.2.log", "haproxy2.log", "haproxy.cfg", "host.log"] {
            std::fs::write(its.join(file), "said").expect("can be written");
        }
        let process = TaggedProcess { pid: 1, start: 1 };
        let hosts = vec![HostState { name: "lb1".to_owned(), process }];
        let mark = LabTag::generate("shop").expect("a name that fits");
        let state = LabState { mark, phase: Phase::Up, keeper: process, hosts };
        state.write(folder.path()).expect("can be written");
        let found = logs(&folder, host, service);
        let names = found.as_ref().map(|logs| logs.iter().map(|log| log.name.as_str()).collect::<Vec<_>>());
        assert_eq!(names.map_err(|error| error.code.as_str()), expected.map(<[&str]>::to_vec));
    }

    #[test]
    fn a_service_has_all_its_logs_and_no_others() {
        check("lb1", None, Ok(&["haproxy.1", "haproxy.2", "haproxy2", "host"]));
        check("lb1", Some("haproxy"), Ok(&["haproxy.1", "haproxy.2"]));
        check("lb1", Some("haproxy2"), Ok(&["haproxy2"]));
    }

    #[test]
    fn what_is_not_there_is_reported() {
        check("lb1", Some("nginx"), Err("lab_service"));
        check("lb2", None, Err("lab_host"));
    }
}
