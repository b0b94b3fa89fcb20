//! Fuzz targets as plain functions, for stable Rust and cargo-fuzz alike.
//!
//! Each one parses bytes as a client could send them, and panics if the results contradict each
//! other.

use crate::{CookieSigner, Login, NewSale, Order, Pools, TierKind};

/// The bodies of a login, of a new sale and of an order: accepted values are within their limits,
/// and are accepted again when written out.
pub fn bodies(data: &[u8]) {
    if let Ok(login) = Login::read(data) {
        assert!((1..=128).contains(&login.user.len()) && login.password.len() <= 128, "{login:?}");
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("user", &login.user)
            .append_pair("password", &login.password)
            .finish();
        assert_eq!(Login::read(form.as_bytes()), Ok(login), "{form}");
    }
    if let Ok(sale) = NewSale::read(data) {
        assert!(sale.stock <= 1_000_000 && sale.opens_in.0 >= 0, "{sale:?}");
        let json = format!("{{\"stock\": {}, \"opens_in\": \"{}us\"}}", sale.stock, sale.opens_in.0 / 1_000);
        assert_eq!(NewSale::read(json.as_bytes()).map(|again| again.stock), Ok(sale.stock), "{json}");
    }
    if let Ok(order) = Order::read(data) {
        assert!(!order.sku.is_empty() && (1..=128).contains(&order.user.len()), "{order:?}");
        let json = serde_json::json!({ "sku": order.sku, "user": order.user }).to_string();
        assert_eq!(Order::read(json.as_bytes()), Ok(order), "{json}");
    }
}

/// A `Cookie` field: only a session with a valid signature is accepted.
pub fn cookie(data: &[u8]) {
    let seal = CookieSigner::new(&[7; 32]);
    if let Some(user) = seal.user(data) {
        let cookie = seal.cookie(&user);
        let pair = cookie.split(';').next().unwrap_or_default();
        let value = pair.trim_start_matches("session=");
        assert!(
            data.windows(value.len()).any(|bytes| bytes == value.as_bytes()),
            "a session that was not signed: {user}"
        );
    }
}

/// The query of a tier: equal parameters always lead to the same pool.
pub fn tier(data: &[u8]) {
    let pools = Pools::default();
    let tier = pools.tier(TierKind::Query, data);
    assert_eq!(pools.tier(TierKind::Query, data), tier);
}
