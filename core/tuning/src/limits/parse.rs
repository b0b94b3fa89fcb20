//! [`parse_limits`]: the lines of `limits.conf`.

use crate::{Finding, Judgement, Place, Verdict};

/// Which limit a line sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitType {
    /// `soft`.
    Soft,
    /// `hard`.
    Hard,
    /// `-`: both.
    Both,
}

/// One limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitLine {
    /// Where it is.
    pub place: Place,
    /// User, `@group` or `*`.
    pub domain: String,
    /// Which limit.
    pub kind: LimitType,
    /// `nofile`, `nproc`, …
    pub item: String,
    /// The number, or `unlimited`.
    pub value: String,
}

/// Items of limits.conf(5).
const ITEMS: [&str; 19] = [
    "core",
    "data",
    "fsize",
    "memlock",
    "nofile",
    "rss",
    "stack",
    "cpu",
    "nproc",
    "as",
    "maxlogins",
    "maxsyslogins",
    "priority",
    "locks",
    "sigpending",
    "msgqueue",
    "nice",
    "rtprio",
    "chroot",
];

/// Reads the text of `file`. Lines that are no limit are findings.
pub fn parse_limits(file: &str, text: &str) -> (Vec<LimitLine>, Vec<Finding>) {
    let (mut lines, mut findings) = (Vec::new(), Vec::new());
    for (index, raw) in text.lines().enumerate() {
        let line = raw.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let place = Place { file: file.to_owned(), line: index + 1, column: 1 };
        match read_line(&place, line) {
            Ok(limit) => lines.extend(limit),
            Err(judged) => findings.push(judged.at(&place, line)),
        }
    }
    (lines, findings)
}

/// Reads one line; `None` for a domain without limits (`- ` alone).
fn read_line(place: &Place, line: &str) -> Result<Option<LimitLine>, Judgement> {
    let parts: Vec<&str> = line.split_whitespace().collect();
    // `USER -` lifts all limits of a user.
    if parts.len() == 2 && parts[1] == "-" {
        return Ok(None);
    }
    let [domain, kind, item, value] = parts[..] else {
        let sentence = format!("`{line}` is not of the form DOMAIN TYPE ITEM VALUE, so PAM skips it");
        return Err(Judgement::new(Verdict::Syntax, sentence, "write `nginx - nofile 100000`"));
    };
    let kind = match kind {
        "soft" => LimitType::Soft,
        "hard" => LimitType::Hard,
        "-" => LimitType::Both,
        other => {
            let sentence = format!("`{other}` is not a type of limit, so PAM skips the line");
            return Err(Judgement::new(Verdict::Misspelt, sentence, "write soft, hard or -"));
        }
    };
    if !ITEMS.contains(&item) && item != "nonewprivs" {
        let near = wavetank_units::did_you_mean(item, ITEMS);
        let hint =
            near.map_or_else(|| "see limits.conf(5)".to_owned(), |near| format!("did you mean {near}?"));
        let sentence = format!("`{item}` is not a limit, so PAM skips the line");
        return Err(Judgement::new(Verdict::Misspelt, sentence, hint));
    }
    Ok(Some(LimitLine {
        place: place.clone(),
        domain: domain.to_owned(),
        kind,
        item: item.to_owned(),
        value: value.to_owned(),
    }))
}
