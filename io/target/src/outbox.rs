//! [`Outbox`]: responses as bytes.

use wavetank_driver::{Clock, WallClock};
use wavetank_shop::ShopResponse;
use wavetank_units::Nanos;
use wavetank_wire::h1::{ResponseParts, http_date, push_decimal, reason_phrase, render_response_head};

use crate::answer::{Keep, Response, ScheduledResponse};
use crate::filler::filler;
use crate::truth::Counts;

/// The body of the small fixed response.
const HOME: &[u8] = b"Wavetank OK\n";
const TEXT: &[u8] = b"text/plain";
/// See [`Outbox::is_full`].
const OUT_MAX: usize = 256 * 1024;
/// Bodies up to this size are sent together with their head, in one call.
pub(crate) const WHOLE_MAX: u64 = 64 * 1024;

/// The buffer that collects the responses of one turn to one connection, with prepared parts of
/// responses.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// Bytes to be sent.
    pub(crate) out: Vec<u8>,
    /// The small fixed response, by [`Keep`].
    home: [Home; 3],
    date: [u8; 29],
    /// When the date changes.
    date_until: Nanos,
    /// Unix time at the clock's zero, in nanoseconds.
    zero_unix_ns: i64,
}

#[derive(Debug, Default)]
struct Home {
    bytes: Vec<u8>,
    head_len: usize,
}

impl Outbox {
    /// Creates an empty outbox that takes its dates from `clock`.
    pub(crate) fn new(clock: Clock) -> Self {
        let mut outbox = Self {
            out: Vec::with_capacity(WHOLE_MAX as usize),
            home: Default::default(),
            date: [0; 29],
            date_until: Nanos(i64::MIN),
            zero_unix_ns: WallClock::unix_ns() - clock.now().0,
        };
        outbox.refresh_date(clock.now());
        outbox
    }

    /// Whether it is full: further responses wait until the kernel has taken its bytes.
    #[inline]
    pub(crate) const fn is_full(&self) -> bool {
        self.out.len() >= OUT_MAX
    }

    /// Updates the date. This costs one comparison, except in one turn a second.
    #[inline]
    pub(crate) fn refresh_date(&mut self, now: Nanos) {
        if now < self.date_until {
            return;
        }
        let unix_s = (self.zero_unix_ns + now.0).div_euclid(1_000_000_000);
        self.date_until = Nanos((unix_s + 1) * 1_000_000_000 - self.zero_unix_ns);
        self.date = http_date(unix_s.unsigned_abs());
        for keep in [Keep::Silently, Keep::Saying, Keep::No] {
            let home = &mut self.home[keep as usize];
            home.bytes.clear();
            let head = Head { status: 200, content_type: TEXT, extra: None, keep };
            head.render(&mut home.bytes, &self.date, HOME.len() as u64);
            home.head_len = home.bytes.len();
            home.bytes.extend_from_slice(HOME);
        }
    }

    /// Appends a response. Returns how many bytes of its body are left to be sent after it.
    #[inline]
    pub(crate) fn render(&mut self, due: &ScheduledResponse, counts: &Counts) -> u64 {
        if let Response::Home = due.answer {
            counts.answered(200);
            let home = &self.home[due.keep as usize];
            let len = if due.head_only { home.head_len } else { home.bytes.len() };
            self.out.extend_from_slice(&home.bytes[..len]);
            return 0;
        }
        self.render_rare(due, counts)
    }

    fn render_rare(&mut self, due: &ScheduledResponse, counts: &Counts) -> u64 {
        let (status, body) = match &due.answer {
            Response::Continue => {
                self.out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
                return 0;
            }
            Response::Upgrade(upgrade) => {
                counts.answered(upgrade.status());
                upgrade.write_response(true, &mut self.out);
                return 0;
            }
            Response::Events => {
                counts.answered(200);
                self.out.extend_from_slice(b"HTTP/1.1 200 OK\r\nDate: ");
                self.out.extend_from_slice(&self.date);
                self.out.extend_from_slice(
                    b"\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\
                    Transfer-Encoding: chunked\r\n\r\n",
                );
                return 0;
            }
            Response::OpenCall => {
                counts.answered(200);
                self.out.extend_from_slice(b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\n\r\n");
                return 0;
            }
            &Response::Bytes(len) => return self.render_bytes(len, due, counts),
            Response::Home => (200, HOME),
            // A 205 has no body (RFC 9110 §15.3.6).
            Response::Status(205) => (205, &b""[..]),
            &Response::Status(status) => (status, reason_phrase(status).as_bytes()),
            &Response::Plain(status, text) => (status, text.as_bytes()),
            Response::Allow(_) => (405, reason_phrase(405).as_bytes()),
            Response::Echo(echo) => (200, &echo.body[..]),
            Response::Json(document) => (200, &document[..]),
            Response::Grpc(reply) => {
                counts.answered(200);
                reply.push_head(&mut self.out);
                return 0;
            }
            Response::Page(page) => return self.render_page(page, due, counts),
            // These are replaced by the actual response before they are rendered.
            Response::Truth | Response::Standing | Response::Reset | Response::Awaited(_) => (500, &b""[..]),
        };
        if due.counted {
            counts.answered(status);
        }
        let content_type = match &due.answer {
            Response::Echo(echo) => &echo.content_type[..],
            Response::Json(_) => b"application/json",
            _ => TEXT,
        };
        let bodiless = matches!(status, 204 | 304);
        let head = Head {
            status,
            content_type: if bodiless { b"" } else { content_type },
            extra: extra(status, &due.answer),
            keep: due.keep,
        };
        head.render(&mut self.out, &self.date, body.len() as u64);
        if !due.head_only && !bodiless {
            self.out.extend_from_slice(body);
        }
        0
    }

    fn render_page(&mut self, page: &ShopResponse, due: &ScheduledResponse, counts: &Counts) -> u64 {
        counts.answered(page.status);
        let mut digits = Vec::new();
        let content_type: &[u8] = if page.json { b"application/json" } else { TEXT };
        let mut headers: Vec<(&str, &[u8])> =
            vec![("Date", &self.date), ("Content-Type", content_type), ("Cache-Control", b"no-store")];
        if let Some(cookie) = &page.cookie {
            headers.push(("Set-Cookie", cookie.as_bytes()));
        }
        if let Some(seconds) = page.retry_after_s {
            push_decimal(&mut digits, seconds);
            headers.push(("Retry-After", &digits));
        }
        if page.status == 401 {
            // RFC 9110 §15.5.2 requires this field. The scheme is not a registered one, so no
            // client answers it automatically.
            headers.push(("WWW-Authenticate", b"Form realm=\"shop\""));
        }
        let parts = ResponseParts {
            status: page.status,
            http_10: due.keep == Keep::Saying,
            keep_alive: due.keep != Keep::No,
            content_length: Some(page.body.len() as u64),
            headers: &headers,
        };
        render_response_head(&mut self.out, &parts);
        if !due.head_only {
            self.out.extend_from_slice(&page.body);
        }
        0
    }

    fn render_bytes(&mut self, len: u64, due: &ScheduledResponse, counts: &Counts) -> u64 {
        counts.answered(200);
        let head =
            Head { status: 200, content_type: b"application/octet-stream", extra: None, keep: due.keep };
        head.render(&mut self.out, &self.date, len);
        if due.head_only {
            return 0;
        }
        if len > WHOLE_MAX {
            return len;
        }
        self.out.extend_from_slice(&filler()[..len as usize]);
        0
    }
}

/// The variable parts of a response head.
struct Head<'a> {
    status: u16,
    /// Empty for no `Content-Type`.
    content_type: &'a [u8],
    extra: Option<(&'static str, &'static str)>,
    keep: Keep,
}

impl Head<'_> {
    fn render(&self, out: &mut Vec<u8>, date: &[u8; 29], content_length: u64) {
        let mut headers: [(&str, &[u8]); 3] = [("Date", date), ("", b""), ("", b"")];
        let mut count = 1;
        if !self.content_type.is_empty() {
            headers[count] = ("Content-Type", self.content_type);
            count += 1;
        }
        if let Some((name, value)) = self.extra {
            headers[count] = (name, value.as_bytes());
            count += 1;
        }
        let parts = ResponseParts {
            status: self.status,
            http_10: self.keep == Keep::Saying,
            keep_alive: self.keep != Keep::No,
            // The Content-Length of a 304 would be the length of the 200 response, which is
            // unknown.
            content_length: (self.status != 304).then_some(content_length),
            headers: &headers[..count],
        };
        render_response_head(out, &parts);
    }
}

/// Returns the header field that a status requires, if any.
const fn extra(status: u16, answer: &Response) -> Option<(&'static str, &'static str)> {
    match (status, answer) {
        (_, Response::Allow(methods)) => Some(("Allow", methods)),
        (301 | 302 | 303 | 307 | 308, _) => Some(("Location", "/")),
        (401, _) => Some(("WWW-Authenticate", "Basic realm=\"wavetank\"")),
        (405, _) => Some(("Allow", "")),
        (426, _) => Some(("Upgrade", "websocket")),
        _ => None,
    }
}
