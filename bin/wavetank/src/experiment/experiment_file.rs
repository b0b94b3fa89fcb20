//! [`ExperimentFile`]: an experiment file with the files it names.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use wavetank_experiment::{
    DataContent, DataFacts, DataFile, Experiment, ParseInput, read, read_url, verify_data, verify_grpc,
    verify_traces,
};
use wavetank_grammar::{Diagnostic, Diagnostics, Severity};
use wavetank_journey::data::{RowsConfig, Table};
use wavetank_plan::PemFile;
use wavetank_plan::{RunOptions, Secret};
#[cfg(target_os = "linux")]
use wavetank_runner::reflected;
use wavetank_store::os_error_text;
use wavetank_units::quantity::show_size;
use wavetank_units::{Code, UserError, did_you_mean};

use crate::cli::{ExperimentSource, FileArgs};

/// More is no experiment; the reader says so of what is a little less.
const EXPERIMENT_MAX: u64 = 64 << 20;
/// Rows are held in memory, with their text in one piece of 4 GiB at most.
const DATA_MAX: u64 = 4 << 30;
/// A body or a certificate: every load thread keeps what it sends in memory.
const FILE_MAX: u64 = 256 << 20;
/// Prefix of the environment variable with a secret, if no option names a file.
const SECRET_PREFIX: &str = "WAVETANK_SECRET_";

/// Whether rows must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataLoading {
    /// A file of rows that is not there yet is made before the run: a warning.
    Later,
    /// The run begins now: an error.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "runs are Linux's"))]
    Now,
    /// One user is tried: as many rows as the load needs are no matter.
    One,
}

/// See the module's description.
pub(crate) struct ExperimentFile {
    /// The file's name as given.
    pub(crate) name: String,
    /// What it says, with the options in place; `None` if it cannot be run.
    pub(crate) experiment: Option<Experiment>,
    /// All remarks.
    pub(crate) diagnostics: Diagnostics,
    /// The text that places refer to.
    pub(crate) text: String,
    /// Rows of each data source that is a file, by its index under `data`; `None` if the file is
    /// missing.
    pub(crate) tables: Vec<Option<Table>>,
    /// Whether a URL of the command line takes the place of a file, so that there are no positions.
    pub(super) is_url: bool,
    /// Where the names in the file begin.
    folder: PathBuf,
    rows: DataLoading,
    /// Files that options name, read already.
    given: Vec<PemFile>,
    /// Names of files in the experiment that were read.
    named: RefCell<BTreeSet<String>>,
    /// Names of the experiment's secrets.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "manifests need Linux"))]
    pub(crate) secret_names: BTreeSet<String>,
}

impl ExperimentFile {
    /// Reads the file named by `args` and its data files, with `options` overriding its own values.
    /// Errors in them become diagnostics.
    ///
    /// # Errors
    /// If the file cannot be read at all, or an option does not apply to it.
    pub(crate) fn read(args: &FileArgs, options: &RunOptions, rows: DataLoading) -> Result<Self, UserError> {
        let (name, bytes) = match &args.source {
            ExperimentSource::File(file) => {
                let name = file.display().to_string();
                let bytes = bytes_of(file, EXPERIMENT_MAX).map_err(|why| unreadable(&name, &why))?;
                (name, bytes)
            }
            ExperimentSource::Url { request, .. } => (request.url.clone(), Vec::new()),
        };
        let asked = RefCell::new(BTreeSet::new());
        let input = ParseInput {
            name: &name,
            bytes: &bytes,
            set: &args.set,
            env: &|name| std::env::var(name).ok(),
            has_secret: &|name| {
                asked.borrow_mut().insert(name.to_owned());
                args.secret(name).is_some()
            },
            options,
        };
        let mut reading = match &args.source {
            ExperimentSource::File(_) => read(&input),
            ExperimentSource::Url { request, .. } => read_url(request, &input),
        };
        if let Some((unused, _)) = args.secrets.iter().find(|(name, _)| !asked.borrow().contains(name)) {
            reading.diagnostics.push(secret_unused(unused, &asked.borrow()));
        }
        if let Some(experiment) = &mut reading.experiment {
            rehearse(experiment, args)?;
        }
        let (folder, files) = match &args.source {
            ExperimentSource::File(file) => (file.parent().map(Path::to_owned).unwrap_or_default(), &[][..]),
            ExperimentSource::Url { files, .. } => (PathBuf::new(), files.as_slice()),
        };
        let described = describe(&mut reading.experiment, options)?;
        let mut loaded = Self {
            name,
            experiment: reading.experiment,
            diagnostics: reading.diagnostics,
            text: reading.text,
            tables: Vec::new(),
            is_url: matches!(args.source, ExperimentSource::Url { .. }),
            folder,
            rows,
            given: [&options.tls.ca, &options.tls.cert, &options.tls.key]
                .into_iter()
                .flatten()
                .chain(files)
                .chain(&described)
                .cloned()
                .collect(),
            named: RefCell::default(),
            secret_names: asked.into_inner(),
        };
        loaded.read_data();
        Ok(loaded)
    }

    fn read_data(&mut self) {
        let Some(experiment) = self.experiment.take() else { return };
        for source in &experiment.data {
            let table = match &source.content {
                DataContent::File(file) => self.table(file),
                DataContent::Rows { .. } => None,
            };
            self.tables.push(table);
        }
        let facts = |name: &str| {
            let named =
                |content: &DataContent| matches!(content, DataContent::File(file) if file.file.value == name);
            let at = experiment.data.iter().position(|source| named(&source.content))?;
            let table = self.tables[at].as_ref()?;
            Some(DataFacts {
                columns: table.columns().map(str::to_owned).collect(),
                rows: u64::from(table.rows()),
            })
        };
        // One user needs no arrivals.
        if self.rows != DataLoading::One {
            let wrong = verify_traces(&experiment, &|name| self.file(name));
            wrong.sorted().into_iter().for_each(|one| self.diagnostics.push(one.clone()));
        }
        for wrong in verify_grpc(&experiment, &|name| self.file(name)).sorted() {
            let place = wrong.place.filter(|_| !self.is_url);
            self.diagnostics.push(Diagnostic { place, ..wrong.clone() });
        }
        for remark in verify_data(&experiment, &facts).sorted() {
            let mut remark = remark.clone();
            if self.rows == DataLoading::One && remark.code == Code::RowsTooFew {
                remark.severity = Severity::Warning;
            }
            self.diagnostics.push(remark);
        }
        self.experiment = Some(experiment).filter(|_| !self.diagnostics.has_errors());
    }

    /// The bytes of a file that the experiment names, or an option in its place.
    pub(crate) fn file(&self, name: &str) -> Result<Vec<u8>, UserError> {
        if let Some(given) = self.given.iter().find(|given| given.name == name) {
            return Ok(given.bytes.clone());
        }
        self.named.borrow_mut().insert(name.to_owned());
        bytes_of(&self.folder.join(name), FILE_MAX).map_err(|why| match why {
            ReadError::Missing => {
                let hint = "file names are relative to the experiment's folder";
                UserError::usage(Code::BadFile, format!("{name}: there is no such file"), hint)
            }
            why => unreadable(name, &why),
        })
    }

    /// Returns the names of all files in the experiment that were read so far.
    #[cfg(target_os = "linux")]
    pub(crate) fn named_files(&self) -> BTreeSet<String> {
        self.named.borrow().clone()
    }

    fn table(&mut self, file: &DataFile) -> Option<Table> {
        let (name, place) = (&file.file.value, file.file.place);
        self.named.borrow_mut().insert(name.clone());
        let bytes = match bytes_of(&self.folder.join(name), DATA_MAX) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => {
                let hint = "file names are relative to the experiment's folder";
                self.diagnostics.push(match self.rows {
                    DataLoading::Later => {
                        let message = format!("{name} does not exist; only the experiment file is checked");
                        Diagnostic::warning(Code::DataMissing, place, message, hint)
                    }
                    DataLoading::Now | DataLoading::One => {
                        let message =
                            format!("{name} does not exist, and sessions take their values from it");
                        Diagnostic::error(Code::DataMissing, place, message, hint)
                    }
                });
                return None;
            }
            Err(why) => {
                self.diagnostics.push(Diagnostic::from_error(unreadable(name, &why), place));
                return None;
            }
        };
        let columns: Vec<&str> = file.columns.iter().map(String::as_str).collect();
        let mut source = RowsConfig::named(name);
        source.columns = (!columns.is_empty()).then_some(columns.as_slice());
        source.separator = file.separator.or(source.separator);
        source.encoding = file.encoding.as_deref();
        match source.read(&bytes) {
            Ok((table, remarks)) => {
                for remark in remarks {
                    self.diagnostics.push(Diagnostic::note(remark.code, place, remark.message, remark.hint));
                }
                Some(table)
            }
            Err(error) => {
                self.diagnostics.push(Diagnostic::from_error(error, place));
                None
            }
        }
    }
}

/// Paths in options are relative to the current directory, those in the experiment to its folder.
/// Two files of one name must not be confused.
pub(crate) fn with_absolute_paths(mut options: RunOptions) -> RunOptions {
    let tls = &mut options.tls;
    for file in [&mut tls.ca, &mut tls.cert, &mut tls.key].into_iter().flatten() {
        if let Ok(whole) = std::path::absolute(&file.name) {
            file.name = whole.display().to_string();
        }
    }
    options
}

/// Asks a gRPC server for the descriptions of its services if the experiment says so. They take the
/// place of a file.
fn describe(experiment: &mut Option<Experiment>, options: &RunOptions) -> Result<Option<PemFile>, UserError> {
    let Some(experiment) = experiment.as_mut().filter(|experiment| experiment.grpc.reflection) else {
        return Ok(None);
    };
    let described = reflected(experiment, options)?;
    experiment.grpc.take_descriptors(&described.name);
    Ok(Some(described))
}

/// There is no load here, and nothing that could ask.
#[cfg(not(target_os = "linux"))]
fn reflected(_: &Experiment, _: &RunOptions) -> Result<PemFile, UserError> {
    let hint = "describe the services: --proto FILE, or grpc: {proto: FILE}";
    Err(UserError::usage(Code::BadProto, "servers can be asked for their services on Linux only", hint))
}

/// `--target`, `--scale`, `--speed`.
fn rehearse(experiment: &mut Experiment, args: &FileArgs) -> Result<(), UserError> {
    args.target.iter().try_for_each(|target| experiment.retarget(target))?;
    if let Some(factor) = args.scale {
        experiment.scale(factor);
    }
    if let Some(factor) = args.speed {
        experiment.speed(factor);
    }
    Ok(())
}

impl FileArgs {
    /// Returns the value of `${secret:NAME}`.
    pub(crate) fn secret(&self, name: &str) -> Option<Secret> {
        let given = self.secrets.iter().rev().find(|(own, _)| own == name).map(|(_, secret)| secret.clone());
        given.or_else(|| std::env::var(format!("{SECRET_PREFIX}{name}")).ok().map(Secret::new))
    }
}

/// Nothing in the file asks for the secret `name`; `asked` are those it does ask for.
fn secret_unused(name: &str, asked: &BTreeSet<String>) -> Diagnostic {
    let message = format!("--secret {name}: the file has no ${{secret:{name}}}");
    let known: Vec<&str> = asked.iter().map(String::as_str).collect();
    let hint = match did_you_mean(name, known.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None if known.is_empty() => "leave it out: the file uses no secrets".to_owned(),
        None => format!("it uses: {}", known.join(", ")),
    };
    Diagnostic::without_span(Code::SecretUnused, message, hint)
}

/// Why there are no bytes.
enum ReadError {
    Missing,
    TooLarge(u64),
    Other(std::io::Error),
}

fn bytes_of(path: &Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    let unread = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => ReadError::Missing,
        _ => ReadError::Other(error),
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unread)?;
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > bytes_max { Err(ReadError::TooLarge(bytes_max)) } else { Ok(bytes) }
}

fn unreadable(name: &str, why: &ReadError) -> UserError {
    let (why, hint) = match why {
        ReadError::Missing => (
            "there is no such file".to_owned(),
            "wavetank new FILE writes an example; a URL starts with http://",
        ),
        ReadError::TooLarge(most) => (format!("it is larger than {}", show_size(*most)), "a smaller file"),
        ReadError::Other(error) => match error.kind() {
            ErrorKind::IsADirectory => ("it is a folder".to_owned(), "name a file in it"),
            ErrorKind::PermissionDenied => ("it may not be read".to_owned(), "check its permissions: ls -l"),
            _ => (os_error_text(error), "check the path"),
        },
    };
    UserError::usage(Code::BadFile, format!("{name}: {why}"), hint)
}
