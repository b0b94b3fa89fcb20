//! Writes the head of a response in the server's hot path. It appends to a buffer without
//! formatting.

/// The parts of the head of a response.
#[derive(Clone, Copy, Debug)]
pub struct ResponseParts<'a> {
    /// The status code, 100 to 999.
    pub status: u16,
    /// The request was HTTP/1.0. The response is labelled 1.1 all the same (RFC 9110 §2.5), but
    /// says if it keeps the connection open.
    pub http_10: bool,
    /// The connection stays open.
    pub keep_alive: bool,
    /// The length of the body, written unless it is `None` or the status has no body by definition.
    pub content_length: Option<u64>,
    /// All further fields in their order; their bytes must not break a line.
    pub headers: &'a [(&'a str, &'a [u8])],
}

/// Appends the whole head, with its empty line.
pub fn render_response_head(out: &mut Vec<u8>, parts: &ResponseParts<'_>) {
    out.extend_from_slice(b"HTTP/1.1 ");
    push_decimal(out, u64::from(parts.status));
    out.push(b' ');
    out.extend_from_slice(reason_phrase(parts.status).as_bytes());
    out.extend_from_slice(b"\r\n");
    for (name, value) in parts.headers {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }
    if let Some(length) = parts.content_length
        && parts.status >= 200
        && parts.status != 204
    {
        out.extend_from_slice(b"Content-Length: ");
        push_decimal(out, length);
        out.extend_from_slice(b"\r\n");
    }
    match (parts.keep_alive, parts.http_10) {
        (false, _) => out.extend_from_slice(b"Connection: close\r\n"),
        (true, true) => out.extend_from_slice(b"Connection: keep-alive\r\n"),
        (true, false) => {}
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends a number in decimal digits.
pub fn push_decimal(out: &mut Vec<u8>, mut value: u64) {
    // 64 bits have at most 20 digits.
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Returns the usual reason phrase of a status code (RFC 9110 §15 and the IANA registry), empty for
/// others.
pub const fn reason_phrase(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        103 => "Early Hints",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        418 => "I'm a teapot",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}
