//! [`fold_outputs`]: groups of hosts with the same output, as `dshbak -c` makes them.

/// What one host wrote, and how its command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostOutput {
    /// The host's name.
    pub host: String,
    /// What it wrote, standard output and standard error in order.
    pub text: String,
    /// How its command ended; `None`: well.
    pub failure: Option<String>,
}

/// Hosts that wrote the same and ended in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputGroup {
    /// Their names, in the order of the list.
    pub hosts: Vec<String>,
    /// What each of them wrote.
    pub text: String,
    /// How each of them ended; `None`: well.
    pub failure: Option<String>,
}

/// Groups hosts with equal output, in the order of their first hosts. Groups that failed come last,
/// so that they are not scrolled away.
pub fn fold_outputs(outputs: &[HostOutput]) -> Vec<OutputGroup> {
    let mut groups: Vec<OutputGroup> = Vec::new();
    let mut index = std::collections::HashMap::new();
    for output in outputs {
        let at = *index.entry((&output.text, &output.failure)).or_insert_with(|| {
            groups.push(OutputGroup {
                hosts: Vec::new(),
                text: output.text.clone(),
                failure: output.failure.clone(),
            });
            groups.len() - 1
        });
        groups[at].hosts.push(output.host.clone());
    }
    groups.sort_by_key(|group| group.failure.is_some());
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_outputs_are_one_group() {
        let output = |host: &str, text: &str, failure: Option<&str>| HostOutput {
            host: host.to_owned(),
            text: text.to_owned(),
            failure: failure.map(str::to_owned),
        };
        let groups = fold_outputs(&[
            output("a1", "", Some("exit 1")),
            output("a2", "6.1\n", None),
            output("a3", "6.1\n", None),
            output("a4", "6.1\n", Some("exit 1")),
            output("a5", "5.4\n", None),
        ]);
        let found: Vec<_> =
            groups.iter().map(|group| (group.hosts.join(","), group.failure.is_some())).collect();
        let expected = [("a2,a3", false), ("a5", false), ("a1", true), ("a4", true)];
        assert_eq!(found, expected.map(|(hosts, failed)| (hosts.to_owned(), failed)));
    }
}
