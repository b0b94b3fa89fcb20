//! IPVS, as a configuration of keepalived.

use wavetank_units::Nanos;

use crate::{Backend, BackendCheck, Ipvs, IpvsForward, Rendered, Service};

/// The file's name in the folder of its service.
pub const KEEPALIVED_CONFIG: &str = "keepalived.conf";

/// Returns keepalived's configuration for `service` of kind `ipvs`, with a virtual server for each
/// port. The lab has already set up the other requirements: the address, its silence on the
/// servers, and forwarding.
pub fn keepalived(service: &Service, ipvs: &Ipvs) -> Rendered {
    let mut out = Rendered::new(KEEPALIVED_CONFIG);
    out.line("# No mail is sent, and nothing outside of this host is notified.", None);
    out.line("global_defs {", None);
    out.line("    router_id wavetank", None);
    out.line("}", None);
    for port in &service.listen {
        virtual_server(&mut out, service, ipvs, *port);
    }
    out
}

fn virtual_server(out: &mut Rendered, service: &Service, ipvs: &Ipvs, port: u16) {
    let check = ipvs.check.as_ref();
    let origin = |key: &str| Some(service.place_of(key));
    out.line(&format!("virtual_server {} {port} {{", ipvs.address), origin("address"));
    if let Some(check) = check {
        out.line(&format!("    delay_loop {}", seconds(check.every)), origin("check"));
    }
    out.line(&format!("    lb_algo {}", ipvs.scheduler), origin("scheduler"));
    if ipvs.scheduler == "mh" {
        out.line(
            "    # Clients are few and their connections many: the port must be part of the hash.",
            None,
        );
        out.line("    mh-port", None);
        out.line("    # The slots of a server that is out go to other servers instead of refusing.", None);
        out.line("    mh-fallback", None);
    }
    let kind = match ipvs.forward {
        IpvsForward::DirectRouting => "DR",
        IpvsForward::Nat => "NAT",
    };
    out.line(&format!("    lb_kind {kind}"), origin("forward"));
    out.line("    protocol TCP", None);
    for server in &ipvs.servers {
        let port = if ipvs.forward == IpvsForward::DirectRouting { port } else { server.port };
        real_server(out, (server, port), check);
    }
    out.line("}", None);
}

fn real_server(out: &mut Rendered, (server, port): (&Backend, u16), check: Option<&BackendCheck>) {
    let origin = Some(server.place);
    out.line(&format!("    real_server {} {port} {{", server.address), origin);
    out.line(&format!("        weight {}", server.weight), origin);
    if let Some(check) = check {
        out.line("        # Out means weight 0, not removed: open connections are not cut.", None);
        out.line("        inhibit_on_failure", origin);
        match &check.path {
            Some(path) => {
                out.line("        HTTP_GET {", origin);
                out.line("            url {", origin);
                out.line(&format!("                path \"{path}\""), origin);
                out.line("                status_code 200-399", origin);
                out.line("            }", origin);
            }
            None => out.line("        TCP_CHECK {", origin),
        }
        out.line(&format!("            connect_timeout {}", seconds(check.timeout)), origin);
        out.line(&format!("            retry {}", check.fall.saturating_sub(1)), origin);
        out.line(&format!("            delay_before_retry {}", seconds(check.every)), origin);
        out.line("        }", origin);
    }
    out.line("    }", origin);
}

/// Formats seconds with the decimals that keepalived accepts.
fn seconds(time: Nanos) -> String {
    let text = format!("{:.3}", time.as_secs_f64().max(0.001));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
