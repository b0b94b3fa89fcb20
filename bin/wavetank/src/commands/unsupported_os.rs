//! Commands that need Linux, on other systems: one clear line instead of a program that half works.
//! Arguments have been parsed by then, so a wrong option is reported first, as everywhere.

use wavetank_units::{Code, UserError};

use crate::cli::{
    AgentArgs, CalibrateArgs, CalibrationTargetArgs, CheckArgs, ControlCommand, DemoArgs, FleetArgs,
    LabCommand, NetArgs, ObserveArgs, RunArgs, SearchArgs, ServeArgs, TryArgs, UiArgs,
};

/// `wavetank run` on an unsupported system.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn run(_: RunArgs) -> Result<u8, UserError> {
    Err(linux_only("run"))
}

/// `wavetank search` on an unsupported system.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn search(_: SearchArgs) -> Result<u8, UserError> {
    Err(linux_only("search"))
}

/// `wavetank plan` on an unsupported system: the resources of a host are read from Linux.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn plan(_: CheckArgs) -> Result<u8, UserError> {
    Err(linux_only("plan"))
}

/// `wavetank serve` on an unsupported system.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn serve(_: &ServeArgs) -> Result<u8, UserError> {
    Err(linux_only("serve"))
}

/// `wavetank demo` on an unsupported system.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn demo(_: &DemoArgs) -> Result<u8, UserError> {
    Err(linux_only("demo"))
}

/// `wavetank ui` on an unsupported system: it finds running runs by their sockets.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn ui(_: &UiArgs) -> Result<u8, UserError> {
    Err(linux_only("ui"))
}

/// `wavetank observe` on an unsupported system: samples are read from Linux.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn observe(_: &ObserveArgs) -> Result<u8, UserError> {
    Err(linux_only("observe"))
}

/// `wavetank calibrate` on an unsupported system: calibration needs the load engine.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn calibrate(_: CalibrateArgs) -> Result<u8, UserError> {
    Err(linux_only("calibrate"))
}

/// The server process of `wavetank calibrate` on an unsupported system.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn calibration_target(_: &CalibrationTargetArgs) -> Result<u8, UserError> {
    Err(linux_only("calibrate"))
}

/// `wavetank lab`, where it is not possible: a lab consists of Linux namespaces. Errors in its file
/// are reported on every system.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn lab(command: LabCommand) -> Result<u8, UserError> {
    match command {
        LabCommand::Check(args) => super::lab::check(&args.file, args.format),
        _ => Err(linux_only("lab")),
    }
}

/// `wavetank fleet` on an unsupported system.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn fleet(_: FleetArgs) -> Result<u8, UserError> {
    Err(linux_only("fleet"))
}

/// `wavetank net` on an unsupported system.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn net(_: NetArgs) -> Result<u8, UserError> {
    Err(linux_only("net"))
}

/// `wavetank agent` on an unsupported system.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn agent(_: AgentArgs) -> Result<u8, UserError> {
    Err(linux_only("agent"))
}

/// A command for running runs on an unsupported system: nothing runs there.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn control(_: &ControlCommand) -> Result<u8, UserError> {
    Err(linux_only("status"))
}

/// `wavetank try` on an unsupported system.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn try_file(_: TryArgs) -> Result<u8, UserError> {
    Err(linux_only("try"))
}

/// `wavetank doctor` of a host on an unsupported system. Files are judged everywhere.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled here for the test of its message"))]
pub(crate) fn doctor() -> UserError {
    linux_only("doctor")
}

fn linux_only(command: &str) -> UserError {
    UserError::refused(
        Code::LinuxOnly,
        format!("`wavetank {command}` runs on Linux only, and this is {}", std::env::consts::OS),
        format!(
            "in a container: docker run --rm --network host wavetank {command} … (Containerfile says how to build the \
             image); stored runs can be looked at here: wavetank report RUN"
        ),
    )
}

#[cfg(test)]
mod tests {
    use wavetank_units::ExitCode;

    use super::linux_only;

    #[test]
    fn says_in_one_line_what_to_do_instead() {
        for command in ["run", "search", "plan", "serve", "demo", "try", "calibrate", "lab"] {
            let error = linux_only(command);
            assert_eq!((error.code.as_str(), error.exit), ("linux_only", ExitCode::Refused));
            assert!(error.message.contains(&format!("wavetank {command}")), "{}", error.message);
            assert!(error.hint.starts_with("in a container: "), "{}", error.hint);
            assert!(!error.message.contains('\n') && !error.hint.contains('\n'), "{error}");
        }
    }
}
