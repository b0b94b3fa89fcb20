//! What sessions write, and what they find in answers.

use std::borrow::Cow;

use wavetank_journey::content::ContentFault;
use wavetank_journey::extract::Answer;
use wavetank_journey::{Lacking, Look, Stray, Unwanted};
use wavetank_measure::ErrorClass;
use wavetank_plan::{Key, Nanos};

use super::Sessions;
use crate::failure::Failure;
use crate::letters::Letter;
use crate::recorder::Recorder;
use crate::resolved::Answered;
use crate::slab::Id;

impl Sessions {
    /// Write the request that session `id` wants at `now`.
    pub(crate) fn write(&mut self, id: Id, now: Nanos, letter: &mut Letter) -> Result<(), Failure> {
        let Some(live) = self.slab.get_mut(id) else { return Ok(()) };
        let step = &self.journeys.scenarios[usize::from(live.key.scenario)].steps[usize::from(live.step)];
        letter.keeps_body = step.keeps().body;
        let mut scene = self.stage.scene(now);
        let written = step.render(&mut scene, &mut live.session, &mut letter.request);
        written.map(drop).map_err(|lacking| {
            let scenario = &self.plan.scenarios[usize::from(live.key.scenario)];
            let what = match lacking {
                Lacking::Variable(slot) => {
                    let name = scenario.variables.get(usize::from(slot)).map_or("?", String::as_str);
                    format!("${{{name}}} was not extracted")
                }
                Lacking::Row(data) => {
                    let data = self.plan.shared.data.get(usize::from(data));
                    format!("{} has no row left", data.map_or("?", |data| data.name.as_str()))
                }
                Lacking::Header => "a value for a header has a line break in it".to_owned(),
            };
            Failure { detail: Some(Cow::Owned(what)), ..Failure::of(ErrorClass::Data) }
        })
    }

    /// Session `id` looks at its answer: whether it is as wanted.
    pub(crate) fn judge(
        &mut self,
        answered: &Answered,
        letter: &Letter,
        rec: &mut Recorder,
    ) -> Result<(), Failure> {
        let Some(id) = self.slab.at(answered.session) else { return Ok(()) };
        let Some(live) = self.slab.get_mut(id) else { return Ok(()) };
        let step = &self.journeys.scenarios[usize::from(live.key.scenario)].steps[usize::from(live.step)];
        let mut scene = self.stage.scene(answered.at);
        let answer = Answer {
            status: answered.answer.status,
            time: answered.response,
            size: answered.answer.body_bytes,
            fields: &letter.fields,
            body: &letter.body,
            jar: None,
        };
        self.counted.clear();
        self.broken.clear();
        let (session, counted, broken) = (&mut live.session, &mut self.counted, &mut self.broken);
        let taken = step.take_watched(&mut scene, session, &answer, counted, &mut |look| {
            if let Look::Check(place, Some(_)) = look {
                broken.push(place);
            }
        });
        rec.asked(Key { step: live.step, ..live.key }, &self.broken, &self.counted);
        taken.map_err(|unwanted| {
            let (class, detail) = match unwanted {
                Unwanted::Status => return Failure::of(ErrorClass::Status),
                Unwanted::Check(place, instead) => {
                    let check = step.checks().nth(usize::from(place)).unwrap_or("?");
                    (ErrorClass::Check, format!("{check}: found {instead}"))
                }
                Unwanted::Extract(place, miss) => {
                    let plan = &self.plan.scenarios[usize::from(live.key.scenario)];
                    let extract = &plan.steps[usize::from(live.step)].extract[usize::from(place)];
                    (ErrorClass::Check, format!("{}: {}", extract.from, miss.words()))
                }
                Unwanted::Stray(stray) => (of_stray(&stray), stray.words()),
            };
            Failure { detail: Some(Cow::Owned(detail)), ..Failure::of(class) }
        })
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
