//! Whether an answer is what was wanted, and what is taken from it.

use super::{Look, StepWork, Unwanted};
use crate::content::plain;
use crate::cookies::Site;
use crate::extract::Answer;
use crate::scene::Scene;
use crate::session::Session;

/// Who is told everything that is found.
pub(super) type Watch<'a> = dyn FnMut(Look<'_>) + 'a;

/// Bytes of what stood in the place of what was wanted, told with a failure.
const TOLD_BYTES_MAX: usize = 100;

impl StepWork {
    /// Take in the answer to a request that was one message, its body plain: cookies, values, checks, counts. `counted`
    /// gets the index of everything that is counted.
    ///
    /// # Errors
    /// Where the answer is not what was wanted; all that could be taken from it was taken.
    pub fn take(
        &self,
        scene: &mut Scene<'_>,
        session: &mut Session,
        answer: &Answer<'_>,
        counted: &mut Vec<u16>,
    ) -> Result<(), Unwanted> {
        self.take_watched(scene, session, answer, counted, &mut |_| ())
    }

    /// The same, and `watch` is told everything that is found.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn take_watched(
        &self,
        scene: &mut Scene<'_>,
        session: &mut Session,
        answer: &Answer<'_>,
        counted: &mut Vec<u16>,
        watch: &mut impl FnMut(Look<'_>),
    ) -> Result<(), Unwanted> {
        let site = self.site(self.shape.fixed_target().unwrap_or("/"));
        self.take_cookies(session, answer, (&site, scene.wall_s()), watch);
        self.judge_plain(scene, session, answer, &site, (counted, watch))
    }

    /// The user keeps the cookies that come with an answer from a site.
    pub(super) fn take_cookies(
        &self,
        session: &mut Session,
        answer: &Answer<'_>,
        (site, now): (&Site<'_>, i64),
        watch: &mut Watch<'_>,
    ) {
        if self.keeps.cookies {
            for header in answer.headers("set-cookie") {
                // What is ignored is ignored as a browser would.
                watch(Look::Cookie(header, session.held().jar.take(header, site, now)));
            }
        }
    }

    /// Judge an answer as it came: its body may be encoded.
    pub(super) fn judge(
        &self,
        scene: &mut Scene<'_>,
        session: &mut Session,
        answer: &Answer<'_>,
        site: &Site<'_>,
        told: (&mut Vec<u16>, &mut Watch<'_>),
    ) -> Result<(), Unwanted> {
        if !self.keeps.body {
            return self.judge_plain(scene, session, answer, site, told);
        }
        let mut buffer = scene.reading.take_plain();
        let (body, stray) = match plain(answer, &mut buffer) {
            Ok(body) => (body, None),
            Err(stray) => (&b""[..], Some(stray)),
        };
        let judged = self.judge_plain(scene, session, &Answer { body, ..*answer }, site, told);
        scene.reading.put_plain(buffer);
        stray.map_or(judged, |stray| Err(Unwanted::Stray(stray)))
    }

    /// Judge an answer whose body is plain.
    pub(super) fn judge_plain(
        &self,
        scene: &mut Scene<'_>,
        session: &mut Session,
        answer: &Answer<'_>,
        site: &Site<'_>,
        told: (&mut Vec<u16>, &mut Watch<'_>),
    ) -> Result<(), Unwanted> {
        scene.reading.clear();
        // Values are put into the session while its cookies are looked at.
        let jar = session.holds_mut().map(|held| std::mem::take(&mut held.jar)).unwrap_or_default();
        let with_jar = Answer { jar: Some((&jar, *site, scene.wall_s())), ..*answer };
        let judged = self.look(scene, session, &with_jar, told);
        if !jar.is_empty() {
            session.held().jar = jar;
        }
        (session.status, session.time) = (answer.status, answer.time);
        judged
    }

    fn look(
        &self,
        scene: &mut Scene<'_>,
        session: &mut Session,
        answer: &Answer<'_>,
        (counted, watch): (&mut Vec<u16>, &mut Watch<'_>),
    ) -> Result<(), Unwanted> {
        let mut unwanted = None;
        if !self.expect.contains(answer.status) {
            unwanted = Some(Unwanted::Status);
        }
        for (place, taken) in (0_u16..).zip(&self.extract) {
            let mut value = std::mem::take(session.variable_mut(taken.variable));
            value.clear();
            if taken.all {
                value.become_list();
            }
            let most = if taken.all { wavetank_plan::Extract::ITEMS_MAX } else { 1 };
            let found = taken.extractor.find(answer, most, scene.reading, &mut value);
            watch(Look::Extract(place, found.map(|_| &value)));
            *session.variable_mut(taken.variable) = value;
            if let Err(miss) = found {
                unwanted = unwanted.or(Some(Unwanted::Extract(place, miss)));
            }
        }
        for (place, check) in (0_u16..).zip(&self.checks) {
            if check.holds(scene, session, answer) {
                watch(Look::Check(place, None));
                continue;
            }
            let instead = check.found_instead(scene, session, answer, TOLD_BYTES_MAX);
            watch(Look::Check(place, Some(&instead)));
            if !matches!(unwanted, Some(Unwanted::Check(..))) {
                unwanted = Some(Unwanted::Check(place, instead));
            }
        }
        for (count, check) in &self.counts {
            let holds = check.holds(scene, session, answer);
            watch(Look::Count(*count, holds));
            if holds {
                counted.push(*count);
            }
        }
        unwanted.map_or(Ok(()), Err)
    }
}
