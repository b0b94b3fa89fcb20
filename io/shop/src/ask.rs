//! [`Ask`]: the requests of the flash sale.

/// The kind of a request to the flash sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The state of the sale.
    Show,
    /// A new session.
    Login,
    /// A new sale.
    Begin,
    /// An order.
    Order,
}
