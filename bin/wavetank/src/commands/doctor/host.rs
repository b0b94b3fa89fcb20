//! `wavetank doctor`: checks this host, the hosts of a lab or of a fleet.

use std::path::{Path, PathBuf};

use serde_json::json;
use wavetank_capacity::size::{Balancing, Role};
use wavetank_lab::{LabStatus, LabsFolder};
use wavetank_settings::{kernel_keys, read_snapshot, read_snapshot_of_process};
use wavetank_store::os_error_text;
use wavetank_tuning::{
    ChangePlan, DropIns, Finding, HostState, Job, LintContext, LintFile, Row, SYSCTL_DROP_IN, Snapshot,
    check_host, lint_files, print_changes,
};
use wavetank_units::{Code, ExitCode, UserError};

use super::table::{HostReport, is_fixable};
use super::{fix, lint, remote};
use crate::cli::{CheckHostArgs, FileFormat};
use crate::output;

/// Files of this host that are judged with it.
const OWN_FILES: [&str; 4] =
    ["/etc/sysctl.conf", "/etc/security/limits.conf", "/etc/nginx/nginx.conf", "/etc/haproxy/haproxy.cfg"];
/// Folders with such files.
const OWN_FOLDERS: [&str; 4] = [
    "/etc/sysctl.d",
    "/etc/security/limits.d",
    "/etc/systemd/system/nginx.service.d",
    "/etc/systemd/system/haproxy.service.d",
];
/// Servers with units of the same name.
const SERVERS_WITH_UNITS: [&str; 2] = ["nginx", "haproxy"];

/// Checks hosts. Exit 0 if nothing is wrong, 1 if something is.
pub(super) fn check(
    mut args: CheckHostArgs,
    all: bool,
    format: FileFormat,
    root: &Path,
) -> Result<u8, UserError> {
    if let Some((hosts, ssh)) = args.hosts.take() {
        let selection = crate::commands::fleet::Selection::read(&hosts)?;
        let Some(job) = job(&mut args, selection.hosts.len())? else { return Ok(ExitCode::Usage as u8) };
        let reports = remote::check(&selection, &ssh, &job)?;
        return show(&reports, all, format);
    }
    if let Some(lab) = args.lab.clone() {
        let reports = lab_reports(&lab, &mut args)?;
        return reports.map_or(Ok(ExitCode::Usage as u8), |reports| show(&reports, all, format));
    }
    let Some(job) = job(&mut args, 1)? else { return Ok(ExitCode::Usage as u8) };
    let snapshot = read_snapshot(root);
    let rows = check_host(&snapshot, &job);
    if args.fix.is_some() || args.print.is_some() {
        let plan = plan(&rows, &snapshot, &args.units, root)?;
        if let Some(print) = args.print {
            output::print(&print_changes(&plan, print))?;
            return Ok(ExitCode::Pass as u8);
        }
        return fix::fix(&plan, args.fix == Some(true), format, root);
    }
    let findings = own_findings(&snapshot, root);
    let report = HostReport { name: host_name(&snapshot), rows, findings, failure: String::new() };
    show(&[report], all, format)
}

/// Returns what the hosts are for; `None` if a file cannot be read, which was reported.
fn job(args: &mut CheckHostArgs, hosts: usize) -> Result<Option<Job>, UserError> {
    let Some(mut load) = args.load.take() else { return Ok(Some(Job { role: args.role, sizing: None })) };
    let role = args.role.unwrap_or(Role::Load);
    load.wishes.balancer = (role == Role::Balancer).then_some(Balancing::Proxy);
    load.wishes.hosts.push((role, args.among.unwrap_or(hosts as u64)));
    let sizing = crate::commands::size::sizing(load)?;
    Ok(sizing.map(|sizing| Job { role: Some(role), sizing: Some(sizing) }))
}

/// Checks the hosts of a lab, each with the role that it has there.
fn lab_reports(lab: &str, args: &mut CheckHostArgs) -> Result<Option<Vec<HostReport>>, UserError> {
    let folder = LabsFolder::system().choose(Some(lab))?;
    let status = LabStatus::read(&folder)?;
    let mut reports = Vec::new();
    let load = args.load.clone();
    for host in &status.hosts {
        let own = Role::ALL.into_iter().find(|role| role.name() == host.role);
        // With a role, only its hosts are checked.
        if args.role.is_some() && own != args.role {
            continue;
        }
        let count = status.hosts.iter().filter(|other| other.role == host.role).count();
        let mut of_host = CheckHostArgs { role: own, load: load.clone(), ..args.clone() };
        let Some(job) = job(&mut of_host, count)? else { return Ok(None) };
        let name = format!("{lab}/{}", host.name);
        let snapshot = host.pid.map_or_else(
            || Err("its process has ended".to_owned()),
            |pid| read_snapshot_of_process(pid).map_err(|error| os_error_text(&error)),
        );
        let (rows, failure) = match snapshot {
            Ok(snapshot) => (check_host(&snapshot, &job), String::new()),
            Err(reason) => (Vec::new(), format!("cannot read its settings: {reason}")),
        };
        reports.push(HostReport { name, rows, findings: Vec::new(), failure });
    }
    Ok(Some(reports))
}

/// Prints the results of hosts.
fn show(reports: &[HostReport], all: bool, format: FileFormat) -> Result<u8, UserError> {
    let has_warnings = reports.iter().any(HostReport::has_warnings);
    output::print(&match format {
        FileFormat::Text => reports.iter().map(|report| report.text(all)).collect::<Vec<_>>().join("\n"),
        FileFormat::Json => {
            let hosts: Vec<_> = reports.iter().map(HostReport::json).collect();
            format!("{}\n", json!({ "schema": "wavetank.doctor/1", "ok": !has_warnings, "hosts": hosts }))
        }
    })?;
    Ok(if has_warnings { ExitCode::Fail } else { ExitCode::Pass } as u8)
}

/// Plans what `--fix` writes: rows that are more than notes.
fn plan(rows: &[Row], snapshot: &Snapshot, units: &[String], root: &Path) -> Result<ChangePlan, UserError> {
    let fixable: Vec<Row> = rows.iter().filter(|row| is_fixable(row)).cloned().collect();
    let path = root.join(SYSCTL_DROP_IN.trim_start_matches('/'));
    let sysctl = match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            let message = format!("cannot read `{}`: {}", path.display(), os_error_text(&error));
            return Err(UserError::refused(Code::DoctorRejected, message, "run it as root"));
        }
    };
    let running = HostState { snapshot }.file_limits();
    let running = running.into_iter().map(|limit| limit.process);
    let known = running.filter(|process| SERVERS_WITH_UNITS.contains(&process.as_str()));
    let units: Vec<String> = if units.is_empty() { known.collect() } else { units.to_vec() };
    Ok(ChangePlan::new(&fixable, snapshot, &DropIns { sysctl }, &units))
}

/// Judges the configuration files of this host.
fn own_findings(snapshot: &Snapshot, root: &Path) -> Vec<Finding> {
    let below = |path: &str| root.join(path.trim_start_matches('/'));
    let mut paths: Vec<PathBuf> = OWN_FILES.iter().map(|path| below(path)).collect();
    for folder in OWN_FOLDERS {
        let entries = std::fs::read_dir(below(folder)).into_iter().flatten().flatten();
        let mut own: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "conf"))
            // Distributions link sysctl.conf into the folder.
            .filter(|path| !path.is_symlink())
            .collect();
        own.sort();
        paths.extend(own);
    }
    let files: Vec<LintFile> = paths.iter().filter_map(|path| lint::read_file(path, None).ok()).collect();
    let host = HostState { snapshot };
    let context = LintContext { kernel_keys: kernel_keys(root), ..host.lint_context() };
    lint_files(&files, &context, &|file, pattern| lint::included(file, pattern))
}

fn host_name(snapshot: &Snapshot) -> String {
    let names = rustix::system::uname();
    let kernel = snapshot.get("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} (Linux {kernel})", names.nodename().to_string_lossy())
}
