//! [`Login`], [`NewSale`], [`Order`]: the request bodies of the shop. Content types are ignored.

use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded;
use wavetank_units::Nanos;
use wavetank_units::quantity::{parse_count, parse_duration};

use crate::accounts::WORD_BYTES_MAX;

/// Longest body that the shop reads, in bytes.
pub const BODY_BYTES_MAX: usize = 4 * 1024;
/// Maximum stock of a sale: each sold article is a row.
pub(crate) const STOCK_MAX: u64 = 1_000_000;
/// Longest time until a sale opens.
const OPENS_IN_MAX: Nanos = Nanos::from_secs(7 * 86_400);

const LOGIN: &str = "the body must be a form: user=NAME&password=PASSWORD, each of at most 128 bytes\n";
const NEW_SALE: &str = "the body must be JSON: {\"stock\": 1000, \"opens_in\": \"60s\"}; stock up to a million, opens_in up to a week\n";
const ORDER: &str = "the body must be JSON: {\"sku\": \"P0001\", \"user\": \"NAME\"}\n";

/// A form with a user's name and password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: String,
}

/// A new sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewSale {
    pub(crate) stock: u64,
    /// Time from now; not negative.
    pub(crate) opens_in: Nanos,
}

/// An order of one article for one user.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    pub(crate) sku: String,
    pub(crate) user: String,
}

impl Login {
    /// Reads a form. The error describes the valid form.
    pub(crate) fn read(body: &[u8]) -> Result<Self, &'static str> {
        let (mut user, mut password) = (None, None);
        // Invalid UTF-8 must not be converted to a name that another user may have.
        if str::from_utf8(body).is_err() {
            return Err(LOGIN);
        }
        for (name, value) in form_urlencoded::parse(body) {
            let place = match &*name {
                "user" => &mut user,
                "password" => &mut password,
                _ => return Err(LOGIN),
            };
            if value.len() > WORD_BYTES_MAX || value.contains('\u{fffd}') || place.is_some() {
                return Err(LOGIN);
            }
            *place = Some(value.into_owned());
        }
        match (user, password) {
            (Some(user), Some(password)) if !user.is_empty() => Ok(Self { user, password }),
            _ => Err(LOGIN),
        }
    }
}

impl NewSale {
    /// Reads JSON. The error describes the valid document.
    pub(crate) fn read(body: &[u8]) -> Result<Self, &'static str> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Body {
            stock: Value,
            opens_in: Option<String>,
        }
        let Body { stock, opens_in } = serde_json::from_slice(body).map_err(|_| NEW_SALE)?;
        let stock = match &stock {
            Value::Number(number) => number.as_u64(),
            // Text from a data file or a variable may be a number with a unit: 1k.
            Value::String(text) => parse_count(text).ok(),
            _ => None,
        };
        let opens_in = opens_in.map_or(Some(Nanos::ZERO), |text| parse_duration(&text).ok());
        match (stock, opens_in) {
            (Some(stock), Some(opens_in))
                if stock <= STOCK_MAX && (Nanos::ZERO..=OPENS_IN_MAX).contains(&opens_in) =>
            {
                Ok(Self { stock, opens_in })
            }
            _ => Err(NEW_SALE),
        }
    }
}

impl Order {
    /// Reads JSON. The error describes the valid document.
    pub(crate) fn read(body: &[u8]) -> Result<Self, &'static str> {
        let order: Self = serde_json::from_slice(body).map_err(|_| ORDER)?;
        let fits = |word: &str| (1..=WORD_BYTES_MAX).contains(&word.len());
        if fits(&order.sku) && fits(&order.user) { Ok(order) } else { Err(ORDER) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins() {
        let check = |body: &str, expected: Option<(&str, &str)>| {
            let found = Login::read(body.as_bytes()).ok();
            let found = found.as_ref().map(|login| (login.user.as_str(), login.password.as_str()));
            assert_eq!(found, expected, "{body}");
        };
        check("user=ann&password=pw+1", Some(("ann", "pw 1")));
        check("password=&user=%C3%A4%26", Some(("\u{e4}&", "")));
        for wrong in ["", "user=ann", "user=&password=x", "user=a&password=b&user=c", "user=a&password=b&x=1"]
        {
            check(wrong, None);
        }
        check("user=%FF&password=x", None);
        check(&format!("user={}&password=x", "x".repeat(129)), None);
    }

    #[test]
    fn sales() {
        let check = |body: &str, expected: Option<(u64, i64)>| {
            let found = NewSale::read(body.as_bytes()).ok().map(|sale| (sale.stock, sale.opens_in.0));
            assert_eq!(found, expected, "{body}");
        };
        check("{\"stock\": 1000, \"opens_in\": \"1.5s\"}", Some((1_000, 1_500_000_000)));
        check("{\"stock\": \"1k\"}", Some((1_000, 0)));
        check("{\"stock\": 0, \"opens_in\": null}", Some((0, 0)));
        check("{\"stock\": 1000000, \"opens_in\": \"0s\"}", Some((1_000_000, 0)));
        for wrong in [
            "",
            "[]",
            "{}",
            "{\"stock\": -1}",
            "{\"stock\": 1.5}",
            "{\"stock\": 1000001}",
            "{\"stock\": true}",
            "{\"stock\": 1, \"opens_in\": 60}",
            "{\"stock\": 1, \"opens_in\": \"60\"}",
            "{\"stock\": 1, \"opens_in\": \"8d\"}",
            "{\"stock\": 1, \"opens_in\": \"200h\"}",
            "{\"stock\": 1, \"price\": 1}",
            "{\"stock\": 1} x",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn orders() {
        let check = |body: &[u8], expected: Option<(&str, &str)>| {
            let found = Order::read(body).ok();
            let found = found.as_ref().map(|order| (order.sku.as_str(), order.user.as_str()));
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(body));
        };
        check(b"{\"user\": \"ann\", \"sku\": \"P0001\"}", Some(("P0001", "ann")));
        for wrong in [
            &b""[..],
            b"{\"sku\": \"P0001\"}",
            b"{\"sku\": 1, \"user\": \"a\"}",
            b"{\"sku\": \"\", \"user\": \"a\"}",
            b"{\"sku\": \"P\", \"user\": \"a\", \"count\": 2}",
            b"{\"sku\": \"P\", \"user\": \"\xff\"}",
        ] {
            check(wrong, None);
        }
    }
}
