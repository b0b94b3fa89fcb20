//! [`Setting`]: one kernel setting with the rules that judge its values.

use wavetank_units::quantity::{format_grouped, show_size};

use crate::{Judgement, KernelVersion, LintContext, Verdict};

/// Where a setting applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// To the whole host; a network namespace has no own value.
    Host,
    /// To one network namespace. A new namespace starts with the kernel's default.
    Network,
}

/// The unit of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A count.
    Count,
    /// Bytes.
    Bytes,
    /// Pages of 4 KiB.
    Pages,
    /// Seconds.
    Seconds,
    /// 0 is off.
    Switch,
    /// A name.
    Name,
}

/// When a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// Number `.0` is above `.1`.
    Above(usize, u64),
    /// Number `.0` is below `.1`.
    Below(usize, u64),
    /// The first number is this.
    Is(u64),
    /// First and second number are both even or both odd.
    SameParity,
    /// The last number, in pages, is above this percentage of the host's memory.
    AboveMemory(u64),
    /// Number `.0` is above `net.core.rmem_max`.
    AboveReceiveMax,
    /// Below what the host has.
    BelowFileMax,
    /// Below what the host has.
    BelowNrOpen,
    /// Every other value.
    Always,
}

/// One rule. The first one that applies judges the value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) test: Test,
    pub(crate) verdict: Verdict,
    pub(crate) sentence: &'static str,
    pub(crate) hint: &'static str,
}

/// One kernel setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key, with dots.
    pub key: &'static str,
    /// Where it applies.
    pub scope: Scope,
    /// Unit of its numbers.
    pub unit: Unit,
    /// How many numbers it has; 0 is a name.
    pub fields: usize,
    /// Least and greatest number that the kernel takes.
    pub range: (u64, u64),
    /// The first kernel without it, if any.
    pub removed: Option<KernelVersion>,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Where the statements come from.
    pub source: &'static str,
    pub(crate) rules: &'static [Rule],
}

impl Setting {
    /// Reads the numbers of a value; `None` if they are not numbers or not of the right count.
    pub fn numbers(&self, value: &str) -> Option<Vec<u64>> {
        let numbers: Option<Vec<u64>> = value.split_whitespace().map(|word| word.parse().ok()).collect();
        numbers.filter(|numbers| self.fields > 0 && numbers.len() == self.fields)
    }

    /// Returns whether a kernel of `version` lacks the setting. The newest kernel is assumed if the
    /// version is not known.
    pub fn is_removed(&self, version: Option<KernelVersion>) -> bool {
        self.removed.is_some_and(|removed| version.is_none_or(|version| version >= removed))
    }

    /// Judges a line that sets `value`.
    pub fn judge(&self, value: &str, context: &LintContext) -> Judgement {
        let found = self.judge_value(value, context);
        found.unwrap_or_else(|| Judgement::new(Verdict::Keep, self.about, "").from(self.source))
    }

    /// Judges `value`; `None` if no rule applies.
    pub(crate) fn judge_value(&self, value: &str, context: &LintContext) -> Option<Judgement> {
        if self.is_removed(context.kernel)
            && let Some(rule) = self.rules.iter().find(|rule| rule.verdict == Verdict::Obsolete)
        {
            return Some(Judgement::new(rule.verdict, rule.sentence, rule.hint).from(self.source));
        }
        let numbers = self.numbers(value);
        if self.fields > 0 && numbers.is_none() {
            return Some(self.wrong_form(value));
        }
        let numbers = numbers.unwrap_or_default();
        let (least, most) = self.range;
        if let Some(wrong) = numbers.iter().find(|number| **number < least || **number > most) {
            let sentence = format!(
                "the kernel rejects {wrong} for {}: it takes {} to {}",
                self.key,
                format_grouped(least),
                format_grouped(most)
            );
            return Some(Judgement::new(Verdict::Rejected, sentence, self.hint()).from(self.source));
        }
        // A rule of this kind on a removed setting is about kernels without it.
        let is_current = |rule: &&Rule| self.removed.is_none() || rule.verdict != Verdict::Obsolete;
        let applies = |rule: &&Rule| is_current(rule) && rule.test.applies(&numbers, context);
        let rule = self.rules.iter().find(applies)?;
        let sentence = rule.test.explain(rule.sentence, &numbers, self.unit);
        Some(Judgement::new(rule.verdict, sentence, rule.hint).from(self.source))
    }

    fn wrong_form(&self, value: &str) -> Judgement {
        let sentence = match self.fields {
            1 => format!("{} takes one whole number without a unit, not `{value}`", self.key),
            count => format!("{} takes {count} whole numbers, not `{value}`", self.key),
        };
        Judgement::new(Verdict::Rejected, sentence, "write plain numbers: no k, no M, no quotes")
    }

    fn hint(&self) -> &'static str {
        self.rules.iter().map(|rule| rule.hint).find(|hint| !hint.is_empty()).unwrap_or("remove the line")
    }
}

impl Test {
    fn applies(self, numbers: &[u64], context: &LintContext) -> bool {
        let at = |index: usize| numbers.get(index).copied();
        match self {
            Self::Above(index, most) => at(index).is_some_and(|number| number > most),
            Self::Below(index, least) => at(index).is_some_and(|number| number < least),
            Self::Is(number) => at(0) == Some(number),
            Self::SameParity => at(0).zip(at(1)).is_some_and(|(first, last)| first % 2 == last % 2),
            Self::AboveMemory(percent) => {
                let bytes = numbers.last().map_or(0, |pages| pages.saturating_mul(4_096));
                // Without knowledge of the host, only what no host has is wrong.
                let memory = context.memory_bytes.unwrap_or(1 << 40);
                u128::from(bytes) * 100 > u128::from(memory) * u128::from(percent)
            }
            Self::AboveReceiveMax => at(0).zip(context.rmem_max).is_some_and(|(own, most)| own > most),
            Self::BelowFileMax => at(0).zip(context.file_max).is_some_and(|(own, now)| own < now),
            Self::BelowNrOpen => at(0).zip(context.nr_open).is_some_and(|(own, now)| own < now),
            Self::Always => true,
        }
    }

    /// Fills in `{}` of a rule's sentence: the size of the largest number in its unit.
    fn explain(self, sentence: &str, numbers: &[u64], unit: Unit) -> String {
        let index = match self {
            Self::Above(index, _) | Self::Below(index, _) => index,
            Self::AboveMemory(_) => numbers.len().saturating_sub(1),
            _ => 0,
        };
        let number = numbers.get(index).copied().unwrap_or_default();
        let shown = match unit {
            Unit::Bytes => show_size(number),
            Unit::Pages => show_size(number.saturating_mul(4_096)),
            Unit::Seconds => format!("{number} s"),
            _ => format_grouped(number),
        };
        sentence.replace("{}", &shown)
    }
}
