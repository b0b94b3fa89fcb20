//! [`diagnose`]: the verdict composed from all causes, by the precedence of `docs/measuring.md` §5.

use wavetank_measure::{ErrorClass, Ledger, ThresholdResult};
use wavetank_plan::{Plan, constants::INVALID_GENERATOR_SHARE};
use wavetank_units::{ExitCode, Sentence, phrase, sentence};

use crate::facts::{Facts, RuleInput};
use crate::hooks::around;
use crate::reason::{Reason, ReasonCode};
use crate::{
    Blame, Diagnosis, Finding, FindingCode, RunContext, RunEnd, Status, Verdict, blame, bottleneck,
    cut_short, doubt_scope, drift, error_class_text, failures, fleet, format, held, notes, openings, pool,
    stall, validity_rules,
};

/// One reason for a verdict other than pass.
struct Cause {
    status: Status,
    reason: Reason,
    blame: Blame,
    /// The text for the first line.
    headline: Sentence,
}

/// Diagnoses a run from its ledger. The same ledger and ending give the same diagnosis.
pub fn diagnose(plan: &Plan, ledger: &Ledger, ending: &RunEnd, circumstances: &RunContext) -> Diagnosis {
    diagnose_facts(&Facts::new(plan, ledger, ending, circumstances))
}

/// Composes verdict, blame, findings and notes. The findings that decided the verdict come first,
/// then those about the bottleneck.
pub fn diagnose_facts(facts: &Facts<'_>) -> Diagnosis {
    let case = RuleInput::new(facts);
    let mut doubts = validity_rules::doubts(&case);
    let mut decisive = Vec::new();
    let mut causes = ending(&case, &mut decisive);
    if loaded(facts.ending) {
        causes.extend(accounting(&case, &mut decisive));
        causes.extend(judged(&case, &doubts, &mut decisive));
        causes.extend(after(facts, &mut decisive));
        causes.extend(unknown_part(facts));
        causes.extend(lacking_agents(&case, &mut decisive));
        if causes.is_empty() && !facts.circumstances.rehearsal {
            causes.extend(undecided(facts));
        }
    }
    let mut verdict = verdict(&case, &causes);
    let limits = loaded(facts.ending).then(|| bottleneck::bottlenecks(&case, verdict.status));
    // A bottleneck shows the side more directly than what clients saw.
    let bottleneck_blame = limits.as_ref().and_then(|limits| limits.blame);
    verdict.blame = bottleneck_blame.unwrap_or(verdict.blame);
    let invalid = verdict.status == Status::Invalid;
    // In an invalid run all doubts count as decisive, otherwise they are remarks.
    for doubt in &mut doubts {
        doubt.decisive = invalid && !decisive.is_empty();
    }
    let unchanged = !invalid && loaded(facts.ending);
    let notes = notes::notes(&case, &doubts, unchanged);
    let headline = headline(&case, &verdict, &causes);
    let mut findings = decisive;
    findings.extend(doubts);
    findings.extend(fleet::finding(&case).filter(|finding| !finding.decisive));
    findings.extend(validity_rules::throttled(&case));
    findings.extend(notes::steal_finding(&case));
    if loaded(facts.ending) {
        findings.extend(held::findings(&case));
        findings.extend(pool::finding(&case));
    }
    // What clients saw follows from a bottleneck, so it is no finding of its own next to one.
    if loaded(facts.ending) && bottleneck_blame.is_none() {
        findings.extend(stall::finding(&case));
        findings.extend(drift::findings(&case));
        let known: Vec<_> = findings.iter().map(|finding| finding.code).collect();
        let all = verdict.status != Status::Pass;
        let failed = failures::findings(&case, all).into_iter().chain(openings::findings(&case, all));
        findings.extend(failed.filter(|finding| !known.contains(&finding.code)));
    }
    findings.sort_by_key(|finding| (!finding.decisive, finding.blame != verdict.blame));
    bottleneck::add(&case, limits, &mut findings, &verdict);
    let cut_short = loaded(facts.ending).then(|| cut_short::cut_short(facts)).flatten();
    let exit = exit(facts.ending, verdict.status);
    Diagnosis { verdict, exit, headline, findings, notes, cut_short }
}

/// Whether load was sent, so that thresholds have a meaning.
const fn loaded(ending: &RunEnd) -> bool {
    !matches!(ending, RunEnd::ProbeFailed { .. } | RunEnd::BeforeFailed | RunEnd::NeverBegan { .. })
}

/// Returns the causes that follow from the way the run ended.
fn ending(case: &RuleInput<'_>, decisive: &mut Vec<Finding>) -> Vec<Cause> {
    let cause = |status, reason: Reason, headline: &Sentence| Cause {
        status,
        reason,
        blame: Blame::None,
        headline: headline.clone(),
    };
    match case.facts.ending {
        // A short or counted run can be as hopeless as one that was stopped for it.
        RunEnd::Finished | RunEnd::AgentLost => {
            case.only_class().map(|class| hopeless(case, class, decisive)).into_iter().collect()
        }
        RunEnd::Hopeless { class } => vec![hopeless(case, *class, decisive)],
        RunEnd::Signal => vec![cause(Status::Incomplete, ReasonCode::Signal.into(), &cut_short::SIGNAL)],
        RunEnd::Stopped => vec![cause(Status::Incomplete, ReasonCode::Stopped.into(), &cut_short::STOPPED)],
        RunEnd::StopFired { condition, at } => {
            let when = sentence!("`{condition}` stopped the run at {:.0} s", at.as_secs_f64());
            // Without its result nothing can excuse it.
            let unknown = case.facts.stop.is_none();
            unknown
                .then(|| Cause {
                    blame: Blame::Unknown,
                    ..cause(Status::Fail, Reason::Condition(condition.clone()), &when)
                })
                .into_iter()
                .collect()
        }
        RunEnd::StepFailed { step, scenario } => {
            let headline = cut_short::step_failed_text(step, scenario);
            vec![Cause {
                blame: Blame::Unknown,
                ..cause(Status::Fail, ReasonCode::OnFailure.into(), &headline)
            }]
        }
        RunEnd::NeverBegan { waited } => {
            let headline = sentence!("no load was sent: its connections were not opened within {waited}");
            decisive.push(never_began(case, &headline));
            vec![cause(Status::Incomplete, FindingCode::NeverBegan.into(), &headline)]
        }
        RunEnd::ProbeFailed { class, message } => vec![probe(case, *class, message, decisive)],
        RunEnd::BeforeFailed => {
            let broken = case.facts.circumstances.before.failures();
            let first = broken.first().cloned().unwrap_or_else(|| phrase!("a step of `before` broke"));
            let headline = sentence!("no load was sent: {first}");
            decisive.extend(around(FindingCode::Before, Blame::Unknown, &broken));
            vec![cause(Status::Incomplete, FindingCode::Before.into(), &headline)]
        }
    }
}

/// Returns the cause for failures in the run's `after`. They fail the run, whatever the result of
/// the load.
fn after(facts: &Facts<'_>, decisive: &mut Vec<Finding>) -> Option<Cause> {
    let broken = facts.circumstances.after.failures();
    let first = broken.first()?;
    let headline = sentence!("after the load: {first}");
    decisive.extend(around(FindingCode::After, Blame::Target, &broken));
    Some(Cause { status: Status::Fail, reason: FindingCode::After.into(), blame: Blame::Target, headline })
}

/// Each opening ends with its timeout and was given that time. An opening that did not end was
/// therefore not processed by this host.
fn never_began(case: &RuleInput<'_>, headline: &Sentence) -> Finding {
    let planned = case.facts.plan.phases.iter().map(|phase| phase.connections).max().unwrap_or(0);
    Finding {
        fix: Vec::new(),
        code: FindingCode::NeverBegan,
        blame: Blame::Generator,
        decisive: true,
        message: headline.clone(),
        evidence: sentence!(
            "{} connections · {} load threads · connect timeout {}",
            format::count(planned),
            case.facts.plan.threads,
            case.facts.plan.http.connect_timeout
        ),
        hint: phrase!(
            "this host is too busy to open them: fewer connections (-c), a shorter --connect-timeout, more load \
               threads (--threads)"
        ),
    }
}

/// Returns the cause for a run in which no request was done and all failed in the same way. The
/// blame follows from the errno.
fn hopeless(case: &RuleInput<'_>, class: ErrorClass, decisive: &mut Vec<Finding>) -> Cause {
    let failed = sentence!(
        "{} of {} failed",
        format::count(case.judged.counters.failed()),
        format::count(case.judged.counters.offered)
    );
    let fault = case.fault(class);
    let evidence = Sentence::join(std::iter::once(failed).chain(fault.cloned()), " · ");
    let finding = error_class_text::all_failed(class, case, evidence, fault);
    let (blame, headline) = (finding.blame, finding.message.clone());
    decisive.push(finding);
    Cause { status: by_errno(class), reason: FindingCode::Class(class).into(), blame, headline }
}

fn probe(case: &RuleInput<'_>, class: ErrorClass, message: &Sentence, decisive: &mut Vec<Finding>) -> Cause {
    let headline = sentence!("no answer to the probe: {message}");
    let proxy = error_class_text::by_proxy(class, Some(message));
    let blame = match proxy {
        Some(_) => Blame::Network,
        None => error_class_text::blame(class, case.same_host),
    };
    decisive.push(Finding {
        fix: Vec::new(),
        code: FindingCode::Class(class),
        blame,
        decisive: true,
        message: headline.clone(),
        evidence: proxy.unwrap_or_else(|| error_class_text::description(class)),
        hint: error_class_text::hint_for(class, Some(message)),
    });
    Cause { status: by_errno(class), reason: ReasonCode::Probe.into(), blame, headline }
}

const fn by_errno(class: ErrorClass) -> Status {
    if class.is_generator() { Status::Invalid } else { Status::Fail }
}

/// Counters that do not add up void everything.
fn accounting(case: &RuleInput<'_>, decisive: &mut Vec<Finding>) -> Option<Cause> {
    let own = case.facts.violations.iter().map(|violation| sentence!("{violation}"));
    let dump: Vec<_> = own.chain(case.facts.circumstances.accounting.iter().cloned()).collect();
    let identity = match case.facts.violations.first() {
        Some(first) => sentence!("{}", first.identity),
        None => phrase!("of one load thread"),
    };
    if dump.is_empty() {
        return None;
    }
    let headline = sentence!("the counters do not add up: {identity}");
    decisive.push(Finding {
        fix: Vec::new(),
        code: FindingCode::Accounting,
        blame: Blame::Generator,
        decisive: true,
        message: headline.clone(),
        evidence: Sentence::join(dump, "; "),
        hint: phrase!("this is a defect of wavetank: please report it with the archive"),
    });
    Some(Cause {
        status: Status::Invalid,
        reason: FindingCode::Accounting.into(),
        blame: Blame::Generator,
        headline,
    })
}

/// Returns the failed thresholds and the stop condition that fired. They are failures, unless doubt
/// about the generator could change every one of them.
fn judged(case: &RuleInput<'_>, doubts: &[Finding], decisive: &mut Vec<Finding>) -> Vec<Cause> {
    let broken = case.facts.results.iter().filter(|result| result.ok == Some(false));
    let broken = broken.map(|result| (result, format::broken_threshold_text(result)));
    let fired = case.facts.stop.iter().map(|stop| (stop, format::stop_condition_text(stop)));
    let (mut proven, mut causes, mut excuses) = (Vec::new(), Vec::new(), Vec::new());
    for (result, headline) in broken.chain(fired) {
        let cause = |blame| Cause {
            status: Status::Fail,
            reason: Reason::Condition(result.expr.clone()),
            blame,
            headline: headline.clone(),
        };
        match doubt_scope::generator_excuse(case, result, &headline, !doubts.is_empty()) {
            None if doubt_scope::proves_target_fault(case, result) => {
                proven.push(cause(blame::blame_for_threshold(case, result)));
            }
            None => causes.push(cause(Blame::Unknown)),
            Some(excuse) => {
                causes.push(cause(Blame::Unknown));
                excuses.push(excuse);
            }
        }
    }
    let whole: Vec<_> =
        doubt_scope::generator_share(case).into_iter().chain(doubt_scope::knee(case)).collect();
    let mut all: Vec<_> = whole.iter().map(invalid).collect();
    if proven.is_empty() {
        all.extend(excuses.iter().map(invalid));
    } else {
        // The verdict is based on causes that no doubt can change.
        for excuse in &mut excuses {
            excuse.decisive = false;
        }
    }
    all.extend(proven);
    all.extend(causes);
    decisive.extend(whole);
    decisive.extend(excuses);
    all
}

fn invalid(finding: &Finding) -> Cause {
    Cause {
        status: Status::Invalid,
        reason: finding.code.into(),
        blame: finding.blame,
        headline: finding.message.clone(),
    }
}

/// Returns the causes for what the record lacks.
fn unknown_part(facts: &Facts<'_>) -> Vec<Cause> {
    let cause = |status, code: ReasonCode, headline| Cause {
        status,
        reason: code.into(),
        blame: Blame::None,
        headline,
    };
    let running = cut_short::running(facts).map(|text| cause(Status::Incomplete, ReasonCode::Running, text));
    let lost = cut_short::lost(facts).map(|text| cause(Status::Incomplete, ReasonCode::Lost, text));
    running.into_iter().chain(lost).collect()
}

/// Returns the cause for agents of a fleet that lack something, unless that is tolerated.
fn lacking_agents(case: &RuleInput<'_>, decisive: &mut Vec<Finding>) -> Option<Cause> {
    let finding = fleet::finding(case).filter(|finding| finding.decisive)?;
    let headline = finding.message.clone();
    decisive.push(finding);
    Some(Cause { status: Status::Incomplete, reason: ReasonCode::Lost.into(), blame: Blame::None, headline })
}

fn undecided(facts: &Facts<'_>) -> Vec<Cause> {
    let undecided = facts.results.iter().filter(|result| result.ok.is_none());
    let cause = |result: &ThresholdResult| Cause {
        status: Status::Incomplete,
        reason: ReasonCode::Undecided.into(),
        blame: Blame::None,
        headline: notes::undecided_text(result),
    };
    undecided.map(cause).collect()
}

/// The weightiest status, its reasons first, each once.
fn verdict(case: &RuleInput<'_>, causes: &[Cause]) -> Verdict {
    let signal = matches!(case.facts.ending, RunEnd::Signal);
    let weight = |status: Status| match status {
        Status::Incomplete if signal => 0,
        Status::Invalid => 1,
        Status::Incomplete => 2,
        Status::Fail => 3,
        Status::Pass => 4,
    };
    let mut ordered: Vec<_> = causes.iter().collect();
    ordered.sort_by_key(|cause| weight(cause.status));
    let status = ordered.first().map_or(Status::Pass, |cause| cause.status);
    let mut reasons: Vec<String> = Vec::new();
    for reason in ordered.iter().map(|cause| cause.reason.to_string()) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let mut own = ordered.iter().filter(|cause| cause.status == status).map(|cause| cause.blame);
    let blame = match status {
        Status::Pass if is_lower_bound(case) => Blame::Generator,
        Status::Pass | Status::Incomplete => Blame::None,
        // The first cause that proves anything.
        Status::Fail | Status::Invalid => {
            own.find(|&blame| !matches!(blame, Blame::Unknown | Blame::None)).unwrap_or(Blame::Unknown)
        }
    };
    Verdict { status, reasons, blame }
}

/// Returns whether the generator limited the rate of a closed-loop run: a load thread was full, or
/// more than 1 % of offered requests failed or were dropped for reasons of the generator. The
/// target could then sustain more.
///
/// Rule (a) does not apply to closed runs. It reports that the load was not the requested one, and
/// a closed run requests no rate. Its requests were completed, although there could have been more.
/// A request that was dropped because it was known in advance that no tuple was free makes the
/// number only a lower bound.
///
/// The case is different where the kernel chooses the port and refuses one. The request was then
/// tried and *failed* (`docs/measuring.md` §2), and the implicit threshold `failed < 1 %` applies
/// to it. That threshold failed on this side and proves nothing against the target, so rule (b)
/// makes the run invalid. Both cases report the same shortage with the same blame, count and hint.
/// Their exit codes differ because only one of them breaks a threshold.
fn is_lower_bound(case: &RuleInput<'_>) -> bool {
    let validity = &case.facts.validity;
    let short = validity.generator_dropped.fraction() + validity.generator_failed.fraction();
    case.is_closed() && (validity_rules::is_limited(case.facts) || short > INVALID_GENERATOR_SHARE)
}

fn headline(case: &RuleInput<'_>, verdict: &Verdict, causes: &[Cause]) -> Sentence {
    let is_first = |reason: &Reason| verdict.reasons.first() == Some(&reason.to_string());
    let first = causes.iter().find(|cause| cause.status == verdict.status && is_first(&cause.reason));
    match (verdict.status, first) {
        (Status::Pass, _) if is_lower_bound(case) => {
            phrase!("the generator was the limit: this rate is a lower bound")
        }
        (Status::Pass, _) => held::headline(case).unwrap_or_default(),
        (_, Some(cause)) => cause.headline.clone(),
        (_, None) => Sentence::empty(),
    }
}

/// Precedence: 130 signal > 3 invalid > 4 incomplete > 1 fail > 0 pass. The codes 2 and 5 never
/// occur here.
const fn exit(ending: &RunEnd, status: Status) -> ExitCode {
    match (ending, status) {
        (RunEnd::Signal, _) => ExitCode::Signal,
        (_, Status::Invalid) => ExitCode::Invalid,
        (_, Status::Incomplete) => ExitCode::Incomplete,
        (_, Status::Fail) => ExitCode::Fail,
        (_, Status::Pass) => ExitCode::Pass,
    }
}
