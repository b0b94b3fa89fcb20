//! The built-in server, started by `wavetank serve`, and the target of the demo, tests and
//! benchmarks.
//!
//! It is fast enough not to be the limit, and it keeps its own count, so that a load generator can
//! be checked against it. It runs one thread per CPU, and the threads share nothing in the hot
//! path. Each thread has its driver, its listeners on the shared ports, its timers and its
//! counters. The server does not depend on the load generator, and receives nothing but HTTP from
//! it.
//!
//! # What it answers
//! The server supports HTTP/1.0 and 1.1, keep-alive, and pipelining with responses in order. Query
//! strings matter to tiers only. HEAD gets the same head without the body. A request body is read
//! completely before the response.
//!
//! | path | answer |
//! |---|---|
//! | `/` | 200, 12 bytes of text and the date: 114 bytes in all |
//! | `/bytes/N` | 200 and N bytes; N is a plain number or has a unit (`64KiB`, `1GB`) |
//! | `/delay/DURATION` | like `/`, DURATION (at most 1 h) after the request came, never earlier |
//! | `/sleepN` | like `/delay/Ns` |
//! | `/status/CODE` | that status, 200 to 599 |
//! | `/echo` | 200 with the request's body and content type; 413 for a body above 1 MiB |
//! | `/close` | like `/`, then the connection is closed |
//! | `/truth` | everything counted, see [`Truth`]; the request itself is not counted |
//! | `/truth/connections` | the connections now, see [`ConnectionSnapshot`]; cheap to query |
//! | `POST /truth/reset` | 204; resets the counts and the freeze |
//! | `/api/seckill`, `/api/login`, `/api/order`, `/admin/sale` | flash sale: `docs/serve.md` |
//! | `/tier/simple`, `/tier/query`, `/tier/transaction` | work with a stated capacity, see there |
//! | `/wavetank.echo.v1.Echo/METHOD` | a gRPC call, with HTTP/2 only: `docs/grpc.md` |
//! | `/grpc.health.v1.Health/Check` | the same: the server is serving |
//! | any other | 404, or like `/` with [`ServeOptions::any`] |
//!
//! Requests that are not valid HTTP get 400, 413, 431, 501 or 505, and their connection is closed.
//! Idle connections are kept without a time limit: users test how many connections a target can
//! hold.
//!
//! # TLS
//! With [`ServeOptions::tls`], all addresses use TLS.
//!
//! # The freeze
//! [`ServeOptions::freeze`] is a pair `(at, length)`. Let F be the instant at which the first
//! request since the start or the last reset was read; requests for `/truth` do not count. From F +
//! `at` until F + `at` + `length`, no thread starts a response or continues one, for any path.
//!
//! Meanwhile, connections are accepted, and requests are read, timestamped and counted, so that
//! their arrivals are known. Responses due during the freeze are sent when it ends, in order of
//! arrival on each connection. Bytes that the kernel had before the freeze are still transmitted.

mod answer;
mod connection;
mod connections;
mod event_stream;
mod filler;
mod freeze;
mod grpc;
mod handshake;
mod method;
mod open_call;
mod outbox;
mod paths;
mod pending_responses;
mod raw_echo;
mod request_cache;
mod request_handler;
mod route;
mod serve_options;
mod server;
mod shared;
mod startup_error;
mod stream_intake;
mod streams;
mod truth;
mod udp_echo;
mod web_socket;
mod worker;

#[doc(hidden)]
pub use serve_options::ServeOptions;
pub use server::{Server, start};
pub use truth::{
    Arrivals, ByteCounts, ConnectionCounts, ConnectionSnapshot, Gaps, HandshakeCounts, MessageCounts, Truth,
};
pub use wavetank_shop::{Accounts, ShopOptions};
