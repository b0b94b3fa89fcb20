//! [`Response`] and [`ScheduledResponse`]: what is given to a request, and when.

use wavetank_plan::Nanos;

use crate::shop::ShopResponse;

/// What is given to a request.
#[derive(Debug)]
pub(crate) enum Response {
    /// The small fixed answer.
    Home,
    /// So many bytes.
    Bytes(u64),
    /// A status with its phrase as the body.
    Status(u16),
    /// A status with a line that explains it.
    Plain(u16, &'static str),
    /// The wrong method; these are right.
    Allow(&'static str),
    /// What was sent.
    Echo(Box<Echo>),
    /// `100 Continue`: more is to come from the client.
    Continue,
    /// The counts of all threads, taken when its turn comes.
    Truth,
    /// How it stands with connections, when its turn comes.
    Standing,
    /// Begin counting anew, when its turn comes.
    Reset,
    /// A document ready to be sent.
    Json(Vec<u8>),
    /// What the database says to the request with this ticket, when it comes back.
    Awaited(u32),
    /// What the shop says.
    Page(Box<ShopResponse>),
}

impl Response {
    /// Whether it is of the server as a whole: it is made at the end of a turn, of all that the turn has counted.
    #[inline]
    pub(crate) const fn is_control(&self) -> bool {
        matches!(self, Self::Truth | Self::Standing | Self::Reset)
    }

    /// It is replaced by another one before it is given.
    #[inline]
    pub(crate) const fn is_placeholder(&self) -> bool {
        self.is_control() || matches!(self, Self::Awaited(_))
    }
}

/// A request's body on its way back, or to the shop.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    /// Empty if the request named none.
    pub(crate) content_type: Vec<u8>,
    /// For the shop; empty if the request had none.
    pub(crate) cookie: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// What becomes of the connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It stays, which HTTP/1.1 takes for granted.
    Silently,
    /// It stays, and HTTP/1.0 has to be told.
    Saying,
    /// It is closed.
    No,
}

/// An answer, and what is to be minded in giving it.
#[derive(Debug)]
pub(crate) struct ScheduledResponse {
    /// Not before.
    pub(crate) at: Nanos,
    pub(crate) answer: Response,
    /// Without the body: the request was a HEAD.
    pub(crate) head_only: bool,
    pub(crate) keep: Keep,
    /// In the counts.
    pub(crate) counted: bool,
}
