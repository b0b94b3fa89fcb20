//! Files as distributions ship them, which raise no alarm.

use wavetank_tuning::{FileKind, LintContext, LintFile, Severity, lint_files};

/// Checks a packaged file of this machine, if it is installed. Comments are judged as well where
/// they contain settings, because users uncomment them.
#[track_caller]
fn check_installed(path: &str, kind: FileKind) {
    let Ok(text) = std::fs::read_to_string(path) else { return };
    let setting = |line: &str| -> Option<String> {
        let rest = line.strip_prefix('#').filter(|_| kind == FileKind::Sysctl)?;
        (rest.contains('=') && !rest.starts_with([' ', '#'])).then(|| rest.to_owned())
    };
    let uncommented: Vec<String> =
        text.lines().map(|line| setting(line).unwrap_or_else(|| line.to_owned())).collect();
    let uncommented = uncommented.join("\n");
    for text in [text, uncommented] {
        let file = LintFile { name: path.to_owned(), text, kind };
        let found = lint_files(&[file], &LintContext::default(), &|_, _| Vec::new());
        let wrong: Vec<_> = found.iter().filter(|one| one.verdict.severity() != Severity::Note).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

#[test]
fn packaged_files_raise_no_alarm() {
    check_installed("/etc/nginx/nginx.conf", FileKind::Nginx);
    check_installed("/etc/nginx/sites-available/default", FileKind::Nginx);
    check_installed("/etc/nginx/mime.types", FileKind::Nginx);
    check_installed("/etc/nginx/fastcgi_params", FileKind::Nginx);
    check_installed("/etc/haproxy/haproxy.cfg", FileKind::Haproxy);
    check_installed("/etc/sysctl.conf", FileKind::Sysctl);
    check_installed("/usr/lib/sysctl.d/50-pid-max.conf", FileKind::Sysctl);
    check_installed("/usr/lib/sysctl.d/99-protect-links.conf", FileKind::Sysctl);
    check_installed("/etc/security/limits.conf", FileKind::Limits);
    for unit in ["nginx", "haproxy", "keepalived", "cron", "dbus", "systemd-udevd", "ssh"] {
        check_installed(&format!("/usr/lib/systemd/system/{unit}.service"), FileKind::Systemd);
    }
}

/// The settings of packaged files in a few lines, for machines without the packages.
#[test]
fn the_settings_of_packaged_files_raise_no_alarm() {
    let nginx = "worker_processes auto;\nevents { worker_connections 768; }\nhttp { sendfile on; tcp_nopush on;\n\
        types_hash_max_size 2048; ssl_protocols TLSv1.2 TLSv1.3; access_log /var/log/nginx/access.log; gzip on; }\n";
    crate::support::check(FileKind::Nginx, nginx, &[]);
    let haproxy = "global\n log /dev/log local0\n stats socket /run/a.sock mode 660 level admin\n stats timeout 30s\n\
        daemon\ndefaults\n log global\n mode http\n option httplog\n option dontlognull\n timeout connect 5000\n\
        timeout client 50000\n timeout server 50000\n errorfile 400 /etc/haproxy/errors/400.http\n";
    crate::support::check(FileKind::Haproxy, haproxy, &[]);
}
