//! [`Fix`]: one change of a setting that removes the cause of a finding.

/// What a fix configures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configured {
    /// A setting of the kernel.
    Sysctl,
    /// A directive of nginx.
    Nginx,
    /// A line of `HAProxy`.
    Haproxy,
    /// A setting of the unit of a service.
    Systemd,
    /// An interface and its cable.
    Link,
}

impl Configured {
    /// The name used in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sysctl => "sysctl",
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
            Self::Systemd => "systemd",
            Self::Link => "link",
        }
    }

    /// The file that keeps it after a reboot.
    const fn file(self) -> &'static str {
        match self {
            Self::Sysctl => "/etc/sysctl.d/90-load.conf",
            Self::Nginx => "nginx.conf",
            Self::Haproxy => "haproxy.cfg",
            Self::Systemd => "systemctl edit",
            Self::Link => "",
        }
    }
}

/// How a fix changes its directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixAction {
    /// Every such directive of the section gets this value. If there is none, it is added.
    Set,
    /// Every such directive gets this parameter, in place of one with the same name.
    Parameter,
    /// Every such directive is removed.
    Remove,
    /// Every such directive loses this parameter.
    RemoveParameter,
}

impl FixAction {
    /// The name used in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Parameter => "parameter",
            Self::Remove => "remove",
            Self::RemoveParameter => "remove_parameter",
        }
    }
}

/// One change of one setting that removes the cause of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The host on which it is made.
    pub host: String,
    /// What is configured.
    pub configured: Configured,
    /// The block or section of its file; empty for the top level, or if there are none.
    pub section: String,
    /// How the directive changes.
    pub action: FixAction,
    /// The directive.
    pub directive: String,
    /// Its value or parameter; empty if it is removed.
    pub value: String,
}

impl Fix {
    /// The file to change; for a unit of systemd, the command that opens it.
    pub const fn file(&self) -> &'static str {
        self.configured.file()
    }

    /// The fix in one line: a command, or what is written where.
    pub fn text(&self) -> String {
        let Self { host, section, directive, value, .. } = self;
        match self.configured {
            Configured::Sysctl => {
                let quoted = if value.contains(' ') { format!("'{value}'") } else { value.clone() };
                format!("{host}: sysctl -w {directive}={quoted} ({})", self.file())
            }
            Configured::Systemd => {
                format!("{host}: {} {section}: [Service] {directive}={value}", self.file())
            }
            Configured::Link => format!("{host}: {section}: {directive} {value}"),
            Configured::Nginx | Configured::Haproxy => {
                let place = if section.is_empty() {
                    self.file().to_owned()
                } else {
                    format!("{}, {section}", self.file())
                };
                let end = if self.configured == Configured::Nginx { ";" } else { "" };
                match self.action {
                    FixAction::Set if value.is_empty() => format!("{host}: {place}: {directive}{end}"),
                    FixAction::Set => format!("{host}: {place}: {directive} {value}{end}"),
                    FixAction::Parameter => format!("{host}: {place}: {directive} … {value}{end}"),
                    FixAction::Remove => format!("{host}: {place}: - {directive}"),
                    FixAction::RemoveParameter => format!("{host}: {place}: {directive} … - {value}"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_is_one_line() {
        let check = |configured, section, action, [directive, value]: [&str; 2], expected: &str| {
            let (directive, value) = (directive.to_owned(), value.to_owned());
            let (host, section) = ("lb1".to_owned(), str::to_owned(section));
            let fix = Fix { host, configured, section, action, directive, value };
            assert_eq!(fix.text(), expected);
        };
        let range = ["net.ipv4.ip_local_port_range", "1024 65535"];
        check(
            Configured::Sysctl,
            "",
            FixAction::Set,
            range,
            "lb1: sysctl -w net.ipv4.ip_local_port_range='1024 65535' (/etc/sysctl.d/90-load.conf)",
        );
        let (nginx, haproxy) = (Configured::Nginx, Configured::Haproxy);
        check(
            nginx,
            "upstream",
            FixAction::Set,
            ["keepalive", "64"],
            "lb1: nginx.conf, upstream: keepalive 64;",
        );
        check(
            nginx,
            "server",
            FixAction::Parameter,
            ["listen", "backlog=65535"],
            "lb1: nginx.conf, server: listen … backlog=65535;",
        );
        check(nginx, "upstream", FixAction::Remove, ["ip_hash", ""], "lb1: nginx.conf, upstream: - ip_hash");
        check(
            nginx,
            "server",
            FixAction::RemoveParameter,
            ["listen", "reuseport"],
            "lb1: nginx.conf, server: listen … - reuseport",
        );
        check(
            haproxy,
            "global",
            FixAction::Set,
            ["maxconn", "4096"],
            "lb1: haproxy.cfg, global: maxconn 4096",
        );
        check(
            Configured::Systemd,
            "nginx",
            FixAction::Set,
            ["LimitNOFILE", "65536"],
            "lb1: systemctl edit nginx: [Service] LimitNOFILE=65536",
        );
        check(Configured::Link, "eth0", FixAction::Set, ["rate", "8Mbit/s"], "lb1: eth0: rate 8Mbit/s");
    }
}
