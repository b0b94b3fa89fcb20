//! The files of the page, embedded in the program.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

const SCRIPTS: [(&str, &str); 6] = [
    ("app.js", include_str!("../assets/app.js")),
    ("chart.js", include_str!("../assets/chart.js")),
    ("format.js", include_str!("../assets/format.js")),
    ("list.js", include_str!("../assets/list.js")),
    ("run.js", include_str!("../assets/run.js")),
    ("start.js", include_str!("../assets/start.js")),
];

/// `/`: the page. Its script shows the part that the address names after `#`.
pub(crate) async fn page() -> Response {
    file("text/html; charset=utf-8", include_str!("../assets/index.html"))
}

/// `/app.css`.
pub(crate) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("../assets/app.css"))
}

/// `/assets/NAME`: a script of the page.
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    match SCRIPTS.iter().find(|(own, _)| *own == name) {
        Some((_, text)) => file("text/javascript; charset=utf-8", text),
        None => not_found().await,
    }
}

/// Any other path.
pub(crate) async fn not_found() -> Response {
    Problem::new(StatusCode::NOT_FOUND, "there is no such page", "open the list of runs").into_page()
}

fn file(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
