//! [`ShopResponse`]: a response of the shop or of a tier. None of them may be cached.

use crate::job::Outcome;
use crate::sale_snapshot::Sale;

/// See the module's description.
#[derive(Debug, PartialEq, Eq)]
pub struct ShopResponse {
    /// The status.
    pub status: u16,
    /// Whether the body is JSON. Otherwise, it is a line of text.
    pub json: bool,
    /// The value of a `Set-Cookie`.
    pub cookie: Option<String>,
    /// The value of `Retry-After`, in seconds.
    pub retry_after_s: Option<u64>,
    /// The body.
    pub body: Vec<u8>,
}

impl ShopResponse {
    /// A JSON document.
    pub(crate) fn json(status: u16, body: String) -> Self {
        Self { status, json: true, cookie: None, retry_after_s: None, body: body.into_bytes() }
    }

    /// A line of text.
    pub(crate) fn text(status: u16, line: &'static str) -> Self {
        Self { status, json: false, cookie: None, retry_after_s: None, body: line.into() }
    }

    /// A 503 response: a queue is full, and will have room in `retry_after_s` seconds.
    pub(crate) fn busy(line: &'static str, retry_after_s: u64) -> Self {
        Self { retry_after_s: Some(retry_after_s), ..Self::text(503, line) }
    }

    /// The state of the sale at `now_ms`, in milliseconds of Unix time.
    pub(crate) fn sale(sale: Sale, now_ms: i64) -> Self {
        let Sale { number, stock, sold, opens_at_ms } = sale;
        let (sku, left) = (sale.sku(), stock - sold);
        let countdown_ms = opens_at_ms.saturating_sub(now_ms).max(0);
        let state = match (countdown_ms, left) {
            (0, 0) => "sold_out",
            (0, _) => "open",
            _ => "waiting",
        };
        Self::json(
            200,
            format!(
                "{{\"time_ms\":{now_ms},\"event1\":{{\"sku\":\"{sku}\",\"name\":\"Flash sale {number}\",\
                 \"opens_at_ms\":{opens_at_ms},\"countdown_ms\":{countdown_ms},\"state\":\"{state}\"}},\
                 \"stock\":{stock},\"left\":{left},\"sold\":{sold}}}\n"
            ),
        )
    }

    /// The response for the outcome of a job. A new sale is shown as at `now_ms`.
    pub(crate) fn from_outcome(outcome: Outcome, now_ms: i64) -> Self {
        match outcome {
            Outcome::Sold { order, left } => {
                Self::json(200, format!("{{\"result\":\"sold\",\"order\":{order},\"left\":{left}}}\n"))
            }
            Outcome::SoldOut => Self::json(409, "{\"result\":\"sold_out\"}\n".to_owned()),
            Outcome::BoughtBefore => Self::json(409, "{\"result\":\"bought_before\"}\n".to_owned()),
            Outcome::TooEarly { opens_at_ms } => {
                Self::json(403, format!("{{\"result\":\"too_early\",\"opens_at_ms\":{opens_at_ms}}}\n"))
            }
            Outcome::NotOnSale => Self::text(404, "no article with this sku is on sale\n"),
            Outcome::Begun(sale) => Self::sale(sale, now_ms),
            Outcome::Found { rows, total } => {
                Self::json(200, format!("{{\"tier\":\"query\",\"rows\":{rows},\"total\":{total}}}\n"))
            }
            Outcome::Transferred { transfer } => {
                Self::json(200, format!("{{\"tier\":\"transaction\",\"transfer\":{transfer}}}\n"))
            }
            Outcome::Failed => Self::text(500, "the database failed: see the server's output\n"),
        }
    }
}
