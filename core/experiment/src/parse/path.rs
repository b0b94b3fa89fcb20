//! [`normal_path`]: the path and query of a request as they go into the request line.

use wavetank_plan::TargetUrl;

use super::template::push_text;
use crate::model::{Part, Template};

/// Encodes the fixed text of a path or a whole URL as the URL of a run is encoded: only ASCII, and
/// no dot segments. Holes stay; their values are escaped when they are known.
pub(crate) fn normal_path(url: Template) -> Template {
    let Some(Part::Text(first)) = url.parts.first() else { return url };
    let start = if first.contains("://") { TargetUrl::path_start(first) } else { Some(0) };
    // Without a path there is only a host.
    let Some(start) = start else { return url };
    let token = unused_token(&url);
    let mut text = first[start..].to_owned();
    for part in &url.parts[1..] {
        match part {
            Part::Text(fixed) => text.push_str(fixed),
            _ => text.push_str(&token),
        }
    }
    let normal = TargetUrl::normal_path(&text);
    let mut holes = url.parts.iter().filter(|part| !matches!(part, Part::Text(_)));
    // A dot segment may have removed a segment with a hole.
    if normal.matches(&token).count() != holes.clone().count() {
        return url;
    }
    let mut out = Template { parts: Vec::new(), place: url.place };
    push_text(&mut out, &first[..start]);
    for (at, fixed) in normal.split(&token).enumerate() {
        if at > 0 {
            out.parts.extend(holes.next().cloned());
        }
        push_text(&mut out, fixed);
    }
    out
}

/// Returns letters that are not in the text, to represent holes.
fn unused_token(url: &Template) -> String {
    let used =
        |token: &str| url.parts.iter().any(|part| matches!(part, Part::Text(text) if text.contains(token)));
    let mut token = "hole".to_owned();
    while used(&token) {
        token.push('x');
    }
    token
}
