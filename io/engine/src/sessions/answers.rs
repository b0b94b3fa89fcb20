//! What sessions write, and what they find in answers.

use wavetank_journey::Look;
use wavetank_journey::extract::Answer;
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
        let journey = &self.journeys.scenarios[usize::from(live.key.scenario)];
        let step = journey.step(live.step, &live.session.identity, self.plan.seed);
        letter.keeps_body = step.keeps().body;
        let mut scene = self.stage.scene(now);
        let written = step.render(&mut scene, &mut live.session, &mut letter.request);
        if written == Ok(false)
            && !journey.is_alike(live.step)
            && let Some(fixed) = step.as_fixed()
        {
            // What connections know as the step's fixed bytes are those for the first of its targets.
            letter.request.extend_from_slice(fixed);
        }
        written.map(drop).map_err(|lacking| {
            Failure::of_lacking(lacking, &self.plan, &self.plan.scenarios[usize::from(live.key.scenario)])
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
        let journey = &self.journeys.scenarios[usize::from(live.key.scenario)];
        let step = journey.step(live.step, &live.session.identity, self.plan.seed);
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
            let scenario = &self.plan.scenarios[usize::from(live.key.scenario)];
            Failure::of_unwanted(unwanted, step, &scenario.steps[usize::from(live.step)])
        })
    }
}
