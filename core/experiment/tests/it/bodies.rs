//! Bodies and paths as templates.

use wavetank_journey::Journeys;

use crate::lowering::{plan, shown};

#[test]
fn bodies_and_paths_are_written_for_where_they_stand() {
    let made = plan(
        "vars: {stock: 1k, who: \"a \\\"b\\\"\"}\nsteps:\n  - get: /\n    extract: {id: json $.id}\n  - post: \"/x/${id}?q=${id}\"\n    \
         query: {a b: \"${id}\"}\n    json: {n: \"${stock}\", v: \"${id}\", t: \"no ${id}\", w: \"${who}!\"}\n  - post: /f\n    form: {a: \"${id}\", \
         b: \"x&y\"}\n  - put: /b\n    file: body.bin\n  - get: \"${id}\"\nphases: [{users: 1, for: 1s}]\n",
    );
    let steps = &made.plan.scenarios[0].steps;
    assert_eq!(shown(&steps[1].request.path), "/x/<path 0>?q=<form 0>&a+b=<form 0>");
    assert_eq!(shown(&steps[4].request.path), "<address 0>", "a link that was extracted");
    assert_eq!(
        shown(&steps[1].request.body),
        "{\"n\":1000,\"v\":<value 0>,\"t\":\"no <text 0>\",\"w\":\"a \\\"b\\\"!\"}"
    );
    assert_eq!(shown(&steps[2].request.body), "a=<form 0>&b=x%26y");
    assert_eq!(steps[3].request.body.as_fixed(), Some(&[0, 255][..]));
    let kind = |step: usize| {
        let found = steps[step].request.headers.iter().find(|(name, _)| name == "Content-Type");
        found.map(|(_, value)| shown(value))
    };
    assert_eq!(kind(1).as_deref(), Some("application/json"));
    assert_eq!(kind(2).as_deref(), Some("application/x-www-form-urlencoded"));
    Journeys::new(&made.plan, Vec::new()).expect("it compiles");
}

#[test]
fn xml_keeps_its_markup_and_escapes_values() {
    let made = plan(
        "vars: {who: \"a & b\"}\nsteps:\n  - get: /\n    extract: {id: json $.id}\n\
         \x20 - request: PROPFIND /dav/\n    headers: {depth: '1'}\n    xml: <q a=\"${who}\">${id}</q>\n\
         \x20 - post: /a\n    soap: urn:Get\n    xml: <e/>\n\
         \x20 - post: /b\n    soap: {action: \"urn:${id}\", version: 1.2}\n    xml: <e/>\n\
         \x20 - post: /c\n    soap: ''\n    xml: <e/>\n    headers: {soapaction: own, content-type: text/own}\n\
         phases: [{users: 1, for: 1s}]\n",
    );
    let steps = &made.plan.scenarios[0].steps;
    let check = |step: usize, body: &str, expected: &[(&str, &str)]| {
        let request = &steps[step].request;
        assert_eq!(shown(&request.body), body, "{step}");
        let headers: Vec<_> =
            request.headers.iter().map(|(name, value)| (name.as_str(), shown(value))).collect();
        let sent: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).skip(1).collect();
        assert_eq!(sent, expected, "{step}");
    };
    check(1, "<q a=\"a &amp; b\"><xml 0></q>", &[("Content-Type", "application/xml"), ("depth", "1")]);
    check(2, "<e/>", &[("Content-Type", "text/xml; charset=utf-8"), ("SOAPAction", "\"urn:Get\"")]);
    let action = "application/soap+xml; charset=utf-8; action=\"urn:<Variable(0) Header>\"";
    check(3, "<e/>", &[("Content-Type", action)]);
    check(4, "<e/>", &[("soapaction", "own"), ("content-type", "text/own")]);
    assert_eq!(steps[1].request.method, "PROPFIND");
}
