//! Names that must exist: targets, and in conditions steps, phases, checks, counts and rendezvous.

use std::collections::BTreeSet;
use wavetank_units::Code;

use wavetank_grammar::{Diagnostic, Diagnostics, Spanned};
use wavetank_plan::{Condition, SettingNames, Subject};

use super::messages::unknown;
use crate::Step;
use crate::model::{Experiment, Phase, RequestHead, Verb};

pub(super) fn verify(experiment: &Experiment, out: &mut Diagnostics) {
    targets(experiment, out);
    let names = KnownNames::of(experiment);
    for condition in experiment.thresholds.iter().chain(&experiment.stop) {
        names.check(condition, out);
    }
}

/// The names that conditions can use.
struct KnownNames<'e> {
    steps: BTreeSet<String>,
    checks: BTreeSet<&'e str>,
    counts: BTreeSet<&'e str>,
    rendezvous: BTreeSet<&'e str>,
    phases: Vec<(&'e str, bool)>,
    setting_names: SettingNames,
}

impl<'e> KnownNames<'e> {
    fn of(experiment: &'e Experiment) -> Self {
        let mut names = Self {
            steps: BTreeSet::new(),
            checks: BTreeSet::new(),
            counts: BTreeSet::new(),
            rendezvous: BTreeSet::new(),
            phases: Vec::new(),
            setting_names: experiment.setting_names,
        };
        for (steps, scenario) in experiment.step_lists() {
            for step in experiment.flattened(steps) {
                names.add(step, scenario.is_some());
            }
        }
        let all = experiment.scenarios.iter().flat_map(|scenario| &scenario.phases).chain(&experiment.phases);
        names.phases = all
            .filter_map(|phase: &Phase| Some((phase.name.as_ref()?.value.as_str(), phase.warmup)))
            .collect();
        if !experiment.has_phases() {
            // The load of the command line, or of a run without load options.
            names.phases.push(("main", false));
        }
        names
    }

    fn add(&mut self, step: &'e Step, measured: bool) {
        match &step.verb {
            Verb::Request(request) if measured => {
                self.steps.insert(request.display_name());
                for named in &request.checks {
                    self.checks
                        .insert(named.name.as_ref().map_or(named.check.text.as_str(), |name| &name.value));
                }
                self.counts.extend(request.counts.iter().map(|(name, _)| name.value.as_str()));
            }
            Verb::Group(name, _) => drop(self.steps.insert(name.value.clone())),
            Verb::Rendezvous { name, .. } => drop(self.rendezvous.insert(&name.value)),
            _ => {}
        }
    }

    fn check(&self, condition: &Spanned<Condition>, out: &mut Diagnostics) {
        let place = condition.place;
        let steps = || self.steps.iter().map(String::as_str);
        if let Some(step) = condition.value.subject.step()
            && !self.steps.contains(step)
        {
            out.push(unknown(Code::StepUnknown, "step", step, place, steps()));
        }
        let mut named = |code, what, name: &str, known: &BTreeSet<&str>| {
            if !known.contains(name) {
                out.push(unknown(code, what, name, place, known.iter().copied()));
            }
        };
        match &condition.value.subject {
            Subject::Check(name) => named(Code::CheckUnknown, "check", name, &self.checks),
            Subject::Count(name) => named(Code::CountUnknown, "count", name, &self.counts),
            Subject::Skew(name) => named(Code::RendezvousUnknown, "rendezvous", name, &self.rendezvous),
            _ => {}
        }
        let Some(phase) = &condition.value.phase else { return };
        match self.phases.iter().find(|(known, _)| known == phase) {
            None if self.phases.is_empty() => {
                let message = format!("no phase {phase:?}: no phase of the file has a name");
                let hint = format!("- {{name: {phase}, …}} in phases");
                out.push(Diagnostic::error(Code::PhaseUnknown, place, message, hint));
            }
            None => {
                let judged = self.phases.iter().filter(|(_, warmup)| !warmup).map(|(name, _)| *name);
                out.push(unknown(Code::PhaseUnknown, "phase", phase, place, judged));
            }
            Some((_, true)) => {
                let message = format!("`{}`: a warm-up is not judged", condition.value.text);
                let judged = self.phases.iter().filter(|(_, warmup)| !warmup);
                let hint = match self.setting_names {
                    SettingNames::Options => {
                        judged.map(|(name, _)| format!("in {name}")).collect::<Vec<_>>().join(", ")
                    }
                    SettingNames::Keys => "name a phase without warmup: true".to_owned(),
                };
                out.push(Diagnostic::error(Code::PhaseUnjudged, place, message, hint));
            }
            Some(_) => {}
        }
    }
}

/// Reports requests with only a path that do not have exactly one target.
fn targets(experiment: &Experiment, out: &mut Diagnostics) {
    let names = experiment.targets.iter().filter_map(|target| Some(target.name.as_ref()?.value.as_str()));
    let known = |name: &Spanned<String>, out: &mut Diagnostics| {
        if out.omitted() == 0 && !names.clone().any(|own| own == name.value) {
            out.push(unknown(Code::TargetUnknown, "target", &name.value, name.place, names.clone()));
        }
    };
    for scenario in &experiment.scenarios {
        scenario.target.iter().for_each(|name| known(name, out));
    }
    let several = experiment.targets.len() > 1;
    for (steps, scenario) in experiment.step_lists() {
        let named = scenario.is_some_and(|scenario| scenario.target.is_some());
        for step in experiment.flattened(steps) {
            let Some(request) = step.request() else { continue };
            request.to.iter().for_each(|name| known(name, out));
            let whole = matches!(&request.head, RequestHead::Http { url, .. } if url.display_text().starts_with("http"));
            if whole || named || request.to.is_some() {
                continue;
            }
            if experiment.targets.is_empty() {
                let message = format!("`{}` has no target", request.display_name());
                let hint = "add target: http://127.0.0.1:8080 at the top of the file, or use --target URL";
                out.push(Diagnostic::error(Code::TargetMissing, step.place, message, hint));
            } else if several {
                let message = format!("`{}` must select one of the targets", request.display_name());
                let all = names.clone().collect::<Vec<_>>().join(", ");
                let hint = format!("use to: NAME here, or target: NAME in the scenario; there is: {all}");
                out.push(Diagnostic::error(Code::TargetOpen, step.place, message, hint));
            }
        }
    }
}
