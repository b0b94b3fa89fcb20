//! Fuzzes a session with a server that sends arbitrary responses, and checks where it can lead the
//! load.

use memchr::memmem;
use wavetank_pace::Partition;
use wavetank_plan::{AuthPlan, Plan, RequestPlan, Step, Target, TargetUrl};
use wavetank_units::Nanos;

use crate::extract::{ParseCache, ResponseView};
use crate::{CompiledStep, FollowUpSink, Identity, NextMessage, RenderContext, Session};

/// The secret that must not reach another target.
const SECRET: &str = "planted";

const STATUSES: [u16; 8] = [200, 301, 302, 303, 307, 308, 401, 404];

/// Feeds a session with responses separated by a byte 0xff. The first byte of a response chooses
/// its status; field lines, an empty line and the body follow. Every message that goes out must be
/// one whole request for a target of the plan, and must not carry secrets elsewhere.
pub fn fuzz_session(data: &[u8]) {
    let plan = plan();
    let step = CompiledStep::new(&plan.scenarios[0].steps[0], &plan, true).expect("the step is valid");
    let (mut seq, mut scratch, mut reading) = (0, Vec::new(), ParseCache::default());
    let mut scene = RenderContext {
        seed: 1,
        tables: &[],
        data: &[],
        wall_ms: 1_700_000_000_000,
        share: Partition::WHOLE,
        seq: &mut seq,
        counts: &[],
        scratch: &mut scratch,
        reading: &mut reading,
        finds: &mut crate::value::Values::default(),
    };
    let mut session = Session::default();
    session.begin(Identity::for_arrival(0, 1));
    let (mut sent, mut redirects) = (written(&step, &mut scene, &mut session), 0);
    for one in data.split(|byte| *byte == 0xff) {
        let Some((&choice, rest)) = one.split_first() else { continue };
        let fields_end = memmem::find(rest, b"\r\n\r\n").map_or(rest.len(), |end| end + 2);
        let (fields, body) = rest.split_at(fields_end);
        let status = STATUSES[usize::from(choice) % STATUSES.len()];
        let body = body.strip_prefix(b"\r\n").unwrap_or(body);
        let answer =
            ResponseView { status, time: Nanos(1), size: body.len() as u64, fields, body, jar: None };
        let mut request = Vec::new();
        let mut out = FollowUpSink {
            request: &mut request,
            counted: &mut Vec::new(),
            events: &mut Vec::new(),
            watch: &mut |_| (),
        };
        sent = match step.on_answer(&mut scene, &mut session, &sent, &answer, &mut out) {
            NextMessage::Await => unreachable!("only messages are awaited"),
            NextMessage::Over { .. } => {
                redirects = 0;
                written(&step, &mut scene, &mut session)
            }
            NextMessage::Leg(leg) => {
                check(&request, leg.target);
                redirects = if leg.kind == crate::FollowUpKind::Redirect { redirects + 1 } else { redirects };
                assert!(
                    leg.kind != crate::FollowUpKind::Redirect || request != sent || redirects < 9,
                    "for ever"
                );
                request
            }
        };
    }
}

/// Checks that `request` is one whole request and contains nothing that is not for `target`.
fn check(request: &[u8], target: u16) {
    assert!(target < 2, "the plan has no such target");
    let head = memmem::find(request, b"\r\n\r\n").expect("a head that ends");
    let text = String::from_utf8_lossy(&request[..head]).into_owned();
    let mut lines = text.split("\r\n");
    let words: Vec<_> = lines.next().unwrap_or_default().split(' ').collect();
    assert!(words.len() == 3 && words[1].starts_with('/') && words[2] == "HTTP/1.1", "{text}");
    let mut hosts = 0;
    for line in lines {
        assert!(!line.contains(['\r', '\n']) && line.contains(": "), "{text}");
        hosts += usize::from(line.starts_with("Host: "));
    }
    assert_eq!(hosts, 1, "{text}");
    let leaves_home = target != 0;
    assert!(!(leaves_home && (text.contains(SECRET) || text.contains("Authorization"))), "{text}");
}

fn written(step: &CompiledStep, scene: &mut RenderContext<'_>, session: &mut Session) -> Vec<u8> {
    let mut out = Vec::new();
    if step.render(scene, session, &mut out).expect("nothing is missing") {
        return out;
    }
    step.as_fixed().expect("a request that is not written is fixed").to_vec()
}

/// Returns a plan with two targets and one step that follows every redirect.
fn plan() -> Plan {
    let address = |port: u16| std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let url = TargetUrl::parse("http://a.org/").expect("a URL");
    let mut plan = Plan::for_tests(&url, &[address(80)]);
    let other = Target {
        url: "http://b.org:81/".to_owned(),
        host: "b.org:81".to_owned(),
        addresses: vec![address(81)],
        ..plan.targets[0].clone()
    };
    plan.targets.push(other);
    let request = RequestPlan {
        method: "POST".to_owned(),
        path: "/x/y?z".into(),
        headers: vec![("X-Own".to_owned(), SECRET.into())],
        body: "body".into(),
        secret_headers: vec!["x-own".to_owned()],
    };
    plan.scenarios[0].steps = vec![Step {
        follow: 20,
        resources: true,
        auth: Some(AuthPlan::Digest("u".into(), "p".into())),
        ..Step::plain("s", 0, request)
    }];
    plan
}
