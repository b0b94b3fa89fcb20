//! Experiment files: their list, their variables, checks while typing, and the start of a run.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use wavetank_units::{Code, UserError, sanitize};

use crate::actions::body;
use crate::context::{Shared, waiting};
use crate::problem::{Problem, json_response};

/// Files in the list.
const FILES_MAX: usize = 500;
/// Folders within the folder that are searched.
const DEPTH_MAX: usize = 3;
/// Bytes of a file that are read to see whether it is an experiment.
const HEAD_BYTES: u64 = 16 << 10;

/// A file with the values of the form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StartBody {
    /// Its path from the folder of experiments.
    file: String,
    /// Changed variables.
    #[serde(default)]
    set: Vec<(String, String)>,
    /// `--target`; empty: as in the file.
    #[serde(default)]
    target: String,
    /// `--scale`.
    #[serde(default)]
    scale: String,
    /// `--speed`.
    #[serde(default)]
    speed: String,
}

impl StartBody {
    /// The options of the command line. Each is one word, so that no value is read as an option.
    fn options(&self) -> Vec<OsString> {
        let set = self.set.iter().map(|(name, value)| format!("--set={name}={value}"));
        let given = [("target", &self.target), ("scale", &self.scale), ("speed", &self.speed)];
        let given = given.into_iter().filter(|(_, value)| !value.trim().is_empty());
        set.chain(given.map(|(name, value)| format!("--{name}={}", value.trim())))
            .map(OsString::from)
            .collect()
    }
}

/// Returns the absolute path of the folder of experiments.
pub(crate) fn folder(path: &Path) -> Result<PathBuf, UserError> {
    let refused = |why: String| {
        let message = format!("cannot read experiments in `{}`: {why}", sanitize(&path.to_string_lossy()));
        UserError::usage(Code::UiFolder, message, "name the folder with experiment files: --dir DIR")
    };
    let whole = path.canonicalize().map_err(|error| refused(error.to_string()))?;
    if whole.is_dir() { Ok(whole) } else { Err(refused("it is not a folder".to_owned())) }
}

/// `/api/experiments`: experiment files in the folder, by path.
pub(crate) async fn list(State(shared): State<Shared>) -> Result<Response, Problem> {
    let reply = waiting(move || {
        let top = &shared.config.experiments;
        let mut files = Vec::new();
        find(top, top, DEPTH_MAX, &mut files);
        files.sort();
        let is_cut = files.len() >= FILES_MAX;
        Ok(json!({ "folder": top.to_string_lossy(), "files": files, "cut": is_cut }))
    });
    Ok(json_response(&reply.await?))
}

/// Adds the experiment files below `folder`, which have a line `wavetank: 1` and no hosts of a lab.
fn find(top: &Path, folder: &Path, depth: usize, files: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        // Links are not followed, so that the search ends.
        let Ok(kind) = entry.file_type() else { continue };
        if files.len() >= FILES_MAX || is_hidden {
            continue;
        }
        if kind.is_dir() && depth > 0 {
            find(top, &path, depth - 1, files);
        }
        let is_yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
        if kind.is_file() && is_yaml && is_experiment(&path) {
            let name = path.strip_prefix(top).unwrap_or(&path);
            files.extend(name.to_str().map(str::to_owned));
        }
    }
}

fn is_experiment(path: &Path) -> bool {
    use std::io::Read as _;
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let text = String::from_utf8_lossy(&head);
    let has_key =
        |key: &str| text.lines().any(|line| line.split('#').next().is_some_and(|line| line.starts_with(key)));
    read.is_ok() && has_key("wavetank:") && !has_key("networks:") && !has_key("hosts:")
}

/// The path of a file of the list. Paths that leave the folder are refused.
fn file_path(top: &Path, name: &str) -> Result<PathBuf, Problem> {
    let relative = Path::new(name);
    let is_plain = !name.is_empty() && relative.components().all(|part| matches!(part, Component::Normal(_)));
    let found = is_plain.then(|| top.join(relative).canonicalize().ok()).flatten();
    found.filter(|path| path.starts_with(top) && path.is_file()).ok_or_else(|| {
        let message = format!("there is no experiment file `{name}` in the folder");
        Problem::new(StatusCode::NOT_FOUND, message, "choose a file of the list")
    })
}

/// `/api/check`: what `wavetank check` reports about the file with these values, and its variables.
pub(crate) async fn check(State(shared): State<Shared>, bytes: Bytes) -> Result<Response, Problem> {
    let form: StartBody = body(&bytes)?;
    let path = file_path(&shared.config.experiments, &form.file)?;
    let mut words = vec!["check".into(), path.into_os_string(), "--format".into(), "json".into()];
    words.extend(form.options());
    let output = shared.program.output(&words).await?;
    // A valid file and one with errors are both described as JSON.
    let doc: Result<Value, _> = serde_json::from_slice(&output.stdout);
    match doc {
        Ok(doc) => Ok(json_response(&doc)),
        Err(_) => Err(output.problem()),
    }
}

/// `/api/start`: starts a run in the background, and returns its id when its load is prepared.
pub(crate) async fn start(State(shared): State<Shared>, bytes: Bytes) -> Result<Response, Problem> {
    let form: StartBody = body(&bytes)?;
    let path = file_path(&shared.config.experiments, &form.file)?;
    // A browser that leaves must not leave the run half started: the task goes on without it.
    let task = tokio::spawn(async move { shared.program.start_run(&path, &form.options()).await });
    let ended = |_| Problem::internal("the request ended early", "look whether the run is in the list");
    let output = task.await.map_err(ended)??;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let id = printed.strip_prefix("run ").and_then(|rest| rest.split_whitespace().next());
    match id {
        Some(id) if output.exit == 0 => Ok(json_response(&json!({ "run": id }))),
        _ => Err(output.problem()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_folder_are_named() {
        let place = tempfile::tempdir().expect("a folder");
        let top = place.path().join("experiments").canonicalize().or_else(|_| {
            std::fs::create_dir_all(place.path().join("experiments/sub"))?;
            place.path().join("experiments").canonicalize()
        });
        let top = top.expect("a folder");
        std::fs::write(top.join("a.yaml"), "wavetank: 1\nvars: {n: 1}\n").expect("written");
        std::fs::write(top.join("sub/b.yml"), "wavetank: 1 # x\n").expect("written");
        std::fs::write(top.join("lab.yaml"), "wavetank: 1\nhosts: {}\n").expect("written");
        std::fs::write(top.join("other.yaml"), "name: x\n").expect("written");
        std::fs::write(place.path().join("secret.yaml"), "wavetank: 1\n").expect("written");
        std::os::unix::fs::symlink(place.path().join("secret.yaml"), top.join("link.yaml")).expect("a link");
        let mut files = Vec::new();
        find(&top, &top, DEPTH_MAX, &mut files);
        files.sort();
        assert_eq!(files, ["a.yaml", "sub/b.yml"]);
        assert_eq!(file_path(&top, "sub/b.yml"), Ok(top.join("sub/b.yml")));
        for bad in [
            "",
            "../secret.yaml",
            "/etc/passwd",
            "sub/../../secret.yaml",
            "link.yaml",
            "sub",
            "none.yaml",
            "./a.yaml",
        ] {
            let allowed = file_path(&top, bad).is_ok();
            assert!(!allowed, "{bad}");
        }
    }

    #[test]
    fn values_cannot_become_options() {
        let form = StartBody {
            file: "a.yaml".to_owned(),
            set: vec![("n".to_owned(), "--detach".to_owned())],
            target: " --help ".to_owned(),
            scale: String::new(),
            speed: "2x".to_owned(),
        };
        assert_eq!(form.options(), ["--set=n=--detach", "--target=--help", "--speed=2x"]);
    }
}
