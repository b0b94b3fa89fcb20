//! Judges the lines of a script, one by one. The script is not executed, so only plain commands are
//! recognised.

use super::rules;
use crate::catalogue::find_setting;
use crate::{Finding, Judgement, LintContext, Place, Verdict};

/// Judges all lines that change settings of a host.
pub(crate) fn lint(file: &str, text: &str, context: &LintContext) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, raw) in text.lines().enumerate() {
        let trimmed = raw.trim();
        if trimmed.starts_with('#') {
            continue;
        }
        let column = raw.len() - raw.trim_start().len() + 1;
        let place = Place { file: file.to_owned(), line: index + 1, column };
        for command in trimmed.split(';').flat_map(|part| part.split("&&")) {
            let command = command.trim();
            let words: Vec<&str> = command.split_whitespace().collect();
            let Some(program) = words.first().map(|word| word.rsplit('/').next().unwrap_or(word)) else {
                continue;
            };
            if let Some((key, value)) = assignment(program, &words) {
                let judged = match find_setting(&key) {
                    Some(setting) => setting.judge(&value, context),
                    None => Judgement::new(Verdict::Keep, "no rule judges this setting", ""),
                };
                findings.push(judged.at(&place, &key));
            }
            findings.extend(
                rules::judge(program, &words, command, context).map(|judged| judged.at(&place, program)),
            );
        }
    }
    findings
}

/// Returns the key and value of `sysctl -w KEY=VALUE` and of `echo VALUE > /proc/sys/KEY`.
fn assignment(program: &str, words: &[&str]) -> Option<(String, String)> {
    match program {
        "sysctl" => {
            let at = words.iter().position(|word| word.contains('='))?;
            let joined = words[at..].join(" ");
            let (key, value) = joined.split_once('=')?;
            Some((key.to_owned(), value.trim_matches(['"', '\'']).to_owned()))
        }
        "echo" => {
            let at = words.iter().position(|word| word.starts_with('>'))?;
            let file = words.get(at)?.trim_start_matches('>');
            let file = if file.is_empty() { words.get(at + 1)? } else { file };
            let key = file.strip_prefix("/proc/sys/")?.replace('/', ".");
            let value: Vec<&str> = words[1..at].iter().map(|word| word.trim_matches(['"', '\''])).collect();
            Some((key, value.join(" ")))
        }
        _ => None,
    }
}
