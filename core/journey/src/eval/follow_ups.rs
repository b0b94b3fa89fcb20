//! Requests with several messages: a challenge is answered, redirects are followed, embedded
//! resources are fetched.
//!
//! It knows no connections. From the bytes sent and the response it makes the next message.

use wavetank_plan::StatusSet;

use super::cookie_field::push_cookies;
use super::embedded::resources_to_fetch;
use super::follow_up::{FollowUp, FollowUpKind, NextMessage, is_page};
use super::follow_up_sink::FollowUpSink;
use super::referrer::referrer;
use super::rejection::Rejection;
use super::render_context::RenderContext;
use super::rewrite::{Rewrite, host_of, line_target_of, method_of, target_of};
use super::session_event::SessionEvent;
use crate::auth::ChallengeFault;
use crate::compiled::{CompiledStep, FollowUpConfig, Retain};
use crate::content::decode_body;
use crate::extract::ResponseView;
use crate::follow_up_error::FollowUpError;
use crate::redirect::Hop;
use crate::state::{FollowUpState, PendingPage, Session};

/// A response and the request that it belongs to.
struct ReceivedResponse<'a, 'b> {
    sent: &'b [u8],
    answer: &'b ResponseView<'a>,
}

impl CompiledStep {
    /// Handles the response to `sent`, a whole request of this step. Either another message
    /// follows, which is in `out` then, or the request is over and everything that the responses
    /// offer has been extracted.
    pub fn on_answer(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        sent: &[u8],
        answer: &ResponseView<'_>,
        out: &mut FollowUpSink<'_>,
    ) -> NextMessage {
        if let Some(message) = &self.message
            && !self.is_last_message(message, scene, session, answer)
        {
            return NextMessage::Await;
        }
        let course = session.take_follow_ups();
        let target = str::from_utf8(target_of(sent)).unwrap_or("/");
        let site = course.as_ref().map_or_else(|| self.site(target), |course| course.place.site());
        self.take_cookies(session, answer, (&site, scene.unix_seconds()), out.watch);
        let at = course.as_ref().map_or(self.target, |course| course.target);
        if let Some(credentials) =
            self.credentials.as_ref().filter(|_| answer.status != 401 && at == self.target)
        {
            session.confirm_accepted(credentials, answer);
        }
        let came = ReceivedResponse { sent, answer };
        let (course, stray) = match (&self.afield, course) {
            (Some(afield), course) if course.is_some() || self.may_lead_on(afield, answer) => {
                let course = course.map(|course| *course).or_else(|| self.set_out(afield, session, sent));
                let Some(mut course) = course else {
                    return self.over(scene, session, None, &came, None, out);
                };
                match self.lead_on(afield, &mut course, scene, session, &came, out) {
                    Ok(Some(leg)) => {
                        session.data_mut().course = Some(Box::new(course));
                        return NextMessage::Leg(leg);
                    }
                    Ok(None) => (Some(course), None),
                    Err(stray) => (Some(course), Some(stray)),
                }
            }
            _ => (None, None),
        };
        self.over(scene, session, course, &came, stray, out)
    }

    /// Whether another message can follow the first response.
    fn may_lead_on(&self, afield: &FollowUpConfig, answer: &ResponseView<'_>) -> bool {
        match answer.status {
            401 => self.credentials.is_some(),
            300..=399 => afield.follow > 0,
            _ => afield.resources && is_page(answer),
        }
    }

    fn set_out(&self, afield: &FollowUpConfig, session: &Session, sent: &[u8]) -> Option<FollowUpState> {
        let place = afield.places.place(self.target, host_of(sent), target_of(sent))?;
        let cookies = session.own_cookies(sent);
        Some(FollowUpState {
            place,
            target: self.target,
            hops: 0,
            challenged: false,
            unanswered: None,
            cookies,
            page: None,
        })
    }

    /// Writes the `Cookie` field of the next message to the current place.
    fn push_cookies(&self, course: &FollowUpState, session: &Session, now: i64, fields: &mut Vec<u8>) {
        let jar = session.data().filter(|_| self.keeps.cookies).map(|held| &held.jar);
        push_cookies(&course.cookies, jar, &course.place.site(), now, fields);
    }

    /// Returns the message that follows this response, if any.
    fn lead_on(
        &self,
        afield: &FollowUpConfig,
        course: &mut FollowUpState,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        came: &ReceivedResponse<'_, '_>,
        out: &mut FollowUpSink<'_>,
    ) -> Result<Option<FollowUp>, FollowUpError> {
        let answer = came.answer;
        if course.target == self.target
            && answer.status == 401
            && let Some(credentials) = &self.credentials
        {
            if course.challenged {
                course.unanswered = Some(ChallengeFault::Refused);
            } else if let Err(fault) = session.take_challenge(credentials, scene, answer) {
                course.unanswered = Some(fault);
            } else {
                course.challenged = true;
                return Ok(Some(self.once_more(afield, course, scene, session, came, out)));
            }
        }
        if course.hops < afield.follow {
            let location = answer.headers("location").next();
            match Hop::from_response(answer.status, method_of(came.sent), &course.place, location) {
                Some(Ok(hop)) => match self.follow(afield, course, hop, came, (scene, session), out) {
                    // A resource that redirects elsewhere is treated as if the page embedded it
                    // from there.
                    None if course.page.is_some() => {}
                    None => return Err(FollowUpError::Elsewhere(elsewhere(course, location))),
                    leg => return Ok(leg),
                },
                Some(Err(_)) if course.page.is_none() => return Err(FollowUpError::NoAddress),
                _ => {}
            }
        }
        if self.is_endless(afield, course, came) {
            return Err(FollowUpError::Endless(
                afield.follow,
                elsewhere(course, answer.headers("location").next()),
            ));
        }
        match &mut course.page {
            Some(page) => page.take_in(afield, &course.place, answer)?,
            None if afield.resources && self.expect.contains(answer.status) && is_page(answer) => {
                course.page = self.page(afield, course, scene, session, came, out.events)?;
            }
            None => {}
        }
        Ok(self.next_resource(afield, course, scene, session, out))
    }

    /// Whether all redirects that may be followed were, and this is one more that nothing expects.
    fn is_endless(
        &self,
        afield: &FollowUpConfig,
        course: &FollowUpState,
        came: &ReceivedResponse<'_, '_>,
    ) -> bool {
        let location = came.answer.headers("location").next();
        course.page.is_none()
            && afield.follow > 0
            && course.hops >= afield.follow
            && self.expect == StatusSet::default_expected()
            && matches!(
                Hop::from_response(came.answer.status, method_of(came.sent), &course.place, location),
                Some(Ok(_))
            )
    }

    /// Writes the same request with credentials for a challenge.
    fn once_more(
        &self,
        afield: &FollowUpConfig,
        course: &FollowUpState,
        scene: &RenderContext<'_>,
        session: &mut Session,
        came: &ReceivedResponse<'_, '_>,
        out: &mut FollowUpSink<'_>,
    ) -> FollowUp {
        let (method, target) = (method_of(came.sent), target_of(came.sent));
        let line = line_target_of(came.sent);
        let mut fields = Vec::new();
        let words = (method, str::from_utf8(target).unwrap_or("/"));
        self.push_cookies(course, session, scene.unix_seconds(), &mut fields);
        self.push_authorization(session, words, &mut fields);
        let rewrite = Rewrite {
            method,
            target: line,
            host: None,
            hop: None,
            secrets: &afield.secrets,
            drops: &["authorization"],
            fields: &fields,
        };
        rewrite.write(came.sent, out.request);
        let keeps = if course.page.is_some() { self.keeps_of_resource(afield) } else { self.keeps };
        FollowUp::new(FollowUpKind::Challenge, course.target, method, keeps)
    }

    /// Follows a redirect. Returns `None` if it does not lead to a target of the plan.
    fn follow(
        &self,
        afield: &FollowUpConfig,
        course: &mut FollowUpState,
        hop: Hop,
        came: &ReceivedResponse<'_, '_>,
        (scene, session): (&RenderContext<'_>, &mut Session),
        out: &mut FollowUpSink<'_>,
    ) -> Option<FollowUp> {
        let target = afield.places.target_for(&hop.to, course.target)?;
        let method = if hop.becomes_get { "GET" } else { method_of(came.sent) };
        self.go(afield, course, (hop, target, method), came.sent, (scene, session), out);
        course.hops += 1;
        let keeps = if course.page.is_some() { self.keeps_of_resource(afield) } else { self.keeps };
        Some(FollowUp::new(FollowUpKind::Redirect, target, method, keeps))
    }

    /// Writes the request that is derived from `sent` for another place, and makes that place the
    /// current one.
    fn go(
        &self,
        afield: &FollowUpConfig,
        course: &mut FollowUpState,
        (hop, target, method): (Hop, u16, &str),
        sent: &[u8],
        (scene, session): (&RenderContext<'_>, &mut Session),
        out: &mut FollowUpSink<'_>,
    ) {
        let mut fields = Vec::new();
        // The same server under another name may get the same secrets.
        let host = (!hop.same_origin).then(|| hop.to.authority().to_owned());
        let hop = Hop { same_origin: hop.same_origin || target == course.target, ..hop };
        if !hop.same_origin {
            course.cookies.clear();
        }
        (course.place, course.target) = (hop.to.clone(), target);
        let place = &hop.to;
        self.push_cookies(course, session, scene.unix_seconds(), &mut fields);
        if target == self.target {
            self.push_authorization(session, (method, place.target()), &mut fields);
        }
        if let Some(page) = &course.page
            && let Some(referrer) = referrer(&page.place, place)
        {
            fields.extend_from_slice(format!("Referer: {referrer}\r\n").as_bytes());
        }
        afield.places.authorize(target, &mut fields);
        let again = [
            (self.credentials.is_some(), "authorization"),
            (course.page.is_some(), "referer"),
            (afield.places.authorizes(), "proxy-authorization"),
        ];
        let drops: Vec<_> = again.into_iter().filter_map(|(again, name)| again.then_some(name)).collect();
        let line = afield.places.line(target, place);
        let rewrite = Rewrite {
            method,
            target: line.as_bytes(),
            host,
            hop: Some(&hop),
            secrets: &afield.secrets,
            drops: &drops,
            fields: &fields,
        };
        rewrite.write(sent, out.request);
    }

    /// Returns the received page, if any of its resources must be fetched.
    fn page(
        &self,
        afield: &FollowUpConfig,
        course: &FollowUpState,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        came: &ReceivedResponse<'_, '_>,
        events: &mut Vec<SessionEvent>,
    ) -> Result<Option<PendingPage>, FollowUpError> {
        let (answer, mut buffer) = (came.answer, scene.reading.take_buffer());
        let body = decode_body(answer, &mut buffer)?;
        let from = (body, &course.place, course.target);
        let left = resources_to_fetch(afield, &mut scene.reading.pages, session, from, events);
        let page = (!left.is_empty()).then(|| PendingPage {
            request: came.sent.to_vec(),
            place: course.place.clone(),
            target: course.target,
            cookies: course.cookies.clone(),
            status: answer.status,
            size: answer.size,
            fields: answer.fields.to_vec(),
            body: if self.keeps.body { body.to_vec() } else { Vec::new() },
            left,
            bytes: 0,
            failed: None,
        });
        scene.reading.return_buffer(buffer);
        Ok(page)
    }

    fn next_resource(
        &self,
        afield: &FollowUpConfig,
        course: &mut FollowUpState,
        scene: &RenderContext<'_>,
        session: &mut Session,
        out: &mut FollowUpSink<'_>,
    ) -> Option<FollowUp> {
        let page = course.page.as_mut()?;
        let (to, target) = page.left.pop_front()?;
        // Each request starts from the page's address, regardless of the redirects of the previous
        // one.
        (course.place, course.target) = (page.place.clone(), page.target);
        (course.hops, course.challenged, course.unanswered) = (0, false, None);
        course.cookies.clone_from(&page.cookies);
        let same_origin = to.same_origin(&page.place);
        let request = std::mem::take(&mut page.request);
        let hop = Hop { to, becomes_get: true, same_origin };
        self.go(afield, course, (hop, target, "GET"), &request, (scene, session), out);
        if let Some(page) = &mut course.page {
            page.request = request;
        }
        Some(FollowUp::new(FollowUpKind::Resource, target, "GET", self.keeps_of_resource(afield)))
    }

    fn keeps_of_resource(&self, afield: &FollowUpConfig) -> Retain {
        let fields = afield.follow > 0 || self.credentials.is_some();
        Retain { fields, cookies: self.keeps.cookies, ..Retain::default() }
    }

    /// Ends the request with this response or, for a page, with the last of its resources.
    fn over(
        &self,
        scene: &mut RenderContext<'_>,
        session: &mut Session,
        course: Option<FollowUpState>,
        came: &ReceivedResponse<'_, '_>,
        stray: Option<FollowUpError>,
        out: &mut FollowUpSink<'_>,
    ) -> NextMessage {
        let answer = came.answer;
        let target = str::from_utf8(target_of(came.sent)).unwrap_or("/");
        let (status, judged, failed) = match course {
            Some(FollowUpState { page: Some(page), .. }) => {
                let whole = ResponseView {
                    status: page.status,
                    size: page.size,
                    fields: &page.fields,
                    body: &page.body,
                    ..*answer
                };
                let site = page.place.site();
                let judged = self.judge_plain(scene, session, &whole, &site, (out.counted, out.watch));
                (page.status, judged, page.failed)
            }
            course => {
                let site = course.as_ref().map_or_else(|| self.site(target), |course| course.place.site());
                let judged = self.judge(scene, session, answer, &site, (out.counted, out.watch));
                let unanswered = course.as_ref().and_then(|course| course.unanswered.clone());
                let judged = match (judged, unanswered) {
                    (Err(Rejection::Status), Some(fault)) => {
                        Err(Rejection::Stray(FollowUpError::Challenge(fault)))
                    }
                    (judged, _) => judged,
                };
                (answer.status, judged, None)
            }
        };
        let judged = match stray {
            Some(stray) => Err(Rejection::Stray(stray)),
            None => judged.and_then(|()| failed.map_or(Ok(()), |failed| Err(Rejection::Stray(failed)))),
        };
        NextMessage::Over { status, judged }
    }
}

/// Returns the address of a redirect that does not lead to a target of the plan.
fn elsewhere(course: &FollowUpState, location: Option<&[u8]>) -> String {
    let text = String::from_utf8_lossy(location.unwrap_or_default());
    course.place.join(&text).map_or_else(|| text.into_owned(), |place| place.as_str().to_owned())
}
