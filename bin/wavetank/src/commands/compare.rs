//! `wavetank compare A B`.

use wavetank_record::CompareDoc;
use wavetank_report::{comparison_junit, comparison_markdown, comparison_text};
use wavetank_store::{RunsDir, os_error_text};
use wavetank_units::{Code, UserError};

use crate::cli::{CompareArgs, OutputFormat};
use crate::comparison::{LoadedRun, compare_nets, compare_sides, load_all, load_networks, page};
use crate::output;
use crate::output::open_all;

/// Reports the differences. Exit 1 if a regression beyond `--max-regression` is shown, 4 if the
/// runs cannot decide.
pub(crate) fn compare(args: &CompareArgs) -> Result<u8, UserError> {
    let runs = RunsDir::new(&args.runs_dir);
    let (a, b) = args.sides()?;
    if let Some([a, b]) = load_networks(&runs, [&a, &b])? {
        let doc = compare_nets([&a, &b], &args.settings())?;
        return deliver(args, &doc, [&[], &[]]);
    }
    let (a, b) = (load_all(&runs, &a)?, load_all(&runs, &b)?);
    let doc = compare_sides(&a, &b, &args.settings())?;
    deliver(args, &doc, [&a, &b])
}

/// Writes the comparison in all formats. `sides` are the runs for the charts of a page; of
/// measurements of a network there are none.
fn deliver(args: &CompareArgs, doc: &CompareDoc, sides: [&[LoadedRun]; 2]) -> Result<u8, UserError> {
    let rendered = |format| match format {
        OutputFormat::Html => page(doc, sides, args),
        format => render(doc, format),
    };
    let mut failures = Vec::new();
    for file in open_all(&args.out)? {
        let shown = file.path.display().to_string();
        let text = rendered(file.format);
        let filled: std::io::Result<()> = file.write_atomically(|to| to.write_all(text.as_bytes()));
        failures.extend(filled.err().map(|error| {
            let message = format!("cannot write the result to `{shown}`: {}", os_error_text(&error));
            UserError::usage(Code::ResultUnwritten, message, "free some space there; compare again")
        }));
    }
    // A failure to write one output does not stop the others.
    failures.extend(output::print(&rendered(args.format)).err());
    UserError::combine(failures).map_or(Ok(doc.exit), Err)
}

/// Renders the comparison in `format`, which is not HTML. Formats without a comparison are refused
/// when arguments are parsed.
pub(crate) fn render(doc: &CompareDoc, format: OutputFormat) -> String {
    match format {
        OutputFormat::Json => doc.to_json() + "\n",
        OutputFormat::Junit => comparison_junit(doc),
        OutputFormat::Markdown => comparison_markdown(doc),
        _ => comparison_text(doc),
    }
}
