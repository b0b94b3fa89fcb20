//! Failures of session requests that could not be written, or that were answered with an
//! unacceptable response.

use std::borrow::Cow;

use wavetank_grpc::MessageError;
use wavetank_journey::content::ContentFault;
use wavetank_journey::{CompiledStep, FollowUpError, Rejection, RenderError};
use wavetank_measure::ErrorClass;
use wavetank_plan::{MessageAction, Plan, Scenario, Step};
use wavetank_units::{phrase, sentence};

use super::{Failure, is_login};

impl Failure {
    /// Returns the failure of a request of `scenario` that could not be written.
    pub(crate) fn from_missing(lacking: RenderError, plan: &Plan, scenario: &Scenario) -> Self {
        let what = match lacking {
            RenderError::Variable(slot) => {
                let name = scenario.variables.get(usize::from(slot)).map_or("?", String::as_str);
                sentence!("${{{name}}} was not extracted")
            }
            RenderError::Row(data) => {
                let data = plan.shared.data.get(usize::from(data));
                sentence!("{} has no row left", data.map_or("?", |data| data.name.as_str()))
            }
            RenderError::Header => phrase!("a value for a header has a line break in it"),
            RenderError::Message(why) => sentence!("{why}"),
            RenderError::Address => phrase!("the value for a whole path does not begin with /"),
        };
        Self { detail: Some(Cow::Owned(what.into())), ..Self::new(ErrorClass::Data) }
    }

    /// Returns the failure for an unacceptable response with this status to `step`, which is
    /// `planned` in the plan.
    pub(crate) fn from_rejected(
        unwanted: Rejection,
        status: u16,
        step: &CompiledStep,
        planned: &Step,
    ) -> Self {
        let opens = planned.message.as_ref().is_some_and(|own| own.action == MessageAction::Connect);
        let (class, detail) = match unwanted {
            Rejection::Status if opens && is_login(status) => {
                (ErrorClass::Login, sentence!("status {status}"))
            }
            Rejection::Status => return Self::new(ErrorClass::Status),
            Rejection::Call(status) => (ErrorClass::Status, sentence!("{status}")),
            Rejection::Check(place, instead) => {
                let check = step.checks().nth(usize::from(place)).unwrap_or("?");
                (ErrorClass::Check, sentence!("{check}: found {instead}"))
            }
            Rejection::Extract(place, miss) => {
                let from =
                    planned.extract.get(usize::from(place)).map_or("?", |extract| extract.from.as_str());
                (ErrorClass::Check, sentence!("{from}: {}", miss.as_str()))
            }
            Rejection::Stray(stray) => (of_stray(&stray), stray.message()),
        };
        Self { detail: Some(Cow::Owned(detail.into())), ..Self::new(class) }
    }
}

/// Returns the error class of a request with a follow-up that failed.
const fn of_stray(stray: &FollowUpError) -> ErrorClass {
    match stray {
        FollowUpError::Content(_, ContentFault::TooLarge) | FollowUpError::ResourcesTooLarge(_) => {
            ErrorClass::BodyLimit
        }
        FollowUpError::Elsewhere(_) => ErrorClass::Other,
        FollowUpError::Message(MessageError::TooLarge) => ErrorClass::BodyLimit,
        FollowUpError::Message(_) | FollowUpError::NoAddress | FollowUpError::Content(..) => {
            ErrorClass::Protocol
        }
        FollowUpError::UnknownCoding(_) => ErrorClass::Check,
        FollowUpError::Resource(..) | FollowUpError::Challenge(_) | FollowUpError::Endless(..) => {
            ErrorClass::Status
        }
    }
}
