//! HTTP/1.0 and HTTP/1.1 (RFC 9110, RFC 9112): reading responses and requests, writing both heads.
//!
//! The readers are strict. Anything that two readers could frame differently is a [`ParseError`],
//! and a fault ends the connection. Where RFC 9112 lets a recipient be lenient, this is what was
//! chosen:
//!
//! | input | choice | why |
//! |---|---|---|
//! | bare LF ending a line of a head or trailer | accepted | §2.2 allows it; unambiguous |
//! | bare LF in a chunk's size line or after its data | fault | §7.1 knows only CRLF there |
//! | bare CR anywhere in a head or chunk line | fault | §2.2 |
//! | folded field line of a response | read as one line with blanks | §5.2 |
//! | folded field line of a request | fault | §5.2 |
//! | status line without the space after the code | accepted | common, and unambiguous |
//! | `HTTP/1.2` to `HTTP/1.9` | read as 1.1 | RFC 9110 §2.5 |
//! | equal repeated `Content-Length` | accepted | §6.3 rule 5 |
//! | `Content-Length` and `Transfer-Encoding` of a response | the coding counts | §6.3 rule 3 |
//! | both of a request | fault | §6.3 rule 3: ought to be an error |
//! | response with a last known coding other than `chunked` | until close | §6.3 rule 4 |
//! | unknown coding, `chunked` twice or with parameters | fault | cannot be framed with certainty |
//! | `Transfer-Encoding` in a request of HTTP/1.0 | fault | §6.1: the framing is faulty |
//! | that in a response | read, and the connection is not kept | §6.1 |
//! | status 600 to 999 | accepted as it is | frames like any other; the run decides about it |
//! | status 101 | fault | requests here never ask for an upgrade |
//! | blank lines before a request | skipped, at most 8 | §2.2 |
//! | blank lines before a response | fault | not allowed by any rule |
//!
//! This example reads the response to one request, in two pieces, keeping nothing:
//!
//! ```
//! use wavetank_wire::h1::{Limits, ResponseReader};
//!
//! let mut reader = ResponseReader::new(Limits::default());
//! reader.expect(false);
//! let progress = reader.read(b"HTTP/1.1 200 OK\r\nContent-Le", &mut ())?;
//! assert_eq!(progress.answer, None);
//! let progress = reader.read(b"ngth: 2\r\n\r\nok and more", &mut ())?;
//! let answer = progress.answer.expect("the answer is complete");
//! assert_eq!((answer.status, answer.body_bytes, answer.keep_alive), (200, 2, true));
//! assert_eq!(progress.consumed, "ngth: 2\r\n\r\nok".len());
//! # Ok::<(), wavetank_wire::h1::ParseError>(())
//! ```

mod body;
mod bytes;
mod date;
mod error;
mod framing;
mod head_cache;
mod headers;
mod limits;
mod request_head;
mod request_reader;
mod request_writer;
mod response_head;
mod response_reader;
mod response_writer;
mod scan;
mod version;

pub use body::OpenBody;
pub use bytes::{is_field_name, is_field_value};
pub use date::http_date;
pub use error::{FaultKind, ParseError, Reason};
pub use head_cache::HeadCache;
pub use headers::Headers;
pub use limits::Limits;
pub use request_head::RequestHead;
pub use request_reader::{RequestEnd, RequestEof, RequestProgress, RequestReader, RequestSink};
pub use request_writer::{RequestParts, render_request};
pub use response_head::ResponseHead;
pub use response_reader::{Eof, Progress, ResponseEnd, ResponseReader, ResponseSink};
pub use response_writer::{ResponseParts, push_decimal, reason_phrase, render_response_head};
pub use version::Version;
