//! What connections report: [`ConnectionOutcome`] of a request, [`HoldEvent`] of a held connection.

use wavetank_units::Nanos;
use wavetank_wire::h1::ResponseEnd;

use crate::failure::Failure;
use crate::slab::Id;

/// An event of a request on its connection.
pub(crate) enum ConnectionOutcome {
    /// It was handed to the driver at that instant, which was read just before. The `io_uring`
    /// driver passes it to the kernel with the next wait.
    Sent(Id, Nanos),
    /// It was answered: instants of the first byte and of completion.
    Answered(Id, ResponseEnd, Nanos, Nanos),
    /// It was not answered.
    Broken(Id, Box<Failure>, Nanos),
    /// It cannot be sent because every source address is in use or resting.
    Dropped(Id, Nanos),
}

/// A change of a slot's held connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldEvent {
    pub(crate) slot: u32,
    pub(crate) at: Nanos,
    /// Whether it can carry requests. Otherwise it has ended, or could not be opened.
    pub(crate) open: bool,
}
