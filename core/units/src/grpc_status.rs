//! Status codes of gRPC.

/// The names of gRPC's status codes (<https://grpc.io/docs/guides/status-codes/>), by their number.
///
/// Everything that counts statuses uses the same number for HTTP and gRPC: those of HTTP have three
/// digits, those of gRPC are below 17.
pub const GRPC_STATUS_NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// Returns the name of a gRPC status, or `None` for other numbers, such as those of HTTP.
pub fn grpc_status_name(status: u16) -> Option<&'static str> {
    GRPC_STATUS_NAMES.get(usize::from(status)).copied()
}

/// Returns the number of a gRPC status by its name.
pub fn grpc_status_from_name(name: &str) -> Option<u16> {
    let at = GRPC_STATUS_NAMES.iter().position(|known| *known == name)?;
    u16::try_from(at).ok()
}

/// Returns a status as reports show it: a number of HTTP, or the name of a gRPC status.
pub fn status_text(status: u16) -> String {
    grpc_status_name(status).map_or_else(|| status.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        for (number, name) in (0..).zip(GRPC_STATUS_NAMES) {
            assert_eq!(grpc_status_from_name(name), Some(number));
            assert_eq!(status_text(number), name);
        }
        assert_eq!((grpc_status_name(14), grpc_status_name(17)), (Some("UNAVAILABLE"), None));
        assert_eq!((grpc_status_from_name("ok"), status_text(200).as_str()), (None, "200"));
    }
}
