//! Reports, downloads and comparisons: the output of `wavetank report` and `wavetank compare`.

use std::ffi::OsString;
use std::path::PathBuf;

use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use crate::context::{Shared, waiting};
use crate::problem::Problem;
use crate::program::Output;
use crate::runs::query_value;

/// A report has its style in itself, and no script.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                             form-action 'none'; frame-ancestors 'none'";
const HTML: &str = "text/html; charset=utf-8";
/// Formats of `wavetank report`: name, suffix of the file, content type.
const FORMATS: [(&str, &str, &str); 9] = [
    ("html", "html", HTML),
    ("text", "txt", "text/plain; charset=utf-8"),
    ("oneline", "line.txt", "text/plain; charset=utf-8"),
    ("json", "json", "application/json"),
    ("csv", "csv", "text/csv; charset=utf-8"),
    ("junit", "xml", "application/xml"),
    ("markdown", "md", "text/markdown; charset=utf-8"),
    ("hgrm", "hgrm", "text/plain; charset=utf-8"),
    ("hlog", "hlog", "text/plain; charset=utf-8"),
];

/// `/runs/RUN/report`: the page of `wavetank report --format html`.
pub(crate) async fn report(State(shared): State<Shared>, Path(run): Path<String>) -> Response {
    match output(&shared, &run, "html").await {
        Ok(output) => html(output.stdout),
        Err(problem) => problem.into_page(),
    }
}

/// `/runs/RUN/download/FORMAT`: the report as a file.
pub(crate) async fn download(
    State(shared): State<Shared>,
    Path((run, format)): Path<(String, String)>,
) -> Response {
    let Some((_, suffix, kind)) = FORMATS.into_iter().find(|(name, ..)| *name == format) else {
        let names: Vec<&str> = FORMATS.iter().map(|(name, ..)| *name).collect();
        let problem = Problem::new(StatusCode::NOT_FOUND, "there is no such format", names.join(", "));
        return problem.into_page();
    };
    match output(&shared, &run, &format).await {
        Ok(output) => {
            // Folders and ids have no quotes; others are removed.
            let name: String =
                run.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
            let disposition = format!("attachment; filename=\"{name}.{suffix}\"");
            let headers =
                [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
            (headers, output.stdout).into_response()
        }
        Err(problem) => problem.into_page(),
    }
}

/// `/compare?a=RUN&b=RUN`: the page of `wavetank compare --format html`.
pub(crate) async fn comparison(State(shared): State<Shared>, RawQuery(query): RawQuery) -> Response {
    match compared(&shared, query.as_deref()).await {
        Ok(page) => html(page),
        Err(problem) => problem.into_page(),
    }
}

async fn compared(shared: &Shared, query: Option<&str>) -> Result<Vec<u8>, Problem> {
    let side = |name: &str| query_value(query, name).unwrap_or_default();
    let (a, b) = (side("a"), side("b"));
    if a.is_empty() || b.is_empty() {
        return Err(Problem::bad_request("a comparison needs two runs", "mark two runs in the list"));
    }
    if a == b {
        return Err(Problem::bad_request("both sides are the same run", "mark two different runs"));
    }
    let of = std::sync::Arc::clone(shared);
    let folders = waiting(move || Ok([of.folder(&a)?, of.folder(&b)?])).await?;
    let [a, b] = folders.map(|path| one_side(&path));
    let words = ["compare".into(), a, b, "--format".into(), "html".into()];
    let output = shared.program.output(&words).await?;
    if output.stdout.is_empty() { Err(output.problem()) } else { Ok(output.stdout) }
}

/// A side is a list of runs separated by commas, so those of a path are escaped.
fn one_side(path: &std::path::Path) -> OsString {
    OsString::from(path.to_string_lossy().replace(',', "\\,"))
}

async fn output(shared: &Shared, run: &str, format: &str) -> Result<Output, Problem> {
    let (of, run) = (std::sync::Arc::clone(shared), run.to_owned());
    let folder: PathBuf = waiting(move || of.folder(&run)).await?;
    let words = ["report".into(), folder.into_os_string(), "--format".into(), OsString::from(format)];
    let output = shared.program.output(&words).await?;
    if output.exit == 0 { Ok(output) } else { Err(output.problem()) }
}

fn html(page: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, HTML), (header::CONTENT_SECURITY_POLICY, REPORT_POLICY)], page).into_response()
}
