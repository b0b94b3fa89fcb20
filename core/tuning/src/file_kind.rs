//! [`FileKind`]: the syntax of a file.

use wavetank_units::{Code, UserError};

use crate::haproxy::parse_haproxy;

/// The syntax of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// `sysctl.conf`.
    Sysctl,
    /// `limits.conf`.
    Limits,
    /// A unit of systemd or a drop-in.
    Systemd,
    /// `nginx.conf`.
    Nginx,
    /// `haproxy.cfg`.
    Haproxy,
    /// A shell script, or rules for nft.
    Script,
}

impl FileKind {
    /// All of them, with their names in options.
    pub const ALL: [(&'static str, Self); 6] = [
        ("sysctl", Self::Sysctl),
        ("limits", Self::Limits),
        ("systemd", Self::Systemd),
        ("nginx", Self::Nginx),
        ("haproxy", Self::Haproxy),
        ("script", Self::Script),
    ];

    /// Returns the name in options.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// Determines the syntax of a file by its name and, if that says nothing, by its text.
    ///
    /// # Errors
    /// A text that is none of them.
    pub fn detect(name: &str, text: &str) -> Result<Self, UserError> {
        let by_name = Self::of_name(name);
        let Some(kind) = by_name.or_else(|| Self::of_text(text)) else {
            let message = format!("cannot lint `{name}`: its syntax is unknown");
            let hint = "name it with --kind sysctl, limits, systemd, nginx, haproxy or script";
            return Err(UserError::usage(Code::LintKindUnknown, message, hint));
        };
        match Self::of_text(text) {
            // A file with another syntax than its name says would give nonsense for every line.
            Some(other) if other != kind && by_name.is_some() && other.is_certain(text) => {
                let message =
                    format!("cannot lint `{name}` as {}: its text is of {}", kind.name(), other.name());
                let hint = format!("name the right file, or use --kind {}", other.name());
                Err(UserError::usage(Code::LintForeign, message, hint))
            }
            _ => Ok(kind),
        }
    }

    fn of_name(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let has_folder = |folder: &str| path.contains(&format!("{folder}/"));
        if name.ends_with(".service") || has_folder(".service.d") || name == "override.conf" {
            return Some(Self::Systemd);
        }
        if name.contains("sysctl") || has_folder("sysctl.d") {
            return Some(Self::Sysctl);
        }
        if name == "limits.conf" || has_folder("limits.d") {
            return Some(Self::Limits);
        }
        if name.contains("nginx") || has_folder("nginx/conf.d") || has_folder("sites-enabled") {
            return Some(Self::Nginx);
        }
        if name.contains("haproxy") {
            return Some(Self::Haproxy);
        }
        matches!(name.rsplit_once('.'), Some((_, "sh" | "nft"))).then_some(Self::Script)
    }

    fn of_text(text: &str) -> Option<Self> {
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        if text.starts_with("#!") {
            return Some(Self::Script);
        }
        if lines().any(|line| matches!(line, "[Unit]" | "[Service]" | "[Install]" | "[Socket]")) {
            return Some(Self::Systemd);
        }
        let (sections, wrong) = parse_haproxy("", text);
        if !sections.is_empty() && wrong.is_empty() {
            return Some(Self::Haproxy);
        }
        let count = lines().count();
        let share =
            |is: &dyn Fn(&str) -> bool| count > 0 && lines().filter(|line| is(line)).count() * 2 > count;
        if share(&|line| line.ends_with([';', '{', '}'])) {
            return Some(Self::Nginx);
        }
        let is_limit = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.len() == 4 && matches!(words[1], "soft" | "hard" | "-")
        };
        if share(&is_limit) {
            return Some(Self::Limits);
        }
        let is_setting = |line: &str| {
            line.split_once('=').is_some_and(|(key, _)| key.contains(['.', '/']) && !key.trim().contains(' '))
        };
        share(&is_setting).then_some(Self::Sysctl)
    }

    /// Whether a text can be of no other kind.
    fn is_certain(self, text: &str) -> bool {
        matches!(self, Self::Systemd | Self::Haproxy)
            || (self == Self::Nginx && text.contains('{'))
            || matches!(self, Self::Limits)
    }
}
