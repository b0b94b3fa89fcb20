//! Answers between the lab's processes: a value, or a user-readable error.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use wavetank_units::{ExitCode, UserError};

/// Maximum length of an error code from another process of ours.
const CODE_CHARS_MAX: usize = 60;
/// Maximum number of remembered codes; the program has fewer.
const CODES_MAX: usize = 1_024;

/// Codes received from other processes of ours.
static CODES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// A successful answer.
pub(crate) fn ok(value: &Value) -> Value {
    json!({ "ok": value })
}

/// Returns `result` in the form that is sent.
pub(crate) fn from_result(result: &Result<Value, UserError>) -> Value {
    match result {
        Ok(value) => ok(value),
        Err(error) => json!({ "error": error_value(error) }),
    }
}

fn error_value(error: &UserError) -> Value {
    let others: Vec<Value> = error.others.iter().map(error_value).collect();
    let UserError { code, message, hint, exit, .. } = error;
    json!({ "code": code, "message": message, "hint": hint, "exit": *exit as u8, "others": others })
}

/// Reads what [`from_result`] wrote.
pub(crate) fn read(mut answer: Value) -> Result<Value, UserError> {
    match answer.get("error") {
        Some(error) => Err(read_error(error)),
        None => Ok(answer.get_mut("ok").map(Value::take).unwrap_or_default()),
    }
}

fn read_error(error: &Value) -> UserError {
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    let others = error["others"].as_array().map(|others| others.iter().map(read_error).collect());
    UserError {
        code: code(error["code"].as_str().unwrap_or_default()),
        message: text("message"),
        hint: text("hint"),
        exit: exit(error["exit"].as_u64()),
        others: others.unwrap_or_default(),
    }
}

/// Returns the code as a constant of the program. A code from another process of ours is leaked
/// here, each one once, since a client may cause the same failure any number of times.
fn code(sent: &str) -> &'static str {
    let mut known = CODES.lock().unwrap_or_else(PoisonError::into_inner);
    let sent: String = sent.chars().take(CODE_CHARS_MAX).collect();
    if let Some(&code) = known.get(sent.as_str()) {
        return code;
    }
    if known.len() >= CODES_MAX {
        return "lab_message";
    }
    let code: &'static str = sent.leak();
    known.insert(code);
    code
}

const fn exit(code: Option<u64>) -> ExitCode {
    match code {
        Some(1) => ExitCode::Fail,
        Some(3) => ExitCode::Invalid,
        Some(4) => ExitCode::Incomplete,
        Some(2) => ExitCode::Usage,
        Some(130) => ExitCode::Signal,
        _ => ExitCode::Refused,
    }
}

/// Converts a system error into a lab error; `what` describes the failed action.
pub(crate) fn system(what: &str, error: &(dyn std::error::Error + 'static)) -> UserError {
    let hint = "a lab needs root, namespaces and room under /run; `wavetank explain lab_system`";
    UserError::refused("lab_system", format!("{what}: {error}"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: &Result<Value, UserError>) {
        assert_eq!(&read(from_result(result)), result);
    }

    #[test]
    fn a_code_is_kept_once() {
        let sent = || code("a_code_of_this_test");
        assert!(std::ptr::eq(sent(), sent()));
        assert_eq!(code(&"x".repeat(CODE_CHARS_MAX + 1)), "x".repeat(CODE_CHARS_MAX));
    }

    #[test]
    fn what_is_sent_is_what_is_read() {
        check(&Ok(json!({ "id": 7 })));
        check(&Ok(Value::Null));
        for exit in
            [ExitCode::Fail, ExitCode::Usage, ExitCode::Invalid, ExitCode::Incomplete, ExitCode::Refused]
        {
            let error = UserError { exit, ..UserError::usage("unit_missing", "`5` has no unit", "5s") };
            let other = UserError::refused("lab_root", "no root", "sudo");
            check(&Err(UserError { others: vec![other], ..error.clone() }));
            check(&Err(error));
        }
    }
}
