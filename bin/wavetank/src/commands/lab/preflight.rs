//! [`Preflight`]: checks whether this machine can run a lab.

use std::io::Write;

use serde_json::{Value, json};
#[cfg(target_os = "linux")]
use wavetank_lab::{LabSpec, LabTag, LabsFolder};
use wavetank_record::LackDoc;
use wavetank_topology::Lab;
#[cfg(target_os = "linux")]
use wavetank_units::ExitCode;
use wavetank_units::{UserError, sanitize_lines};

/// Result of the checks. Nothing of the lab is created.
pub(super) struct Preflight {
    /// Why the machine was not checked; `None` if it was.
    not: Option<String>,
    /// Missing programs, kernel features and settings.
    lacking: Vec<UserError>,
    /// What programs warn of in the user's configurations.
    warnings: Vec<String>,
}

/// Returns the line for a warning of a program.
fn warning(text: &str) -> String {
    format!("warning: {text} [lab_config]\n")
}

/// Prints what programs warn of in the user's configurations on stderr.
#[cfg(target_os = "linux")]
pub(super) fn print_warnings(warnings: &[String]) {
    let text = warnings.iter().map(|text| warning(text)).collect::<String>();
    // If stderr is closed, the lab is up all the same.
    let _ = std::io::stderr().write_all(sanitize_lines(&text).as_bytes());
}

impl Preflight {
    /// Checks whether this machine can run `lab`, if the user may do so, and has programs check
    /// their configurations. `file` is the lab's file, for messages.
    ///
    /// # Errors
    /// Mistakes in the file, or in files it names, that only these checks can find.
    #[cfg(target_os = "linux")]
    pub(super) fn run(lab: &Lab, file: &str) -> Result<Self, UserError> {
        if wavetank_lab::privileged().is_err() {
            let not = "checking this machine needs root: sudo wavetank lab check FILE".to_owned();
            return Ok(Self { not: Some(not), lacking: Vec::new(), warnings: Vec::new() });
        }
        let folder = LabsFolder::system().lab(&lab.name)?;
        let order = LabSpec {
            mark: LabTag::generate(&lab.name)?,
            file: file.to_owned(),
            lab: lab.clone(),
            owner: None,
        };
        let (lacking, mut wrong): (Vec<UserError>, Vec<UserError>) =
            match wavetank_lab::check(&order, &folder) {
                Ok(warnings) => return Ok(Self { not: None, lacking: Vec::new(), warnings }),
                Err(error) => error.one_by_one().into_iter().partition(|one| one.exit == ExitCode::Refused),
            };
        if wrong.is_empty() {
            return Ok(Self { not: None, lacking, warnings: Vec::new() });
        }
        wrong.extend(lacking);
        Err(UserError::combine(wrong).expect("there is at least one"))
    }

    /// Reports that this system cannot run labs.
    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unnecessary_wraps, reason = "where it can be tried, it may show that the file is wrong")]
    pub(super) fn run(_: &Lab, _: &str) -> Result<Self, UserError> {
        let not = format!("labs run on Linux only, and this is {}", std::env::consts::OS);
        Ok(Self { not: Some(not), lacking: Vec::new(), warnings: Vec::new() })
    }

    /// Prints what is missing on stderr; nothing if the machine has everything.
    pub(super) fn print(&self) {
        let note = self.not.iter().map(|why| format!("note: only the file was checked: {why}\n"));
        let lack = |UserError { code, message, hint, .. }: &UserError| {
            format!("this machine: {message} [{code}]\nhint: {hint}\n")
        };
        let warnings = self.warnings.iter().map(|text| warning(text));
        let text = note.chain(warnings).chain(self.lacking.iter().map(lack)).collect::<Vec<_>>().concat();
        // If stderr is closed, stdout still gets the description. Names in the text come from
        // outside.
        let _ = std::io::stderr().write_all(sanitize_lines(&text).as_bytes());
    }

    /// Adds the result to the JSON output.
    pub(super) fn write_to(&self, answer: &mut Value) {
        answer["tried"] = json!(self.not.is_none());
        answer["not_tried"] = json!(self.not);
        answer["warnings"] = json!(self.warnings);
        answer["lacking"] = json!(self.lacking.iter().map(LackDoc::from).collect::<Vec<_>>());
    }
}
