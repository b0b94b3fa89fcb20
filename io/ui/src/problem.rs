//! [`Problem`]: why a request is not carried out, as JSON or as a page.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use wavetank_units::UserError;

/// Why a request is not carried out, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status, message: message.into(), hint: hint.into() }
    }

    /// A mistake in the request.
    pub(crate) fn bad_request(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message, hint)
    }

    /// This server cannot do it.
    pub(crate) fn internal(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message, hint)
    }

    /// There is no such run.
    pub(crate) fn no_run(name: &str) -> Self {
        let message = format!("there is no run `{name}`");
        Self::new(StatusCode::NOT_FOUND, message, "open the list of runs: it may have been removed")
    }

    /// The problem as a page for a person who followed a link.
    pub(crate) fn into_page(self) -> Response {
        let text = |text: &str| {
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            text.replace('"', "&quot;")
        };
        let page = include_str!("../assets/problem.html")
            .replace("{{message}}", &text(&self.message))
            .replace("{{hint}}", &text(&self.hint));
        (self.status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
    }
}

impl From<UserError> for Problem {
    fn from(error: UserError) -> Self {
        Self::bad_request(error.message, error.hint)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.message, "hint": self.hint }).to_string();
        (self.status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
    }
}

/// Returns a value as a JSON response.
pub(crate) fn json_response(value: &serde_json::Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
