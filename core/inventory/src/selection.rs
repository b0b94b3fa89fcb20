//! [`select_hosts`]: the hosts that a command line selects.

use wavetank_units::UserError;

use crate::ansible::no_group;
use crate::host_range::{bad, expand_hosts, not_listed, split_list};
use crate::{Host, Inventory};

/// Which hosts of an inventory a command is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSelection {
    /// Lists of hosts (`load[01-20]`) and names of groups; empty: all hosts.
    pub only: Vec<String>,
    /// Lists of hosts and names of groups to leave out.
    pub without: Vec<String>,
}

/// Returns the selected hosts, in the order of the inventory or, without one, of the selection.
///
/// # Errors
/// Code `bad_host_list`: a list that cannot be read, a host or group that the inventory lacks, or a
/// selection without any host.
pub fn select_hosts(
    inventory: Option<&Inventory>,
    selection: &HostSelection,
) -> Result<Vec<Host>, UserError> {
    let all = |lists: &[String]| -> Result<Vec<String>, UserError> {
        let mut names = Vec::new();
        for list in lists {
            names.extend(names_of(inventory, list)?);
        }
        Ok(names)
    };
    let (only, without) = (all(&selection.only)?, all(&selection.without)?);
    let candidates: Vec<Host> = match inventory {
        Some(inventory) if selection.only.is_empty() => inventory.hosts.clone(),
        Some(inventory) => inventory.hosts.iter().filter(|host| only.contains(&host.name)).cloned().collect(),
        None => {
            let mut seen: Vec<Host> = Vec::new();
            for name in only {
                if !seen.iter().any(|host| host.name == name) {
                    seen.push(Host::named(name));
                }
            }
            seen
        }
    };
    let left: Vec<Host> = candidates.into_iter().filter(|host| !without.contains(&host.name)).collect();
    if left.is_empty() {
        return Err(bad(
            "no host is selected",
            "name hosts: -w 'load[01-20]', or a fleet file: --fleet FILE",
        ));
    }
    Ok(left)
}

/// Returns the names of a list. Its parts are hosts, ranges and, with an inventory, groups, which
/// may be marked: `@group`.
fn names_of(inventory: Option<&Inventory>, list: &str) -> Result<Vec<String>, UserError> {
    let Some(inventory) = inventory else { return expand_hosts(list) };
    let mut names = Vec::new();
    for part in split_list(list)? {
        names.extend(names_in(inventory, part)?);
    }
    Ok(names)
}

fn names_in(inventory: &Inventory, part: &str) -> Result<Vec<String>, UserError> {
    if let Some(group) = part.strip_prefix('@') {
        let hosts = inventory.group(group).map(<[String]>::to_vec);
        return hosts.ok_or_else(|| no_group(group, &inventory.groups));
    }
    if let Some(hosts) = inventory.group(part) {
        return Ok(hosts.to_vec());
    }
    let names = expand_hosts(part)?;
    match names.iter().find(|name| inventory.host(name).is_none()) {
        None => Ok(names),
        Some(name) => {
            let known: Vec<&str> = inventory.hosts.iter().map(|host| host.name.as_str()).collect();
            Err(not_listed("host", name, &known))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fold_hosts, read_ansible};

    #[track_caller]
    fn check(inventory: Option<&Inventory>, only: &str, without: &str, expected: Result<&str, &str>) {
        let lists = |text: &str| text.split(' ').filter(|list| !list.is_empty()).map(str::to_owned).collect();
        let selection = HostSelection { only: lists(only), without: lists(without) };
        let found = select_hosts(inventory, &selection);
        let found =
            found.map(|hosts| fold_hosts(&hosts.into_iter().map(|host| host.name).collect::<Vec<_>>()));
        match (&found, expected) {
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, expected) => assert_eq!(found.as_deref().ok(), expected.ok(), "{only} -x {without}"),
        }
    }

    #[test]
    fn lists_are_added_and_left_out() {
        check(None, "load[01-04] lb1 load02", "load[02-03]", Ok("load[01,04],lb1"));
        check(None, "load1", "load1", Err("no host is selected"));
        check(None, "", "", Err("no host is selected"));
    }

    #[test]
    fn groups_and_hosts_of_an_inventory() {
        let inventory = read_ansible("hosts", b"lb1\n[load]\nload[1:4]\n").expect("an inventory");
        let inventory = Some(&inventory);
        check(inventory, "", "", Ok("lb1,load[1-4]"));
        check(inventory, "load", "load2", Ok("load[1,3-4]"));
        check(inventory, "@load,lb1", "load[2-3]", Ok("lb1,load[1,4]"));
        check(inventory, "@load", "@load", Err("no host is selected"));
        check(inventory, "lod3", "", Err("there is no host `lod3`"));
        check(inventory, "@lod", "", Err("there is no group `lod`"));
    }
}
