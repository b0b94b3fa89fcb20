//! [`read_ansible`]: inventories of Ansible, as INI or YAML.
//!
//! Read are hosts, groups, children and the variables that concern ssh: `ansible_host`,
//! `ansible_user`, `ansible_port`, `ansible_ssh_private_key_file`, and `-J` or `ProxyJump` in
//! `ansible_ssh_common_args`. Other variables are ignored. Variables of hosts override those of
//! groups, and those of subgroups override those of their parents, as in Ansible.

use std::collections::BTreeMap;

use wavetank_grammar::{ErrorHints, Node, parse_yaml, text_of};
use wavetank_units::{Code, UserError};

use crate::host_range::{bad, expand_hosts};
use crate::{Host, Inventory};

/// Levels of subgroups that are followed.
const DEPTH_MAX: usize = 64;

const ADVICE: ErrorHints = ErrorHints {
    a_file: "an inventory",
    empty: "an inventory begins with all:, or is an INI file",
    documents: "one inventory a file: leave out the line ---",
    deep: "use fewer levels",
    map: "{hosts: {load1: {}}}",
    line: "hosts:",
    alias: "write the hosts out",
    merge: "write the keys out",
    long: "use a shorter inventory",
};

type Vars = BTreeMap<String, String>;

/// One group as written.
#[derive(Default)]
struct Group {
    hosts: Vec<String>,
    children: Vec<String>,
    vars: Vars,
}

/// An inventory as written.
#[derive(Default)]
struct Draft {
    hosts: Vec<(String, Vars)>,
    groups: Vec<(String, Group)>,
}

/// Reads an inventory. `name` is the file's name: `.yml`, `.yaml` and `.json` are YAML, others INI.
///
/// # Errors
/// Code `bad_inventory` for lines that are no host and no section, `bad_host_list` for their hosts,
/// both with the line.
pub fn read_ansible(name: &str, bytes: &[u8]) -> Result<Inventory, UserError> {
    let draft = if [".yml", ".yaml", ".json"].iter().any(|suffix| name.ends_with(suffix)) {
        read_yaml(name, bytes)?
    } else {
        read_ini(name, &String::from_utf8_lossy(bytes))?
    };
    let inventory = draft.inventory();
    if inventory.hosts.is_empty() {
        return Err(bad_inventory(
            format!("{name}: the inventory has no hosts"),
            "write a host on each line",
        ));
    }
    Ok(inventory)
}

fn bad_inventory(message: String, hint: &str) -> UserError {
    UserError::usage(Code::BadInventory, message, hint)
}

/// What the lines of an INI section are.
enum Section {
    Hosts(String),
    Vars(String),
    Children(String),
}

fn read_ini(file: &str, text: &str) -> Result<Draft, UserError> {
    let mut draft = Draft::default();
    let mut section = Section::Hosts("ungrouped".to_owned());
    for (at, line) in text.lines().enumerate() {
        let place = |error: UserError| {
            let message = format!("{file}:{}: {}", at + 1, error.message);
            UserError { message, ..error }
        };
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with('[') && line.ends_with(']') && !line.contains(' ') {
            section = ini_section(&line[1..line.len() - 1]).map_err(place)?;
            draft.group(match &section {
                Section::Hosts(name) | Section::Vars(name) | Section::Children(name) => name,
            });
            continue;
        }
        match &section {
            Section::Hosts(group) => draft.host_line(group, line).map_err(place)?,
            Section::Vars(group) => {
                let (key, value) = line.split_once('=').ok_or_else(|| {
                    place(bad_inventory(format!("`{line}` is not a variable"), "ansible_user=ops"))
                })?;
                draft.group(group).vars.insert(key.trim().to_owned(), unquoted(value.trim()));
            }
            Section::Children(group) => draft.group(group).children.push(without_comment(line).to_owned()),
        }
    }
    Ok(draft)
}

fn ini_section(inside: &str) -> Result<Section, UserError> {
    match inside.split_once(':') {
        None => Ok(Section::Hosts(inside.to_owned())),
        Some((group, "vars")) => Ok(Section::Vars(group.to_owned())),
        Some((group, "children")) => Ok(Section::Children(group.to_owned())),
        Some((group, other)) => {
            let message = format!("`[{group}:{other}]` is not a section");
            Err(bad_inventory(message, "[GROUP], [GROUP:vars] or [GROUP:children]"))
        }
    }
}

impl Draft {
    fn group(&mut self, name: &str) -> &mut Group {
        let at = self.groups.iter().position(|(group, _)| group == name).unwrap_or_else(|| {
            self.groups.push((name.to_owned(), Group::default()));
            self.groups.len() - 1
        });
        &mut self.groups[at].1
    }

    /// Adds the hosts of a pattern to a group, with variables of their own.
    fn add(&mut self, group: &str, pattern: &str, vars: &Vars) -> Result<(), UserError> {
        // A port after the name is an older way to write ansible_port.
        let (pattern, port) = match pattern.rsplit_once(':') {
            Some((name, port))
                if !name.contains(':') && !pattern.ends_with(']') && port.parse::<u16>().is_ok() =>
            {
                (name, Some(port))
            }
            _ => (pattern, None),
        };
        for name in expand_hosts(pattern)? {
            let at = self.hosts.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                self.hosts.push((name.clone(), Vars::new()));
                self.hosts.len() - 1
            });
            self.hosts[at].1.extend(vars.clone());
            if let Some(port) = port {
                self.hosts[at].1.insert("ansible_port".to_owned(), port.to_owned());
            }
            let hosts = &mut self.group(group).hosts;
            if !hosts.contains(&name) {
                hosts.push(name);
            }
        }
        Ok(())
    }

    fn host_line(&mut self, group: &str, line: &str) -> Result<(), UserError> {
        let mut words = split_words(line).into_iter();
        let Some(pattern) = words.next() else { return Ok(()) };
        let mut vars = Vars::new();
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| {
                bad_inventory(format!("`{word}` after the host is not a variable"), "load1 ansible_user=ops")
            })?;
            vars.insert(key.to_owned(), value.to_owned());
        }
        self.add(group, &pattern, &vars)
    }

    /// Returns the hosts of a group and of its subgroups.
    fn members(&self, name: &str, depth: usize) -> Vec<String> {
        let Some((_, group)) = self.groups.iter().find(|(group, _)| group == name) else { return Vec::new() };
        let mut all = group.hosts.clone();
        if depth < DEPTH_MAX {
            for child in &group.children {
                for host in self.members(child, depth + 1) {
                    if !all.contains(&host) {
                        all.push(host);
                    }
                }
            }
        }
        all
    }

    /// Returns how many levels of groups lie above a group.
    fn level(&self, name: &str, depth: usize) -> usize {
        let parents =
            self.groups.iter().filter(|(_, group)| group.children.iter().any(|child| child == name));
        if depth >= DEPTH_MAX {
            return depth;
        }
        parents.map(|(parent, _)| 1 + self.level(parent, depth + 1)).max().unwrap_or(0)
    }

    fn inventory(&self) -> Inventory {
        let mut groups: Vec<(String, Vec<String>)> =
            self.groups.iter().map(|(name, _)| (name.clone(), self.members(name, 0))).collect();
        let all: Vec<String> = self.hosts.iter().map(|(name, _)| name.clone()).collect();
        groups.retain(|(name, hosts)| name != "all" && !(name == "ungrouped" && hosts.is_empty()));
        groups.push(("all".to_owned(), all));
        // Parents first, so that variables of subgroups replace theirs.
        let mut by_level: Vec<(usize, &String, &Group)> =
            self.groups.iter().map(|(name, group)| (self.level(name, 0), name, group)).collect();
        by_level.sort_by_key(|(level, name, _)| (*name != "all", *level));
        let host = |(name, own): &(String, Vars)| {
            let mut vars = Vars::new();
            for (_, group_name, group) in &by_level {
                let is_member = *group_name == "all" || self.members(group_name, 0).contains(name);
                if is_member {
                    vars.extend(group.vars.clone());
                }
            }
            vars.extend(own.clone());
            host_of(name, &vars)
        };
        Inventory { hosts: self.hosts.iter().map(host).collect(), groups }
    }
}

/// Returns a host with what its variables say about ssh.
fn host_of(name: &str, vars: &Vars) -> Host {
    let get = |keys: &[&str]| {
        keys.iter().find_map(|key| vars.get(*key)).filter(|value| !value.contains("{{")).cloned()
    };
    Host {
        address: get(&["ansible_host", "ansible_ssh_host"]).filter(|address| address != name),
        user: get(&["ansible_user", "ansible_ssh_user"]),
        port: get(&["ansible_port", "ansible_ssh_port"]).and_then(|port| port.parse().ok()),
        identity: get(&["ansible_ssh_private_key_file", "ansible_private_key_file"]),
        jump: get(&["ansible_ssh_common_args", "ansible_ssh_extra_args"]).and_then(|text| jump_of(&text)),
        ..Host::named(name)
    }
}

/// Returns the jump hosts in arguments of ssh: `-J HOST`, `-o ProxyJump=HOST`.
fn jump_of(arguments: &str) -> Option<String> {
    let words = split_words(arguments);
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "-J" {
            return words.next().map(str::to_owned);
        }
        let option =
            if word == "-o" { words.next()? } else { word.trim_start_matches("-o").trim_start_matches("-J") };
        if let Some(jump) = option.strip_prefix("ProxyJump=").or_else(|| option.strip_prefix("ProxyJump ")) {
            return Some(jump.to_owned());
        }
        if word.starts_with("-J") {
            return Some(option.to_owned());
        }
    }
    None
}

fn read_yaml(name: &str, bytes: &[u8]) -> Result<Draft, UserError> {
    let place = |diagnostic: &wavetank_grammar::Diagnostic| {
        let line = diagnostic.place.map_or(1, |place| place.line);
        bad_inventory(format!("{name}:{line}: {}", diagnostic.message), &diagnostic.hint)
    };
    let text = text_of(bytes, &ADVICE).map_err(|diagnostic| place(&diagnostic))?;
    let (root, found) = parse_yaml(text, &ADVICE);
    let mut draft = Draft::default();
    let Some(root) = root else {
        return Err(found
            .first()
            .map_or_else(|| bad_inventory(format!("{name}: cannot be read"), ""), place));
    };
    for entry in root.entries().unwrap_or_default() {
        yaml_group(name, &mut draft, &entry.key, &entry.value, 0)?;
    }
    Ok(draft)
}

fn yaml_group(file: &str, draft: &mut Draft, name: &str, node: &Node, depth: usize) -> Result<(), UserError> {
    if depth > DEPTH_MAX {
        return Err(bad_inventory(
            format!("{file}: groups in more than {DEPTH_MAX} levels"),
            "use fewer levels",
        ));
    }
    draft.group(name);
    let entries = |key: &str| node.get(key).and_then(Node::entries).unwrap_or_default();
    for host in entries("hosts") {
        draft.add(name, &host.key, &yaml_vars(&host.value)).map_err(|error| {
            let message = format!("{file}:{}: {}", host.place.line, error.message);
            UserError { message, ..error }
        })?;
    }
    if let Some(vars) = node.get("vars") {
        draft.group(name).vars.extend(yaml_vars(vars));
    }
    for child in entries("children") {
        draft.group(name).children.push(child.key.clone());
        yaml_group(file, draft, &child.key, &child.value, depth + 1)?;
    }
    Ok(())
}

fn yaml_vars(node: &Node) -> Vars {
    let scalar = |node: &Node| node.scalar().map(|scalar| scalar.text.clone());
    let entries = node.entries().unwrap_or_default().iter();
    entries.filter_map(|entry| Some((entry.key.clone(), scalar(&entry.value)?))).collect()
}

/// Splits a line at white space outside quotes, up to a comment.
fn split_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut inside) = (Vec::new(), String::new(), None, false);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => (quote, inside) = (Some(c), true),
            (None, '#') if word.is_empty() && !inside => break,
            (None, c) if c.is_whitespace() => {
                if inside || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                inside = false;
            }
            (_, c) => word.push(c),
        }
    }
    if inside || !word.is_empty() {
        words.push(word);
    }
    words
}

fn without_comment(line: &str) -> &str {
    line.split(" #").next().unwrap_or(line).trim()
}

fn unquoted(value: &str) -> String {
    let inside = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    inside.unwrap_or(value).to_owned()
}

// A file of hosts may also be given as one list, such as a group of dsh; both use this error.
pub(crate) fn no_group(name: &str, groups: &[(String, Vec<String>)]) -> UserError {
    if groups.is_empty() {
        return bad(format!("there is no group `{name}`"), "the file has no groups");
    }
    let known: Vec<&str> = groups.iter().map(|(group, _)| group.as_str()).collect();
    crate::host_range::not_listed("group", name, &known)
}

#[cfg(test)]
mod tests;
