//! The configuration of nginx as a target: one worker, all responses from memory, and no logs
//! except those that a row needs.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::journey_session::WANTED;
use crate::load_generator::{CIPHER, GROUP};
use crate::tls_target::TlsTarget;

/// The response of `wavetank serve` to `/`, so that both targets send bodies of one size.
const BODY: &str = "Wavetank OK\\n";

/// Returns the text of the file. The addresses are those of HTTP/1.1, and of HTTP/2 without TLS.
/// `files_max` is the number of files that the worker may open.
pub(crate) fn configuration(
    folder: &Path,
    (address, http2): (SocketAddr, Option<SocketAddr>),
    tls: Option<&TlsTarget>,
    files_max: u64,
) -> String {
    let place = folder.display();
    let mut text = format!(
        "daemon off;\nworker_processes 1;\nworker_rlimit_nofile {files_max};\npid {place}/nginx.pid;\n\
         error_log {place}/error.log;\nevents {{ worker_connections {files_max}; }}\nhttp {{\n"
    );
    for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {name}_temp_path {place}/{name};");
    }
    text.push_str(
        "  access_log off;\n  default_type text/plain;\n  keepalive_requests 1000000000;\n  keepalive_timeout 3600s;\n  \
         client_header_timeout 3600s;\n  log_format resumed '$ssl_session_reused';\n",
    );
    let http2 =
        http2.map(|address| format!("    listen {address} http2 backlog=16384;\n")).unwrap_or_default();
    let _ = write!(text, "  server {{\n    listen {address} backlog=16384;\n{http2}{}  }}\n", locations());
    if let Some(tls) = tls {
        text.push_str(&tls_server(folder, tls));
    }
    text.push_str("}\n");
    text
}

/// Returns the path of the log with a line for each connection that resumed a session, written at
/// its first request.
pub(crate) fn resumed_log(folder: &Path) -> PathBuf {
    folder.join("resumed.log")
}

fn locations() -> String {
    format!(
        "    location / {{ return 200 \"{BODY}\"; }}\n    location = /count {{ stub_status; }}\n    location /shop/ {{ \
         add_header Set-Cookie \"sid=$request_id; Path=/\"; return 200 \"Wavetank OK, {WANTED}\\n\"; }}\n"
    )
}

fn tls_server(folder: &Path, tls: &TlsTarget) -> String {
    let (certificate, key) = (tls.certificate.display(), tls.key.display());
    let tickets = if tls.tickets { "on" } else { "off" };
    format!(
        "  map $ssl_session_reused$connection_requests $is_resumed {{ default 0; r1 1; }}\n\
         \x20 server {{\n    listen {} ssl backlog=16384;\n    ssl_certificate {certificate};\n    \
         ssl_certificate_key {key};\n    ssl_protocols TLSv1.3;\n    ssl_ecdh_curve {GROUP};\n    \
         ssl_conf_command Ciphersuites {CIPHER};\n    ssl_session_cache off;\n    ssl_session_tickets {tickets};\n    \
         location / {{\n      access_log {} resumed if=$is_resumed;\n      return 200 \"{BODY}\";\n    }}\n  }}\n",
        tls.address,
        resumed_log(folder).display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_has_balanced_braces_and_the_addresses() {
        let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let tls = TlsTarget {
            address: address(444),
            certificate: PathBuf::from("/c.pem"),
            key: PathBuf::from("/k.pem"),
            tickets: false,
        };
        for (http2, tls) in [(None, None), (Some(address(82)), None), (None, Some(&tls))] {
            let text = configuration(Path::new("/somewhere"), (address(81), http2), tls, 500);
            assert_eq!(text.contains("listen 127.0.0.1:82 http2 "), http2.is_some());
            assert_eq!(text.matches('{').count(), text.matches('}').count());
            assert!(text.contains("listen 127.0.0.1:81 ") && text.contains("worker_processes 1;"));
            assert_eq!(text.contains("listen 127.0.0.1:444 ssl"), tls.is_some());
            assert_eq!(text.contains("ssl_session_tickets off;"), tls.is_some());
        }
    }
}
