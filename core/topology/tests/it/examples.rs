//! The example labs are read without diagnostics and need no other files.

use crate::support;

use support::files::root;
use support::{example_labs, reading};
use wavetank_grammar::render;
use wavetank_topology::Role;

#[test]
fn all_are_read() {
    let labs = example_labs();
    assert!(labs.len() >= 2, "{} labs", labs.len());
    for (name, text) in labs {
        let reading = reading(&name, text.as_bytes());
        let shown = render(&reading.diagnostics, &name, &reading.text);
        let lab = reading.lab.unwrap_or_else(|| panic!("{name}:\n{shown}"));
        assert!(shown.is_empty(), "{name}:\n{shown}");
        assert!(lab.hosts.iter().any(|host| host.role == Role::Load), "{name} has a load host");
        let load = root().join("examples/labs").join(name.replace(".yaml", "-load.yaml"));
        assert!(load.is_file(), "{name} has its experiment next to it: {}", load.display());
    }
}
