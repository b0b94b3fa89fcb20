//! [`CarriedFiles`]: the experiment file of a manifest, with the files and secrets that it names.

use std::ffi::OsString;
use std::path::{Component, Path};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use wavetank_runner::Host;
use wavetank_units::{Code, UserError};

use crate::cli::{Command, ExperimentSource, FileArgs, FleetManifestArgs, LoadSource, ParseExit, parse};
use crate::commands::plan::lowered;
use crate::experiment::{DataLoading, ExperimentFile, with_absolute_paths};

/// Folder of the files in the controller's container.
pub(super) const FOLDER: &str = "/etc/wavetank/experiment";
/// Folder of the volume of `--claim` in the controller's container.
const CLAIM_FOLDER: &str = "/data";
/// Most bytes of all files: an object has 1 MiB at most, in which binary files are longer.
const BYTES_MAX: usize = 700 << 10;
/// Prefix of the environment variable with a secret.
const SECRET_PREFIX: &str = "WAVETANK_SECRET_";

/// See the module's description.
#[derive(Debug, Default)]
pub(super) struct CarriedFiles {
    /// Arguments of `wavetank run` in the container.
    pub(super) words: Vec<String>,
    /// The files, by their paths below [`FOLDER`].
    files: Vec<(String, Vec<u8>)>,
    /// Environment variables with secrets.
    pub(super) secrets: Vec<(String, String)>,
}

impl CarriedFiles {
    /// Reads the run's arguments and the files that its experiment file names.
    ///
    /// # Errors
    /// Arguments that `wavetank run` refuses, an experiment file with mistakes, files outside of
    /// its folder, secrets without a value, and files that are too large together.
    pub(super) fn read(args: &FleetManifestArgs) -> Result<Self, UserError> {
        let is_claimed = |word: &String| Path::new(word).starts_with(CLAIM_FOLDER);
        let as_given = Self { words: args.run.clone(), ..Self::default() };
        if args.claim.is_some() && args.run.iter().any(is_claimed) {
            // The files are in the volume.
            return Ok(as_given);
        }
        let argv = ["wavetank", "run"].into_iter().map(OsString::from);
        let argv = argv.chain(args.run.iter().map(OsString::from)).collect();
        let run = match parse(argv) {
            Ok(Command::Run(run)) => run,
            Err(ParseExit::Error { error, .. }) => return Err(error),
            Ok(_) | Err(ParseExit::Help(_)) => return Err(refused("they are none of a run")),
        };
        if run.fleet.fleet.is_some() {
            return Err(refused("--fleet is chosen by the manifest"));
        }
        let LoadSource::File(file) = run.goal else { return Ok(as_given) };
        let ExperimentSource::File(path) = &file.source else { return Ok(as_given) };
        let options = with_absolute_paths(run.options);
        let mut loaded = ExperimentFile::read(&file, &options, DataLoading::Now)?;
        let Some(experiment) = loaded.experiment.take() else { return Err(loaded.first_error()) };
        // Compiling it reads everything else that it names.
        lowered(&experiment, &loaded, (&file, &options, false), &Host::inspect()?)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let text = std::fs::read(path).map_err(|error| refused(&format!("{}: {error}", path.display())))?;
        let mut files = vec![(name.clone(), text)];
        for name in loaded.named_files() {
            check_inside(&name)?;
            let bytes = loaded.file(&name)?;
            files.push((name, bytes));
        }
        let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
        if bytes > BYTES_MAX {
            return Err(too_large(bytes));
        }
        let typed = path.to_string_lossy();
        let words = without_secrets(&args.run)
            .into_iter()
            .map(|word| if word == *typed { format!("{FOLDER}/{name}") } else { word });
        Ok(Self { words: words.collect(), files, secrets: secrets(&file, &loaded) })
    }

    /// Whether there are files.
    pub(super) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// The files as data of a `ConfigMap`: texts, and the others in base64.
    pub(super) fn data(&self) -> (Value, Value) {
        let (mut texts, mut binary) = (Map::new(), Map::new());
        for ((_, bytes), key) in self.files.iter().zip(keys()) {
            match std::str::from_utf8(bytes) {
                Ok(text) => drop(texts.insert(key, text.into())),
                Err(_) => drop(binary.insert(key, STANDARD.encode(bytes).into())),
            }
        }
        (texts.into(), binary.into())
    }

    /// Where each entry of that data is in the volume.
    pub(super) fn items(&self) -> Value {
        let items = self.files.iter().zip(keys()).map(|((path, _), key)| json!({"key": key, "path": path}));
        items.collect::<Vec<_>>().into()
    }
}

/// Keys of the entries: a path is none.
fn keys() -> impl Iterator<Item = String> {
    (0..).map(|number: usize| format!("file-{number}"))
}

/// The values of the experiment's secrets. A missing one is an error of the file.
fn secrets(file: &FileArgs, loaded: &ExperimentFile) -> Vec<(String, String)> {
    let value = |name: &String| {
        let secret = file.secret(name)?;
        Some((format!("{SECRET_PREFIX}{name}"), secret.reveal().to_owned()))
    };
    loaded.secret_names.iter().filter_map(value).collect()
}

/// The arguments without `--secret`, which names files of this host.
fn without_secrets(words: &[String]) -> Vec<String> {
    let mut kept = Vec::with_capacity(words.len());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--secret" {
            words.next();
        } else if !word.starts_with("--secret=") {
            kept.push(word.clone());
        }
    }
    kept
}

/// A volume has only files of its own folder.
fn check_inside(name: &str) -> Result<(), UserError> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if Path::new(name).components().all(is_plain) {
        return Ok(());
    }
    let message = format!("cannot make the manifest: `{name}` is outside of the experiment's folder");
    Err(UserError::usage(Code::BadManifest, message, "move it next to the experiment file"))
}

fn too_large(bytes: usize) -> UserError {
    let message = format!("cannot make the manifest: its files have {bytes} bytes, more than {BYTES_MAX}");
    let hint = "put them on the volume of --claim NAME, and name the experiment file there: /data/FILE";
    UserError::usage(Code::BadManifest, message, hint)
}

fn refused(reason: &str) -> UserError {
    let message = format!("cannot use the arguments of the run: {reason}");
    UserError::usage(
        Code::BadManifest,
        message,
        "write those of wavetank run after --: URL or FILE, and options",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_of_the_arguments() {
        let check = |line: &str, expected: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(without_secrets(&words).join(" "), expected);
        };
        check("x.yaml --secret A=@a --scale 2", "x.yaml --scale 2");
        check("--secret=A=@a x.yaml --secret B=@b", "x.yaml");
    }

    #[test]
    fn files_are_inside_of_the_folder() {
        for (name, is_inside) in [("a.csv", true), ("./b/a.csv", true), ("../a", false), ("/a", false)] {
            assert_eq!(check_inside(name).is_ok(), is_inside, "{name}");
        }
    }
}
