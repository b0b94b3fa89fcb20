//! Answers between the lab's processes: a value, or the error a person is to read.

use serde_json::{Value, json};
use wavetank_plan::{ExitCode, UserError};

/// Letters an error code sent by another process of ours may have.
const CODE_CHARS_MAX: usize = 60;

/// What was asked for.
pub(crate) fn ok(value: &Value) -> Value {
    json!({ "ok": value })
}

/// `result` as it is sent.
pub(crate) fn of(result: &Result<Value, UserError>) -> Value {
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

/// Reads what [`of`] wrote.
pub(crate) fn read(mut answer: Value) -> Result<Value, UserError> {
    match answer.get("error") {
        Some(error) => Err(read_error(error)),
        None => Ok(answer.get_mut("ok").map(Value::take).unwrap_or_default()),
    }
}

fn read_error(error: &Value) -> UserError {
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    let code: String = text("code").chars().take(CODE_CHARS_MAX).collect();
    let others = error["others"].as_array().map(|others| others.iter().map(read_error).collect());
    UserError {
        // Codes are constants of the program. One that comes from another process of ours lives as long as this
        // process, which ends with it or hands on a handful.
        code: code.leak(),
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

/// An error of the system, told as one of this lab's: `what` could not be done.
pub(crate) fn system(what: &str, error: &(dyn std::error::Error + 'static)) -> UserError {
    let hint = "a lab needs root, namespaces and room under /run; `wavetank explain lab_system`";
    UserError::refused("lab_system", format!("{what}: {error}"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: &Result<Value, UserError>) {
        assert_eq!(&read(of(result)), result);
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
