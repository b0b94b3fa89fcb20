//! `wavetank explain`.

use wavetank_report::{explain_doc, explain_list, explain_text, explanations};
use wavetank_units::{ExitCode, UserError};

use crate::cli::{ExplainArgs, FileFormat};
use crate::output;

/// Prints the explanation of each code, or lists all codes by group. Exit 0; 2 for an unknown code.
pub(crate) fn explain(args: &ExplainArgs) -> Result<u8, UserError> {
    let mut found = Vec::new();
    for code in &args.codes {
        let named = wavetank_report::explain(code)?;
        found.extend(named.into_iter().filter(|one| !found.contains(one)).collect::<Vec<_>>());
    }
    output::print(&match (args.format, args.codes.is_empty()) {
        (FileFormat::Text, true) => explain_list(),
        (FileFormat::Text, false) => explain_text(&found),
        (FileFormat::Json, true) => explain_doc(&explanations()).to_json() + "\n",
        (FileFormat::Json, false) => explain_doc(&found).to_json() + "\n",
    })?;
    Ok(ExitCode::Pass as u8)
}
