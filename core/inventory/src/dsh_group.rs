//! [`read_group`]: groups of dsh and pdsh, `/etc/dsh/group/NAME`.

use wavetank_units::UserError;

use crate::host_range::expand_hosts;

/// Reads the text of a group file: a host or a range on each line, comments after `#`. `name` is
/// the group's, for messages.
///
/// # Errors
/// Code `bad_host_list`, with the line.
pub fn read_group(name: &str, text: &str) -> Result<Vec<String>, UserError> {
    let mut hosts: Vec<String> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let found = expand_hosts(line).map_err(|mut error| {
            error.message = format!("group {name}, line {}: {}", at + 1, error.message);
            error
        })?;
        hosts.extend(found.into_iter().filter(|host| !hosts.contains(host)).collect::<Vec<_>>());
    }
    if hosts.is_empty() {
        return Err(crate::host_range::bad(
            format!("the group {name} has no hosts"),
            "write a host on each line: load[01-20]",
        ));
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_hosts() {
        let hosts = read_group("load", "# load hosts\nload[1-2]\n\nload2 # again\nbig1\n").expect("a group");
        assert_eq!(hosts, ["load1", "load2", "big1"]);
        let error = read_group("load", "a\nb[\n").expect_err("a bracket");
        assert!(error.message.starts_with("group load, line 2: "), "{error}");
        assert!(read_group("load", "# none\n").is_err());
    }
}
