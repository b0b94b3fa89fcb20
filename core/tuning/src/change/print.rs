//! [`print_changes`]: the changes in the form of another program.

use std::fmt::Write as _;

use wavetank_units::shell_quoted;

use super::ChangePlan;
use super::drop_in::HEAD;

/// The first line of files that another program writes.
const PRINTED_HEAD: &str = "# Printed by wavetank doctor --print.\n";

/// The form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintFormat {
    /// A script for a POSIX shell.
    Sh,
    /// Tasks of Ansible.
    Ansible,
    /// A file of `sysctl.d`.
    Sysctl,
}

/// Returns the changes in the form of another program, ending in a newline.
pub fn print_changes(plan: &ChangePlan, format: PrintFormat) -> String {
    match format {
        PrintFormat::Sh => shell(plan),
        PrintFormat::Ansible => ansible(plan),
        PrintFormat::Sysctl => sysctl(plan),
    }
}

fn sysctl(plan: &ChangePlan) -> String {
    let mut text = String::new();
    for (key, value, why) in plan.settings() {
        let _ = writeln!(text, "# {why}\n{key} = {value}");
    }
    let values = plan.values.iter().filter(|value| !value.path.starts_with("/proc/sys/"));
    let files =
        plan.files.iter().map(|file| file.path.as_str()).filter(|path| *path != super::SYSCTL_DROP_IN);
    for other in values.map(|value| value.what.as_str()).chain(files) {
        let _ = writeln!(text, "# not a kernel setting, see --print sh: {other}");
    }
    text
}

/// The text of a file that is not written by `--fix`, so `--undo` does not know it.
fn printed(text: &str) -> String {
    text.strip_prefix(HEAD).map_or_else(|| text.to_owned(), |rest| format!("{PRINTED_HEAD}{rest}"))
}

fn shell(plan: &ChangePlan) -> String {
    let mut text = "#!/bin/sh\nset -e\n".to_owned();
    for value in &plan.values {
        let _ = writeln!(text, "# {}: {}", value.what, value.why);
        let wanted = shell_quoted(&value.wanted);
        if value.path.starts_with("/proc/sys/") {
            let _ = writeln!(text, "sysctl -w {}={wanted}", value.what);
        } else {
            let _ = writeln!(text, "echo {wanted} > {}", value.path);
        }
    }
    for file in &plan.files {
        let folder = file.path.rsplit_once('/').map_or("/", |(folder, _)| folder);
        let _ = write!(text, "mkdir -p {folder}\ncat > {} <<'END'\n{}END\n", file.path, printed(&file.text));
        if !file.then.is_empty() {
            let _ = writeln!(text, "# then: {}", file.then);
        }
    }
    text
}

/// JSON strings are strings of YAML, so that no value needs quoting rules of its own.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

fn ansible(plan: &ChangePlan) -> String {
    let mut text = "---\n".to_owned();
    let file = super::SYSCTL_DROP_IN;
    for (key, value, why) in plan.settings() {
        let _ = write!(
            text,
            "# {why}\n- name: {}\n  become: true\n  ansible.posix.sysctl:\n    name: {key}\n    value: {}\n    \
             sysctl_file: {file}\n",
            quoted(&format!("Set {key}")),
            quoted(value)
        );
    }
    for value in plan.values.iter().filter(|value| !value.path.starts_with("/proc/sys/")) {
        let command = format!("echo {} > {}", shell_quoted(&value.wanted), value.path);
        let name = quoted(&format!("Set {}", value.what));
        let _ =
            write!(text, "- name: {name}\n  become: true\n  ansible.builtin.shell: {}\n", quoted(&command));
    }
    for file in plan.files.iter().filter(|file| file.path != super::SYSCTL_DROP_IN) {
        let folder = file.path.rsplit_once('/').map_or("/", |(folder, _)| folder);
        let _ = write!(
            text,
            "- name: {}\n  become: true\n  ansible.builtin.file:\n    path: {folder}\n    state: directory\n\
             - name: {}\n  become: true\n  ansible.builtin.copy:\n    dest: {}\n    content: {}\n    mode: \"0644\"\n",
            quoted(&format!("Make {folder}")),
            quoted(&format!("Write {}", file.path)),
            file.path,
            quoted(&printed(&file.text))
        );
    }
    text
}
