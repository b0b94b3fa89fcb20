//! The built-in server: what `wavetank serve` runs, and what demo, tests and benches load.
//!
//! It is a target that cannot be the limit for long and that keeps its own count, so that a load generator
//! can be checked against it. One thread per CPU, nothing shared between them in the hot path: each has its
//! driver, its listeners on the shared ports, its timers and its counters. It must not know the load
//! generator, and takes nothing but HTTP from it.
//!
//! # What it answers
//! HTTP/1.0 and 1.1, kept alive, pipelined, in order. Query strings matter to tiers only. HEAD gets the same
//! head without the body. A body that was sent is read whole before the answer.
//!
//! | path | answer |
//! |---|---|
//! | `/` | 200, 12 bytes of text and the date: 114 bytes in all |
//! | `/bytes/N` | 200 and N bytes; N is a plain number or has a unit (`64KiB`, `1GB`) |
//! | `/delay/DURATION` | like `/`, DURATION (at most an hour) after the request came, never earlier |
//! | `/sleepN` | like `/delay/Ns` |
//! | `/status/CODE` | that status, 200 to 599 |
//! | `/echo` | 200 with the body and the content type of the request; bodies of at most 1 MiB, else 413 |
//! | `/close` | like `/`, then the connection is closed |
//! | `/truth` | what was seen, see [`Truth`]; neither counted nor in it |
//! | `/truth/connections` | how it stands with connections, see [`ConnectionSnapshot`]: for those who ask each second |
//! | `POST /truth/reset` | 204; counts begin anew, and so does the freeze |
//! | `/api/seckill`, `/api/login`, `/api/order`, `/admin/sale` | a flash sale, see `docs/serve.md` |
//! | `/tier/simple`, `/tier/query`, `/tier/transaction` | work with a stated capacity, see there |
//! | any other | 404, or like `/` with [`ServeOptions::any`] |
//!
//! What cannot be read as HTTP gets 400, 413, 431, 501 or 505, and its connection is closed. Idle
//! connections are kept for ever: how many can be held is a question people ask of a target.
//!
//! # TLS
//! With [`ServeOptions::tls`] all of this is spoken over TLS, on all addresses.
//!
//! # The freeze
//! With [`ServeOptions::freeze`] `(at, length)`, let F be the instant at which the first request (other
//! than those of `/truth`) since the start or the last reset was read. From F + `at` until
//! F + `at` + `length` no thread gives an answer, or goes on with one under way, of whatever path. Connections
//! are accepted and requests are read, stamped and counted meanwhile, so that their arrivals are known;
//! what fell due in the freeze is answered when it ends, in order of arrival on each connection. Bytes that
//! were with the kernel before the freeze travel on.

mod answer;
mod connection;
mod connections;
mod freeze;
mod outbox;
mod paths;
mod pending_responses;
mod request_cache;
mod request_handler;
mod route;
mod serve_options;
mod server;
mod shared;
mod shop;
mod truth;
mod worker;

#[doc(hidden)]
pub mod fuzzing;

pub use serve_options::ServeOptions;
pub use server::{Server, start};
pub use shop::{Accounts, ShopOptions};
pub use truth::{Arrivals, ByteCounts, ConnectionCounts, ConnectionSnapshot, Gaps, HandshakeCounts, Truth};
