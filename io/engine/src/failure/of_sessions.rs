//! Why a session's request could not be written, or was not answered as wanted.

use std::borrow::Cow;

use wavetank_journey::content::ContentFault;
use wavetank_journey::{Lacking, StepWork, Stray, Unwanted};
use wavetank_measure::ErrorClass;
use wavetank_plan::{Plan, Scenario, Step};

use super::Failure;

impl Failure {
    /// A request of `scenario` could not be written.
    pub(crate) fn of_lacking(lacking: Lacking, plan: &Plan, scenario: &Scenario) -> Self {
        let what = match lacking {
            Lacking::Variable(slot) => {
                let name = scenario.variables.get(usize::from(slot)).map_or("?", String::as_str);
                format!("${{{name}}} was not extracted")
            }
            Lacking::Row(data) => {
                let data = plan.shared.data.get(usize::from(data));
                format!("{} has no row left", data.map_or("?", |data| data.name.as_str()))
            }
            Lacking::Header => "a value for a header has a line break in it".to_owned(),
            Lacking::Address => "the value for a whole path does not begin with /".to_owned(),
        };
        Self { detail: Some(Cow::Owned(what)), ..Self::of(ErrorClass::Data) }
    }

    /// An answer to `step`, which the plan has as `planned`, is not what was wanted.
    pub(crate) fn of_unwanted(unwanted: Unwanted, step: &StepWork, planned: &Step) -> Self {
        let (class, detail) = match unwanted {
            Unwanted::Status => return Self::of(ErrorClass::Status),
            Unwanted::Check(place, instead) => {
                let check = step.checks().nth(usize::from(place)).unwrap_or("?");
                (ErrorClass::Check, format!("{check}: found {instead}"))
            }
            Unwanted::Extract(place, miss) => {
                let from =
                    planned.extract.get(usize::from(place)).map_or("?", |extract| extract.from.as_str());
                (ErrorClass::Check, format!("{from}: {}", miss.words()))
            }
            Unwanted::Stray(stray) => (of_stray(&stray), stray.words()),
        };
        Self { detail: Some(Cow::Owned(detail)), ..Self::of(class) }
    }
}

/// What a request failed of that did not reach its answer.
const fn of_stray(stray: &Stray) -> ErrorClass {
    match stray {
        Stray::Elsewhere(_) => ErrorClass::Other,
        Stray::NoAddress | Stray::Content(ContentFault::Broken | ContentFault::Truncated) => {
            ErrorClass::Protocol
        }
        Stray::UnknownCoding(_) => ErrorClass::Check,
        Stray::Content(ContentFault::TooLarge) | Stray::ResourcesTooLarge(_) => ErrorClass::BodyLimit,
        Stray::Resource(..) => ErrorClass::Status,
    }
}
