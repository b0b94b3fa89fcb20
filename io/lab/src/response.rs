//! Answers between the lab's processes: a value, or a user-readable error.

use serde_json::{Value, json};
use wavetank_units::{Code, ExitCode, UserError};

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
    json!({ "code": code.as_str(), "message": message, "hint": hint, "exit": *exit as u8, "others": others })
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
        // An unknown code is one of another version of this program.
        code: error["code"].as_str().and_then(Code::from_name).unwrap_or(Code::LabMessage),
        message: text("message"),
        hint: text("hint"),
        exit: exit(error["exit"].as_u64()),
        others: others.unwrap_or_default(),
    }
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
    UserError::refused(Code::LabSystem, format!("{what}: {error}"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: &Result<Value, UserError>) {
        assert_eq!(&read(from_result(result)), result);
    }

    #[test]
    fn a_code_of_another_version_is_no_problem() {
        let sent = json!({ "error": { "code": "of_tomorrow", "message": "m", "hint": "h", "exit": 2 } });
        assert_eq!(read(sent), Err(UserError::usage(Code::LabMessage, "m", "h")));
    }

    #[test]
    fn what_is_sent_is_what_is_read() {
        check(&Ok(json!({ "id": 7 })));
        check(&Ok(Value::Null));
        for exit in
            [ExitCode::Fail, ExitCode::Usage, ExitCode::Invalid, ExitCode::Incomplete, ExitCode::Refused]
        {
            let error = UserError { exit, ..UserError::usage(Code::UnitMissing, "`5` has no unit", "5s") };
            let other = UserError::refused(Code::LabRoot, "no root", "sudo");
            check(&Err(UserError { others: vec![other], ..error.clone() }));
            check(&Err(error));
        }
    }
}
