//! [`Baseline`]: the counts of record, each with the reason it is what it is.

use std::path::Path;

use anyhow::{Context, Result, ensure};

/// One count.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) driver: String,
    pub(super) case: String,
    /// Instructions per request.
    pub(super) count: f64,
}

/// The comment at the top of the file.
const HEAD: &str = "\
# Instructions of the program that one request costs on the load path (`cargo xtask instructions` says what is in it):
# DRIVER CASE COUNT REASON. A count that rises by more than 3 % fails `cargo ci --long`; `cargo xtask instructions --accept
# 'REASON'` keeps the new ones. The reason is why it is no longer what it was.
";

/// See the module's description.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    rows: Vec<(Row, String)>,
}

impl Baseline {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut rows = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            let mut word =
                || words.next().with_context(|| format!("`{line}` is not DRIVER CASE COUNT REASON"));
            let (driver, case, count) = (word()?.to_owned(), word()?.to_owned(), word()?);
            let count: f64 = count.parse().with_context(|| format!("`{count}` is no count"))?;
            ensure!(count > 0.0, "`{line}`: a count is positive");
            let reason = words.collect::<Vec<_>>().join(" ");
            ensure!(!reason.is_empty(), "`{line}` has no reason");
            rows.push((Row { driver, case, count }, reason));
        }
        Ok(Self { rows })
    }

    pub(super) fn count(&self, driver: &str, case: &str) -> Option<f64> {
        let found = self.rows.iter().find(|(row, _)| row.driver == driver && row.case == case);
        found.map(|(row, _)| row.count)
    }

    /// Records `row` with `reason`. Returns whether it differs from the earlier count by more than
    /// `same`.
    pub(super) fn accept(&mut self, row: &Row, reason: &str, same: f64) -> Result<bool> {
        ensure!(!reason.is_empty(), "a reason says something");
        let row = Row { count: row.count.round(), ..row.clone() };
        let old = self.rows.iter_mut().find(|(old, _)| old.driver == row.driver && old.case == row.case);
        match old {
            Some((old, _)) if (row.count / old.count - 1.0).abs() <= same => return Ok(false),
            Some(old) => *old = (row, reason.to_owned()),
            None => self.rows.push((row, reason.to_owned())),
        }
        Ok(true)
    }

    /// Forget what is counted no longer.
    pub(super) fn retain(&mut self, counted: &[Row]) {
        self.rows
            .retain(|(old, _)| counted.iter().any(|row| row.driver == old.driver && row.case == old.case));
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let lines = self
            .rows
            .iter()
            .map(|(row, reason)| format!("{:<6} {:<15} {:>6} {reason}\n", row.driver, row.case, row.count));
        let text = HEAD.to_owned() + &lines.collect::<String>();
        std::fs::write(path, text).with_context(|| path.display().to_string())
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, count: f64) -> Row {
        Row { driver: "epoll".to_owned(), case: case.to_owned(), count }
    }

    #[test]
    fn every_line_has_a_count_and_a_reason() {
        for bad in
            ["epoll", "epoll alone", "epoll alone many because", "epoll alone 12", "epoll alone 0 because"]
        {
            assert!(Baseline::parse(bad).is_err(), "{bad}");
        }
        let kept =
            Baseline::parse("# DRIVER CASE\n\nepoll alone 12 because of that\n").expect("is well formed");
        assert_eq!(kept.rows, [(row("alone", 12.0), "because of that".to_owned())]);
    }

    #[test]
    fn a_new_count_brings_its_reason_and_the_same_one_keeps_the_old() {
        let mut kept =
            Baseline::parse("epoll a 1000 first\nepoll b 1000 first\nepoll gone 9 first\n").expect("is fine");
        assert!(!kept.accept(&row("a", 1_004.0), "second", 0.01).expect("has a reason"));
        assert!(kept.accept(&row("b", 1_104.4), "second", 0.01).expect("has a reason"));
        assert!(kept.accept(&row("c", 7.0), "third", 0.01).expect("has a reason"));
        assert!(kept.accept(&row("c", 9.0), "", 0.01).is_err());
        kept.retain(&[row("a", 0.0), row("b", 0.0), row("c", 0.0)]);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept.txt");
        kept.write(&path).expect("can be written");
        let back = Baseline::read(&path).expect("is well formed");
        let expected =
            [(row("a", 1_000.0), "first"), (row("b", 1_104.0), "second"), (row("c", 7.0), "third")];
        assert_eq!(back.rows, expected.map(|(row, reason)| (row, reason.to_owned())));
    }
}
