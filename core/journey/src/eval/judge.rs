//! Whether a response is the expected one, and the values extracted from it.

use wavetank_units::{grpc_status_name, percent_decoded, sanitize};

use super::follow_up_sink::Observation;
use super::rejection::Rejection;
use super::render_context::RenderContext;
use crate::compiled::CompiledStep;
use crate::content::decode_body;
use crate::cookies::Site;
use crate::extract::ResponseView;
use crate::follow_up_error::FollowUpError;
use crate::state::Session;

/// Receives every observation.
pub(super) type ObservationSink<'a> = dyn FnMut(Observation<'_>) + 'a;

/// Maximum number of bytes of an actual value in a message.
const SHOWN_BYTES_MAX: usize = 100;

impl CompiledStep {
    /// Handles the response to a request with one message and a plain body: cookies, values,
    /// checks, counts. `counted` gets the index of every count that matches.
    ///
    /// # Errors
    /// If the response is not the expected one. Everything that could be extracted has been
    /// extracted.
    pub fn apply(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        answer: &ResponseView<'_>,
        counted: &mut Vec<u16>,
    ) -> Result<(), Rejection> {
        self.apply_observed(scene, session, answer, counted, &mut |_| ())
    }

    /// Does the same and passes every observation to `watch`.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn apply_observed(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        answer: &ResponseView<'_>,
        counted: &mut Vec<u16>,
        watch: &mut impl FnMut(Observation<'_>),
    ) -> Result<(), Rejection> {
        let site = self.site(self.shape.fixed_target().unwrap_or("/"));
        self.take_cookies(session, answer, (&site, scene.unix_seconds()), watch);
        self.judge_plain(scene, session, answer, &site, (counted, watch))
    }

    /// Stores the cookies of a response from a site.
    pub(super) fn take_cookies(
        &self,
        session: &mut Session,
        answer: &ResponseView<'_>,
        (site, now): (&Site<'_>, i64),
        watch: &mut ObservationSink<'_>,
    ) {
        if self.keeps.cookies {
            for header in answer.headers("set-cookie") {
                // Invalid cookies are ignored, as in a browser.
                watch(Observation::Cookie(header, session.data_mut().jar.store(header, site, now)));
            }
        }
    }

    /// Judges a response as received: its body may be encoded.
    pub(super) fn judge(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        answer: &ResponseView<'_>,
        site: &Site<'_>,
        sinks: (&mut Vec<u16>, &mut ObservationSink<'_>),
    ) -> Result<(), Rejection> {
        if !self.keeps.body {
            return self.judge_plain(scene, session, answer, site, sinks);
        }
        let mut buffer = scene.reading.take_buffer();
        let (body, stray) = match decode_body(answer, &mut buffer) {
            Ok(body) => (body, None),
            Err(stray) => (&b""[..], Some(stray)),
        };
        let mut json = Vec::new();
        let (body, stray) = match self.shape.call.as_deref().filter(|_| stray.is_none()) {
            None => (body, stray),
            Some(call) => match call.decode_answer(answer.status, body, &mut json) {
                Ok(_) => (&json[..], None),
                Err(error) => (&b""[..], Some(FollowUpError::Message(error))),
            },
        };
        let judged = self.judge_plain(scene, session, &ResponseView { body, ..*answer }, site, sinks);
        scene.reading.return_buffer(buffer);
        stray.map_or(judged, |stray| Err(Rejection::Stray(stray)))
    }

    /// Judges a response with a plain body.
    pub(super) fn judge_plain(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        answer: &ResponseView<'_>,
        site: &Site<'_>,
        sinks: (&mut Vec<u16>, &mut ObservationSink<'_>),
    ) -> Result<(), Rejection> {
        scene.reading.clear();
        // The jar is taken out, because the session's variables are set while its cookies are read.
        let jar = session.holds_mut().map(|held| std::mem::take(&mut held.jar)).unwrap_or_default();
        let with_jar = ResponseView { jar: Some((&jar, *site, scene.unix_seconds())), ..*answer };
        let judged = self.look(scene, session, &with_jar, sinks);
        if !jar.is_empty() {
            session.data_mut().jar = jar;
        }
        (session.status, session.time) = (answer.status, answer.time);
        judged
    }

    /// Returns the rejection of a response because of its status.
    fn unexpected_status(&self, answer: &ResponseView<'_>) -> Rejection {
        let Some(name) = grpc_status_name(answer.status).filter(|_| self.shape.call.is_some()) else {
            return Rejection::Status;
        };
        let message = answer.headers("grpc-message").last().unwrap_or_default();
        let message = String::from_utf8_lossy(message);
        let message = percent_decoded(&message).unwrap_or_else(|| message.into_owned());
        let message = sanitize(&message).chars().take(SHOWN_BYTES_MAX).collect::<String>();
        Rejection::Call(if message.is_empty() { name.to_owned() } else { format!("{name}: {message}") })
    }

    fn look(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        answer: &ResponseView<'_>,
        (counted, watch): (&mut Vec<u16>, &mut ObservationSink<'_>),
    ) -> Result<(), Rejection> {
        let mut unwanted = None;
        if !self.expect.contains(answer.status) {
            unwanted = Some(self.unexpected_status(answer));
        }
        for (place, taken) in (0_u16..).zip(&self.extract) {
            let mut value = std::mem::take(session.variable_mut(taken.variable));
            value.clear();
            if taken.all {
                value.set_list();
            }
            let most = if taken.all { wavetank_plan::Extract::ITEMS_MAX } else { 1 };
            let found = taken.extractor.find(answer, most, scene.reading, &mut value);
            watch(Observation::Extract(place, found.map(|_| &value)));
            *session.variable_mut(taken.variable) = value;
            if let Err(miss) = found {
                unwanted = unwanted.or(Some(Rejection::Extract(place, miss)));
            }
        }
        for (place, check) in (0_u16..).zip(&self.checks) {
            if check.eval(scene, session, answer) {
                watch(Observation::Check(place, None));
                continue;
            }
            let instead = check.actual_value(scene, session, answer, SHOWN_BYTES_MAX);
            watch(Observation::Check(place, Some(&instead)));
            if !matches!(unwanted, Some(Rejection::Check(..))) {
                unwanted = Some(Rejection::Check(place, instead));
            }
        }
        for (count, check) in &self.counts {
            let holds = check.eval(scene, session, answer);
            watch(Observation::Count(*count, holds));
            if holds {
                counted.push(*count);
            }
        }
        unwanted.map_or(Ok(()), Err)
    }
}
