//! Finds configurations that cannot be rendered: too many connections for the open-file limit, or
//! directives to leave out that do not occur.

use wavetank_grammar::{Diagnostic, Diagnostics};
use wavetank_units::Code;
use wavetank_units::quantity::format_grouped;

use super::draft::Draft;
use crate::own::read_haproxy;
use crate::render::{HostResources, haproxy, nginx};
use crate::{CustomConfig, Host, MachineFacts, Service, ServiceKind};

/// Renders all configurations as inside the hosts and keeps their errors. If the machine is
/// unknown, these errors are reported when the lab starts.
pub(super) fn check(draft: &Draft<'_>, machine: MachineFacts, out: &mut Diagnostics) {
    for host in &draft.hosts {
        let own = host.limits.cpus.as_ref().map(|cpus| cpus.len() as u32);
        let (Some(cpus), Some(files)) = (own.or(machine.cpus), host.limits.open_files.or(machine.open_files))
        else {
            continue;
        };
        // The paths of the modules change only their own lines.
        let means = HostResources { cpus, files, lua_modules: Vec::new() };
        for service in &host.services {
            if let ServiceKind::Haproxy(kind) = &service.kind
                && let Some(config) = &kind.own.config
            {
                own_files(host, service, config, &means, out);
            }
            let made = match &service.kind {
                ServiceKind::Haproxy(kind) => haproxy(host, service, kind, 0, &means),
                ServiceKind::Nginx(kind) => nginx(host, service, kind, &means),
                _ => continue,
            };
            if let Err(reported) = made {
                out.push(reported);
            }
        }
    }
}

/// Reports a `maxconn` or `ulimit-n` of the user's own configuration that needs more open files
/// than a process of the host may have.
fn own_files(
    host: &Host,
    service: &Service,
    config: &CustomConfig,
    means: &HostResources,
    out: &mut Diagnostics,
) {
    let own = read_haproxy(&config.text);
    if own.is_lenient {
        return;
    }
    let base = own.files_without_connections(means.cpus);
    let most = means.files.saturating_sub(base) / 2;
    let (setting, line, needed, fits) = match (own.maxconn, own.ulimit_n) {
        (_, Some((files, line))) if files > means.files => {
            (format!("ulimit-n {files}"), line, files, format!("ulimit-n {}", means.files))
        }
        (Some((count, line)), _) if count > most => {
            let needed = count.saturating_mul(2).saturating_add(base);
            (format!("maxconn {count}"), line, needed, format!("maxconn {most}"))
        }
        _ => return,
    };
    let message = format!(
        "`{setting}` ({}:{line}) needs {} open files, and a process on {} may open {}",
        config.name,
        format_grouped(needed),
        host.name,
        format_grouped(means.files)
    );
    let hint = format!("use at most {fits}, or a higher limit: limits: {{open_files: …}}");
    out.push(Diagnostic::error(Code::LabFilesShort, service.place_of("config"), message, hint));
}
