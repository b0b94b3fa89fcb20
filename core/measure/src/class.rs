//! Why a request failed or was never sent.

/// Why a request failed (`docs/measuring.md` §2). The sum over classes is `failed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ErrorClass {
    /// The name did not resolve.
    Dns,
    /// RST to our SYN.
    ConnectRefused,
    /// No reply to the SYN in time.
    ConnectTimeout,
    /// No route, or an ICMP error.
    ConnectUnreachable,
    /// The kernel had no source port or address left (EADDRNOTAVAIL). Generator's.
    NoSourceAddress,
    /// EMFILE or ENFILE. Generator's.
    NoFiles,
    /// TLS handshake or record error.
    Tls,
    /// Connection reset under an unanswered request.
    Reset,
    /// Connection closed before the answer was complete.
    ClosedEarly,
    /// No complete answer in time.
    RequestTimeout,
    /// The response violates the protocol.
    Protocol,
    /// A complete answer with an unexpected status.
    Status,
    /// The target did not accept our credentials for a connection.
    Login,
    /// A check on the answer failed.
    Check,
    /// The answer was larger than allowed.
    BodyLimit,
    /// The request could not be composed.
    Data,
    /// Anything else.
    Other,
}

impl ErrorClass {
    /// All classes, in the order of their numbers.
    pub const ALL: [Self; 17] = [
        Self::Dns,
        Self::ConnectRefused,
        Self::ConnectTimeout,
        Self::ConnectUnreachable,
        Self::NoSourceAddress,
        Self::NoFiles,
        Self::Tls,
        Self::Reset,
        Self::ClosedEarly,
        Self::RequestTimeout,
        Self::Protocol,
        Self::Status,
        Self::Login,
        Self::Check,
        Self::BodyLimit,
        Self::Data,
        Self::Other,
    ];

    /// The name used in JSON and conditions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::ConnectRefused => "connect_refused",
            Self::ConnectTimeout => "connect_timeout",
            Self::ConnectUnreachable => "connect_unreachable",
            Self::NoSourceAddress => "no_source_address",
            Self::NoFiles => "no_files",
            Self::Tls => "tls",
            Self::Reset => "reset",
            Self::ClosedEarly => "closed_early",
            Self::RequestTimeout => "request_timeout",
            Self::Protocol => "protocol",
            Self::Status => "status",
            Self::Login => "login",
            Self::Check => "check",
            Self::BodyLimit => "body_limit",
            Self::Data => "data",
            Self::Other => "other",
        }
    }

    /// The class of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Whether the generator, not the target, is to blame.
    pub const fn is_generator(self) -> bool {
        matches!(self, Self::NoSourceAddress | Self::NoFiles)
    }

    /// Whether such a request enters the response histogram with the time it waited.
    pub const fn is_censored(self) -> bool {
        matches!(self, Self::ConnectTimeout | Self::RequestTimeout)
    }
}

/// Why a request was never sent (`docs/measuring.md` §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DropReason {
    /// Too many requests unresolved already.
    MaxOpen,
    /// Our own source address allocator was empty.
    NoSourceAddress,
    /// Our own file budget was used up.
    NoFiles,
    /// Our own memory budget was used up.
    NoMemory,
    /// Not started within a second of its intended start.
    Behind,
}

impl DropReason {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Self; 5] =
        [Self::MaxOpen, Self::NoSourceAddress, Self::NoFiles, Self::NoMemory, Self::Behind];

    /// The name used in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxOpen => "max_open",
            Self::NoSourceAddress => "no_source_address",
            Self::NoFiles => "no_files",
            Self::NoMemory => "no_memory",
            Self::Behind => "behind",
        }
    }

    /// The reason of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The condition grammar is a crate that this one depends on, so it must list the class names
    /// itself.
    #[test]
    fn conditions_know_every_class_by_its_name() {
        assert_eq!(ErrorClass::ALL.map(ErrorClass::name), wavetank_plan::ERROR_CLASSES);
    }

    #[test]
    fn numbers_are_places_in_the_list() {
        for (place, class) in ErrorClass::ALL.into_iter().enumerate() {
            assert_eq!((class as usize, ErrorClass::parse(class.name())), (place, Some(class)));
        }
        for (place, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!((reason as usize, DropReason::parse(reason.name())), (place, Some(reason)));
        }
    }
}
