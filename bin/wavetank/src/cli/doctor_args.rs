//! Arguments of `wavetank doctor`: [`DoctorFlags`] as typed, [`DoctorArgs`] checked.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use wavetank_capacity::size::{Role, SizeOptions};
use wavetank_plan::RunOptions;
use wavetank_tuning::{FileKind, KernelVersion, PrintFormat};
use wavetank_units::quantity::{parse_count_positive, parse_duration_positive, parse_rate_positive};
use wavetank_units::{Code, Nanos, Rate, UserError};

use super::choice::Choice;
use super::errors::Errors;
use super::experiment_args::ExperimentArgs;
use super::fleet_args::{HostArgs, SshArgs};
use super::load_source::parse_load_source;
use super::output_formats::FileFormat;
use super::request_args::RequestArgs;
use super::size_args::SizeArgs;

/// `--role`.
const ROLES: Choice<Role> =
    Choice::new(&[("generator", Role::Load), ("balancer", Role::Balancer), ("server", Role::Server)]).or(
        |text| match text {
            "load" => Some(Ok(Role::Load)),
            "lb" | "proxy" => Some(Ok(Role::Balancer)),
            "web" => Some(Ok(Role::Server)),
            _ => None,
        },
    );

/// `--print`.
const PRINTS: Choice<PrintFormat> = Choice::new(&[
    ("sh", PrintFormat::Sh),
    ("ansible", PrintFormat::Ansible),
    ("sysctl", PrintFormat::Sysctl),
]);

/// `--kind`.
const KINDS: Choice<FileKind> = Choice::new(&FileKind::ALL);

/// `wavetank doctor`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank doctor
             wavetank doctor --role balancer -r 1M/s -c 1M
             wavetank doctor shop.yaml --role generator --fix
             wavetank doctor --undo
             wavetank doctor --role server --print ansible > tuning.yaml
             wavetank doctor --lint /etc/nginx/nginx.conf /etc/sysctl.conf
             wavetank doctor --fleet dc1.yaml --role generator -r 1M/s
Exit codes: 0 nothing to say · 1 findings · 2 wrong usage · 5 the kernel rejected a change, and nothing was changed")]
pub(super) struct DoctorFlags {
    /// Experiment file, or URL of the load that the host is for; optional
    #[arg(value_name = "URL|FILE")]
    goal: Option<OsString>,
    /// Check the hosts of this running lab
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
    /// Also show what is fine
    #[arg(long)]
    all: bool,
    /// Output format
    #[arg(long, default_value = "text")]
    format: FileFormat,
    #[command(flatten)]
    job: JobArgs,
    #[command(flatten)]
    lint: LintFlags,
    #[command(flatten)]
    change: ChangeFlags,
    #[command(flatten, next_help_heading = "Hosts over ssh")]
    hosts: HostArgs,
    #[command(flatten, next_help_heading = "Hosts over ssh")]
    ssh: SshArgs,
}

/// What the host is for.
#[derive(Args, Debug)]
#[command(next_help_heading = "Job")]
struct JobArgs {
    /// Role of the host [default: none; generator with a load]
    #[arg(long, value_parser = ROLES)]
    role: Option<Role>,
    /// Request rate of the whole load: 10k/s, 1M/s
    #[arg(short, long, value_name = "RATE", allow_negative_numbers = true, value_parser = parse_rate_positive)]
    rate: Option<Rate>,
    /// Simultaneous connections of the whole load
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count_positive)]
    connections: Option<u64>,
    /// Lifetime of a connection [default: unlimited]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration_positive)]
    hold: Option<Nanos>,
    /// Number of hosts that share the load in this role [default: the named hosts, or 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count_positive)]
    among: Option<u64>,
}

/// Files to judge.
#[derive(Args, Debug)]
#[command(next_help_heading = "Files")]
struct LintFlags {
    /// Judge configuration files in place of a host: sysctl.conf, limits.conf, units of systemd,
    /// nginx.conf, haproxy.cfg, scripts
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["goal", "role", "rate", "connections", "fix", "undo", "print", "lab"])]
    lint: Vec<PathBuf>,
    /// Syntax of the files [default: by their names and texts]
    #[arg(long, value_parser = KINDS)]
    kind: Option<FileKind>,
    /// Kernel that the files are for: 5.10 [default: this host's]
    #[arg(long, value_name = "VERSION", value_parser = KernelVersion::parse)]
    kernel: Option<KernelVersion>,
}

/// Changes of this host.
#[derive(Args, Debug)]
#[command(next_help_heading = "Changes")]
struct ChangeFlags {
    /// Show what would change, and change it after consent
    #[arg(long, conflicts_with_all = ["undo", "print", "lab"])]
    fix: bool,
    /// Consent to all changes
    #[arg(short, long)]
    yes: bool,
    /// Restore everything that --fix changed
    #[arg(long, conflicts_with_all = ["goal", "role", "rate", "connections", "print", "lab"])]
    undo: bool,
    /// Print the changes as a shell script, tasks of Ansible or a file of sysctl.d
    #[arg(long, value_parser = PRINTS, conflicts_with = "lab")]
    print: Option<PrintFormat>,
    /// Service that needs more open files, for a drop-in of its unit (repeatable) [default: running
    /// nginx and haproxy]
    #[arg(long, value_name = "NAME", value_parser = unit)]
    unit: Vec<String>,
    /// Folder in place of / for all files that are read and written
    #[arg(long, value_name = "DIR", default_value = "/", hide_default_value = true)]
    root: PathBuf,
}

/// `wavetank doctor`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DoctorArgs {
    /// What it does.
    pub(crate) command: DoctorCommand,
    /// Whether notes are shown.
    pub(crate) all: bool,
    /// Output format on stdout.
    pub(crate) format: FileFormat,
    /// The folder in place of `/`.
    pub(crate) root: PathBuf,
}

/// What `wavetank doctor` does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DoctorCommand {
    /// Judges files.
    Lint { files: Vec<PathBuf>, kind: Option<FileKind>, kernel: Option<KernelVersion> },
    /// Checks this host or others.
    Check(Box<CheckHostArgs>),
    /// Restores this host.
    Undo,
}

/// Arguments of a check.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CheckHostArgs {
    /// The role.
    pub(crate) role: Option<Role>,
    /// The load, if there is one; its hosts are not set yet.
    pub(crate) load: Option<SizeArgs>,
    /// Hosts that share the load.
    pub(crate) among: Option<u64>,
    /// The lab with the hosts.
    pub(crate) lab: Option<String>,
    /// Hosts of a fleet; `None`: this host.
    pub(crate) hosts: Option<(HostArgs, SshArgs)>,
    /// Whether to change this host, and whether the user has consented.
    pub(crate) fix: Option<bool>,
    /// The form in which changes are printed.
    pub(crate) print: Option<PrintFormat>,
    /// Services that need more open files.
    pub(crate) units: Vec<String>,
}

impl DoctorFlags {
    /// Checks the options and reads the named file.
    pub(super) fn resolve(self) -> Result<DoctorArgs, UserError> {
        let Self { goal, job, lint, change, lab, hosts, ssh, all, format } = self;
        let root = change.root;
        if change.yes && !change.fix {
            return Err(UserError::usage(Code::Conflict, "--yes has no effect without --fix", "add --fix"));
        }
        if lint.lint.is_empty() && (lint.kind.is_some() || lint.kernel.is_some()) {
            let message = "--kind and --kernel have no effect without --lint";
            return Err(UserError::usage(Code::Conflict, message, "--lint FILE"));
        }
        if change.undo {
            return Ok(DoctorArgs { command: DoctorCommand::Undo, all, format, root });
        }
        if !lint.lint.is_empty() {
            let command = DoctorCommand::Lint { files: lint.lint, kind: lint.kind, kernel: lint.kernel };
            return Ok(DoctorArgs { command, all, format, root });
        }
        let is_fleet = hosts != HostArgs::default();
        if is_fleet && (change.fix || change.print.is_some() || lab.is_some()) {
            let option = if change.fix { "--fix" } else { "--lab or --print" };
            let message = format!("{option} is for this host, not for others");
            let hint = "wavetank doctor --print sh or ansible here, or wavetank fleet exec … wavetank doctor --fix --yes";
            return Err(UserError::usage(Code::Conflict, message, hint));
        }
        if !is_fleet && ssh != SshArgs::default() {
            let hint = "-w 'load[01-20]', --fleet FILE or --inventory FILE";
            return Err(UserError::usage(Code::Conflict, "options of ssh need hosts", hint));
        }
        let has_load = goal.is_some() || job.rate.is_some() || job.connections.is_some();
        if !has_load && (job.hold.is_some() || job.among.is_some()) {
            let message = "--hold and --among need a load";
            return Err(UserError::usage(Code::Conflict, message, "-r 1M/s, -c 1M or an experiment file"));
        }
        // The hosts of a lab have roles of their own.
        let role = job.role.or((has_load && lab.is_none()).then_some(Role::Load));
        let load = has_load.then(|| job.size(goal)).transpose()?;
        let hosts = is_fleet.then_some((hosts, ssh));
        let fix = change.fix.then_some(change.yes);
        let units = change.unit;
        let print = change.print;
        let check = CheckHostArgs { role, load, among: job.among, lab, hosts, fix, print, units };
        Ok(DoctorArgs { command: DoctorCommand::Check(Box::new(check)), all, format, root })
    }
}

impl JobArgs {
    /// Returns the load as arguments of `wavetank size`, which knows what a load needs.
    fn size(&self, goal: Option<OsString>) -> Result<SizeArgs, UserError> {
        let mut options =
            RunOptions { rate: self.rate, connections: self.connections, ..RunOptions::default() };
        let mut errors = Errors::default();
        let (mut request_options, request) = RequestArgs::default().resolve(options, &mut errors);
        errors.finish(Ok(()))?;
        let goal = goal.map(|goal| {
            parse_load_source(&goal, ExperimentArgs::default(), None, request, &mut request_options)
        });
        options = request_options;
        let wishes = SizeOptions { hold: self.hold, ..SizeOptions::default() };
        Ok(SizeArgs { goal: goal.transpose()?, options, wishes, format: FileFormat::Text })
    }
}

/// Parses the name of a service.
fn unit(text: &str) -> Result<String, UserError> {
    let name = text.strip_suffix(".service").unwrap_or(text);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "@_-.:\\".contains(letter);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_name) {
        let message = format!("`{}` is not the name of a service", wavetank_units::sanitize(text));
        return Err(UserError::usage(Code::ValueUnknown, message, "--unit nginx"));
    }
    Ok(name.to_owned())
}
