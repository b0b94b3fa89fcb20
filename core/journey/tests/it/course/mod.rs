//! Requests with more than one message, stepped through manually: redirects, challenges, embedded
//! resources, coded bodies.

mod coded_bodies;
mod cookies;

use wavetank_journey::auth::ChallengeFault;
use wavetank_journey::extract::{ParseCache, ResponseView};
use wavetank_journey::value::Values;
use wavetank_journey::{
    FollowUpError, FollowUpKind, FollowUpSink, Identity, Journey, NextMessage, RESOURCES_MAX, Rejection,
    RenderContext, Session, SessionEvent,
};
use wavetank_pace::Partition;
use wavetank_plan::{
    AuthPlan, ConnectionOwner, Extract, Plan, ProxyUrl, RequestPlan, Scenario, StatusSet, Step, Target,
    TargetUrl,
};
use wavetank_units::Nanos;

/// A plan with the targets `http://shop.org`, `http://10.0.0.7:8080` and `https://pay.shop.org`.
fn plan() -> Plan {
    let url = TargetUrl::parse("http://shop.org/").expect("a good URL");
    let addresses = ["127.0.0.1:80".parse().expect("a good address")];
    let mut plan = Plan::for_tests(&url, &addresses);
    let more = |url: &str, host: &str, tls: bool, address: &str| Target {
        name: host.to_owned(),
        url: url.to_owned(),
        host: host.to_owned(),
        server_name: tls.then(|| host.to_owned()),
        tls: None,
        pick: None,
        addresses: vec![address.parse().expect("an address")],
    };
    plan.targets.push(more("http://10.0.0.7:8080/", "static.org", false, "10.0.0.7:8080"));
    plan.targets.push(more("https://pay.shop.org/", "pay.shop.org", true, "10.0.0.8:443"));
    plan.http.cookies = true;
    plan
}

fn step(method: &str, path: &str) -> Step {
    let request = RequestPlan {
        method: method.to_owned(),
        path: path.into(),
        headers: vec![("User-Agent".to_owned(), "w".into())],
        ..RequestPlan::default()
    };
    Step::plain("s", 0, request)
}

fn get(path: &str) -> Step {
    step("GET", path)
}

/// One user who sends one step's requests.
struct Walker {
    journey: Journey,
    session: Session,
    sent: Vec<u8>,
    reported: Vec<SessionEvent>,
    memory: (u64, Vec<u8>, ParseCache, Values),
}

/// What became of an answer: what goes out next (why, where, the bytes), or how the request ended.
type Became = Result<(FollowUpKind, u16, String), (u16, Result<(), Rejection>)>;

impl Walker {
    fn new(step: Step) -> Self {
        Self::on_plan(step, plan())
    }

    fn on_plan(step: Step, mut plan: Plan) -> Self {
        let scenario = Scenario {
            variables: vec!["v".to_owned()],
            ..Scenario::from_steps("", ConnectionOwner::User, vec![step])
        };
        plan.scenarios = vec![scenario];
        let journey = Journey::new(&plan.scenarios[0], &plan).expect("a good journey");
        let mut session = Session::default();
        session.begin(Identity::for_arrival(0, 1));
        Self { journey, session, sent: Vec::new(), reported: Vec::new(), memory: Default::default() }
    }

    fn on<R>(&mut self, work: impl FnOnce(&mut RenderContext<'_>, &mut Self) -> R) -> R {
        let mut memory = std::mem::take(&mut self.memory);
        let (seq, scratch, reading, finds) = &mut memory;
        let mut scene = RenderContext {
            seed: 7,
            tables: &[],
            data: &[],
            wall_ms: 1_700_000_000_000,
            share: Partition::WHOLE,
            seq,
            counts: &[],
            scratch,
            reading,
            finds,
        };
        let result = work(&mut scene, self);
        self.memory = memory;
        result
    }

    /// The step's request begins.
    fn send(&mut self) -> String {
        self.on(|scene, this| {
            let (step, mut out) = (&this.journey.steps[0], Vec::new());
            if !step.render(scene, &mut this.session, &mut out).expect("nothing is missing") {
                out.extend_from_slice(step.as_fixed().expect("fixed bytes"));
            }
            this.sent = out;
        });
        String::from_utf8(self.sent.clone()).expect("text")
    }

    fn answer(&mut self, status: u16, fields: &str, body: &[u8]) -> Became {
        self.on(|scene, this| {
            let answer = ResponseView {
                status,
                time: Nanos::from_millis(5),
                size: body.len() as u64,
                fields: fields.as_bytes(),
                body,
                jar: None,
            };
            let mut request = Vec::new();
            let mut out = FollowUpSink {
                request: &mut request,
                counted: &mut Vec::new(),
                events: &mut this.reported,
                watch: &mut |_| (),
            };
            let step = &this.journey.steps[0];
            match step.on_answer(scene, &mut this.session, &this.sent, &answer, &mut out) {
                NextMessage::Over { status, judged } => Err((status, judged)),
                NextMessage::Await => panic!("a response of HTTP is awaited once"),
                NextMessage::Leg(leg) => {
                    this.sent.clone_from(&request);
                    Ok((leg.kind, leg.target, String::from_utf8(request).expect("text")))
                }
            }
        })
    }

    /// Where the answer leads: why, to which target, and the request line.
    fn leads(&mut self, status: u16, fields: &str, body: &str) -> (FollowUpKind, u16, String) {
        let (kind, target, request) = self.answer(status, fields, body.as_bytes()).expect("a leg");
        (kind, target, request.lines().next().expect("a request line").to_owned())
    }
}

const DONE: Became = Err((200, Ok(())));

#[test]
fn redirects_are_followed_as_far_as_was_said() {
    let mut walker = Walker::new(Step { follow: 2, ..get("/a") });
    walker.send();
    let leg = |line: &str| (FollowUpKind::Redirect, 0, format!("GET {line} HTTP/1.1"));
    assert_eq!(walker.leads(302, "Location: b?c#d\r\n", ""), leg("/b?c"));
    assert_eq!(walker.leads(301, "Location: http://shop.org/e\r\n", ""), leg("/e"));
    let endless = FollowUpError::Endless(2, "http://shop.org/f".to_owned());
    let endless = Err((307, Err(Rejection::Stray(endless))));
    assert_eq!(walker.answer(307, "Location: /f\r\n", b""), endless, "two were allowed");
    let expect = Some(StatusSet::parse("302").expect("a status"));
    let mut expecting = Walker::new(Step { follow: 1, expect, ..get("/a") });
    expecting.send();
    assert_eq!(expecting.leads(302, "Location: /b\r\n", ""), leg("/b"));
    assert_eq!(expecting.answer(302, "Location: /c\r\n", b""), Err((302, Ok(()))), "it was expected");
    walker.send();
    assert_eq!(walker.leads(302, "Location: /b\r\n", ""), leg("/b"), "each request has its own");
    assert_eq!(walker.answer(404, "", b""), Err((404, Err(Rejection::Status))));
    let mut home = Walker::new(get("/a"));
    home.send();
    assert_eq!(
        home.answer(302, "Location: /b\r\n", b""),
        Err((302, Ok(()))),
        "the step follows no redirects"
    );
}

#[test]
fn a_redirect_leads_to_targets_of_the_plan_only() {
    let check = |location: &str, expected: Option<u16>| {
        let mut walker = Walker::new(Step { follow: 1, ..get("/a") });
        walker.send();
        let became = walker.answer(302, &format!("Location: {location}\r\n"), b"");
        let elsewhere =
            |stray: &FollowUpError| matches!(stray, FollowUpError::Elsewhere(_) | FollowUpError::NoAddress);
        let refused = matches!(&became, Err((302, Err(Rejection::Stray(stray)))) if elsewhere(stray));
        assert_eq!(refused, expected.is_none(), "{location}: {became:?}");
        assert_eq!(became.ok().map(|leg| leg.1), expected, "{location}");
    };
    check("/x", Some(0));
    check("http://SHOP.org:80/x", Some(0));
    check("http://127.0.0.1/x", Some(0));
    check("http://localhost/x", Some(0));
    check("http://localhost:81/x", None);
    check("http://127.0.0.2/x", None);
    check("http://static.org/x", Some(1));
    check("http://10.0.0.7:8080/x", Some(1));
    check("https://pay.shop.org/x", Some(2));
    check("https://shop.org/x", None);
    check("http://shop.org:81/x", None);
    check("http://example.org/", None);
    check("http://169.254.169.254/latest", None);
    check("ftp://shop.org/", None);
}

#[test]
fn what_may_go_along_goes_along() {
    let mut first = step("POST", "/login");
    first.request.body = "user=a".into();
    first.request.headers.extend([
        ("Content-Type".to_owned(), "text/plain".into()),
        ("X-Token".to_owned(), "t".into()),
        ("Authorization".to_owned(), "Bearer b".into()),
    ]);
    first.request.secret_headers = vec!["x-token".to_owned(), "authorization".to_owned()];
    let run = |status: u16, location: &str| {
        let mut walker = Walker::new(Step { follow: 3, ..first.clone() });
        walker.send();
        let fields =
            format!("Set-Cookie: id=7; Path=/\r\nSet-Cookie: s=1; Secure\r\nLocation: {location}\r\n");
        walker.answer(status, &fields, b"").expect("a leg").2
    };
    let home = run(303, "/welcome");
    assert!(home.starts_with("GET /welcome HTTP/1.1\r\nHost: shop.org\r\n"), "{home}");
    assert!(home.contains("X-Token: t\r\nAuthorization: Bearer b\r\n"), "{home}");
    assert!(home.contains("\r\nCookie: id=7\r\n") && home.ends_with("\r\n\r\n"), "{home}");
    assert!(!home.contains("Content-"), "{home}");
    let again = run(307, "/login2");
    assert!(again.starts_with("POST /login2 HTTP/1.1\r\nHost: shop.org\r\n"), "{again}");
    assert!(again.contains("Content-Length: 6\r\n") && again.ends_with("\r\n\r\nuser=a"), "{again}");
    let away = run(308, "http://static.org/x");
    assert!(away.starts_with("POST /x HTTP/1.1\r\nHost: static.org\r\n"), "{away}");
    assert!(away.ends_with("\r\n\r\nuser=a"), "{away}");
    for secret in ["X-Token", "Authorization", "Cookie", "shop.org"] {
        assert!(!away.contains(secret), "{secret} was sent elsewhere: {away}");
    }
    assert!(run(302, "https://pay.shop.org/").contains("Host: pay.shop.org\r\n"));
}

#[test]
fn a_proxy_reads_whole_urls_and_who_we_are_and_a_tunnel_neither() {
    let mut plan = plan();
    let proxy = ProxyUrl::parse("http://u:p@10.0.0.9:3128").expect("a URL");
    plan.http.proxy = Some(proxy.plan(vec!["10.0.0.9:3128".parse().expect("an address")]).expect("a proxy"));
    let mut walker = Walker::on_plan(Step { follow: 9, ..get("/a?b=c") }, plan);
    let head = |line: &str, host: &str, more: &str| format!("{line} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n");
    let known = "Proxy-Authorization: Basic dTpw\r\n";
    let sent = walker.send();
    assert_eq!(sent, head("GET http://shop.org/a?b=c", "shop.org", &format!("User-Agent: w\r\n{known}")));
    let mut leads = |fields: &str, leads_to: u16, line: &str, host: &str, more: &str| {
        let (_, target, _) = walker.leads(302, fields, "");
        let sent = String::from_utf8_lossy(&walker.sent).into_owned();
        assert_eq!((target, sent), (leads_to, head(line, host, &format!("User-Agent: w\r\n{more}"))));
    };
    // Cookies go by the path alone.
    let set = "Location: /b/c\r\nSet-Cookie: k=v; Path=/b\r\n";
    leads(set, 0, "GET http://shop.org/b/c", "shop.org", &format!("Cookie: k=v\r\n{known}"));
    leads("Location: https://pay.shop.org/d\r\n", 2, "GET /d", "pay.shop.org", "");
    leads("Location: http://10.0.0.7:8080/e\r\n", 1, "GET http://10.0.0.7:8080/e", "10.0.0.7:8080", known);
}

const REFUSED: Became = Err((401, Err(Rejection::Stray(FollowUpError::Challenge(ChallengeFault::Refused)))));

#[test]
fn a_challenge_that_is_not_answered_is_the_reason_of_the_failure() {
    let auth = Some(AuthPlan::Digest("anna".into(), "x".into()));
    for (challenge, text) in [
        ("", "the challenge is missing"),
        ("WWW-Authenticate: Basic realm=r\r\n", "the server asks for Basic, not Digest"),
        ("WWW-Authenticate: Digest realm=r, nonce=n, algorithm=SHA3\r\n", "algorithm SHA3 is not supported"),
        ("WWW-Authenticate: Digest realm=r, nonce=n, qop=auth-int\r\n", "offers qop auth-int"),
    ] {
        let mut walker = Walker::new(Step { auth: auth.clone(), ..get("/") });
        walker.send();
        match walker.answer(401, challenge, b"") {
            Err((401, Err(Rejection::Stray(stray)))) => assert!(stray.message().contains(text), "{stray:?}"),
            other => panic!("{challenge}: {other:?}"),
        }
    }
}

#[test]
fn a_challenge_is_answered_once_and_remembered() {
    let auth = Some(AuthPlan::Digest("anna".into(), "x".into()));
    let mut walker = Walker::new(Step { auth, ..get("/a?b") });
    let challenge = "WWW-Authenticate: Digest realm=r, nonce=n1, qop=auth\r\n";
    assert!(!walker.send().contains("Authorization"));
    let (kind, target, request) = walker.answer(401, challenge, b"").expect("a leg");
    assert_eq!((kind, target), (FollowUpKind::Challenge, 0));
    assert!(request.starts_with("GET /a?b HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("uri=\"/a?b\"") && request.contains("nc=00000001"), "{request}");
    assert_eq!(walker.answer(200, "", b""), DONE);
    let ahead = walker.send();
    assert!(ahead.contains("nonce=\"n1\"") && ahead.contains("nc=00000002"), "{ahead}");
    // A nonce that has worked may grow old, whatever the server calls that.
    let again = walker.answer(401, &challenge.replace("n1", "n2"), b"").expect("a leg").2;
    assert!(again.contains("nonce=\"n2\"") && again.contains("nc=00000001"), "{again}");
    assert_eq!(again.matches("Authorization").count(), 1, "{again}");
    assert_eq!(walker.answer(401, challenge, b""), REFUSED, "asked twice");
    walker.send();
    let refused = walker.answer(401, challenge, b"");
    assert_eq!(refused, REFUSED, "a wrong password stays wrong");
    walker.send();
    let stale = challenge.replace("qop", "stale=true, qop");
    assert!(walker.answer(401, &stale, b"").is_ok());
}

#[test]
fn the_nonce_that_a_server_gives_for_the_next_request_is_used() {
    let auth = Some(AuthPlan::Digest("anna".into(), "x".into()));
    let mut walker = Walker::new(Step { auth, ..get("/a") });
    walker.send();
    let challenge = "WWW-Authenticate: Digest realm=r, nonce=n1, qop=auth\r\n";
    walker.answer(401, challenge, b"").expect("a leg");
    for (next, expected) in [("n2", "n2"), ("n3", "n3")] {
        let info = format!("Authentication-Info: qop=auth, nextnonce=\"{next}\", rspauth=\"0\"\r\n");
        assert_eq!(walker.answer(200, &info, b""), DONE);
        let ahead = walker.send();
        let nonce = format!("nonce=\"{expected}\"");
        assert!(ahead.contains(&nonce) && ahead.contains("nc=00000001"), "{ahead}");
    }
    assert_eq!(walker.answer(200, "", b""), DONE);
    let ahead = walker.send();
    assert!(ahead.contains("nonce=\"n3\"") && ahead.contains("nc=00000002"), "{ahead}");
}

const PAGE: &str = "Content-Type: text/html; charset=utf-8\r\n";

#[test]
fn what_a_page_embeds_is_fetched_once_a_session() {
    let extract = vec![Extract { variable: 0, from: "css title".to_owned(), all: false }];
    let mut walker = Walker::new(Step { resources: true, extract, ..get("/p/") });
    let page = "<title>t</title><img src=a.png><img src=a.png><script src=//static.org/s.js></script>\
                <img src=http://cdn.example/x.png><link rel=stylesheet href=/c.css>";
    let resource = |line: &str, target| (FollowUpKind::Resource, target, format!("GET {line} HTTP/1.1"));
    walker.send();
    assert_eq!(walker.leads(200, PAGE, page), resource("/p/a.png", 0));
    let sent = String::from_utf8(walker.sent.clone()).expect("text");
    assert!(sent.contains("\r\nReferer: http://shop.org/p/\r\n"), "{sent}");
    assert_eq!(walker.leads(200, "", ""), resource("/s.js", 1));
    let sent = String::from_utf8(walker.sent.clone()).expect("text");
    assert!(
        sent.contains("Host: static.org\r\n") && sent.contains("Referer: http://shop.org/\r\n"),
        "{sent}"
    );
    assert_eq!(sent.matches("Referer").count(), 1, "{sent}");
    assert_eq!(walker.leads(200, "", ""), resource("/c.css", 0));
    assert_eq!(walker.answer(200, "", b""), DONE);
    assert_eq!(walker.session.variable(0).and_then(Values::first).expect("a title").text, b"t");
    let [SessionEvent::Log(note)] = &walker.reported[..] else { panic!("{:?}", walker.reported) };
    assert!(note.contains("cdn.example") && note.contains("hint:"), "{note}");
    walker.send();
    assert_eq!(walker.answer(200, PAGE, page.as_bytes()), DONE, "nothing twice in a session");
    assert_eq!(walker.reported.len(), 1, "noted once");
    walker.session.begin(Identity::for_arrival(0, 2));
    walker.send();
    assert_eq!(walker.leads(200, PAGE, page), resource("/p/a.png", 0), "another session");
}

#[test]
fn a_resource_that_fails_fails_its_page() {
    let mut walker = Walker::new(Step { resources: true, follow: 1, ..get("/") });
    walker.send();
    walker.leads(200, PAGE, "<img src=/a><img src=/b>");
    let (kind, _, line) = walker.leads(302, "Location: /a2\r\n", "");
    assert_eq!((kind, line.as_str()), (FollowUpKind::Redirect, "GET /a2 HTTP/1.1"));
    assert_eq!(walker.leads(404, "", "").2, "GET /b HTTP/1.1", "the others are fetched all the same");
    let stray = FollowUpError::Resource("http://shop.org/a2".to_owned(), 404);
    assert!(stray.message().contains("http://shop.org/a2 returned status 404"), "{}", stray.message());
    assert_eq!(walker.answer(200, "", b""), Err((200, Err(Rejection::Stray(stray)))));
    walker.send();
    let other = "Content-Type: text/plain\r\n";
    assert_eq!(walker.answer(200, other, b"<img src=/c>"), DONE, "this is not a page");
    walker.send();
    let many = (0..=RESOURCES_MAX).map(|number| format!("<img src=/{number}>")).collect::<Vec<_>>().concat();
    walker.leads(200, PAGE, &many);
    let fetched = 1 + std::iter::from_fn(|| walker.answer(200, "", b"").ok()).count();
    assert_eq!(fetched, RESOURCES_MAX);
}
