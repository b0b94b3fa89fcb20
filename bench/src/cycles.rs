//! CPU cycles of a program, counted by `perf stat`.

use std::process::Command;

use crate::programs;

/// Returns whether `perf stat` counts cycles here. It may be missing or forbidden, or a virtual
/// machine may lack counters.
pub(crate) fn are_counted() -> bool {
    if programs::find("perf").is_none() {
        return false;
    }
    let output = Command::new("perf").args(["stat", "-x", ",", "-e", "cycles", "true"]).output();
    output.is_ok_and(|output| parse(&String::from_utf8_lossy(&output.stderr)).is_some())
}

/// Reads the first field of the line with `cycles` in its third field. The name is `cycles:u` if
/// the kernel's cycles may not be counted.
pub(crate) fn parse(csv: &str) -> Option<f64> {
    let line =
        csv.lines().find(|line| line.split(',').nth(2).is_some_and(|name| name.starts_with("cycles")))?;
    line.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_read() {
        let text = "# started on Sun\n\n690882746,,cycles,178668675,100.00,,\n1,,instructions,2,100.00,,\n";
        assert_eq!(parse(text), Some(690_882_746.0));
        assert_eq!(parse("12,,cycles:u,3,100.00,,\n"), Some(12.0));
        assert_eq!(parse("<not supported>,,cycles,0,100.00,,\n"), None);
        assert_eq!(parse(""), None);
    }
}
