//! [`Addresses`]: keeps socket addresses until the kernel has read them.

use std::net::SocketAddr;

use crate::socket;

/// A socket address in the kernel's format.
pub(super) struct Address {
    storage: libc::sockaddr_storage,
    length: libc::socklen_t,
}

impl Address {
    pub(super) const fn as_ptr(&self) -> *const libc::sockaddr {
        (&raw const self.storage).cast()
    }

    pub(super) const fn length(&self) -> libc::socklen_t {
        self.length
    }
}

/// Addresses at places in memory that do not move until all of them are cleared.
pub(super) struct Addresses {
    places: Vec<Address>,
}

impl Addresses {
    pub(super) fn new(max: usize) -> Self {
        Self { places: Vec::with_capacity(max) }
    }

    /// Returns whether there is no room for `count` more.
    pub(super) const fn is_full(&self, count: usize) -> bool {
        self.places.len() + count > self.places.capacity()
    }

    /// Stores `address`. There must be room for it.
    pub(super) fn push(&mut self, address: SocketAddr) -> &Address {
        assert!(!self.is_full(1), "the addresses before would move");
        let (storage, length) = socket::to_kernel(address);
        self.places.push(Address { storage, length });
        self.places.last().expect("just kept")
    }

    /// Removes all addresses, once the kernel has read them. It copies an address when it takes the
    /// entry from the queue.
    pub(super) fn clear(&mut self) {
        self.places.clear();
    }
}
