//! [`ShopClient`]: the shop on one thread of the server. It answers simple requests immediately,
//! and submits jobs for the others.

use std::collections::VecDeque;
use std::sync::Arc;

use wavetank_driver::ConnId;
use wavetank_units::Nanos;

use crate::Shop;
use crate::ask::Ask;
use crate::bodies::{Login, NewSale, Order};
use crate::job::{Done, Job, Task};
use crate::job_queues::DbThread;
use crate::page::ShopResponse;
use crate::shop_reply::{ShopMethod, ShopReply, ShopRequest};
use crate::tier::{Tier, TierKind};

/// Maximum number of outstanding jobs of one thread. Further requests get 503 with `Retry-After`.
const OUTSTANDING_MAX: usize = 100_000;
/// Bytes that `/tier/simple` computes a checksum of, in some microseconds.
const SUMMED_BYTES: usize = 4 * 1024;
const QUEUE_FULL: &str = "the queue of this tier is full\n";
const DATABASE_FULL: &str = "too many requests wait for the database (at most 100,000 for each thread)\n";
const LOG_IN: &str = "log in first: POST /api/login, and send the cookie\n";
const WRONG_PAIR: &str = "no account has this user and password\n";
const NOT_YOURS: &str = "this session is another user's\n";

/// See the module's description.
#[derive(Debug)]
pub struct ShopClient {
    shop: Arc<Shop>,
    thread: u32,
    /// Ticket of the last job.
    ticket: u32,
    /// Jobs to submit at the end of the turn, by database thread.
    jobs: [Vec<Job>; DbThread::ALL.len()],
    outstanding: usize,
    /// Returned jobs that have not been answered yet.
    done: VecDeque<Done>,
    /// Counts requests of tiers, so that each one uses other data.
    numbers: u64,
    /// What `/tier/simple` computes a checksum of.
    summed: &'static [u8],
}

impl ShopClient {
    /// Creates the client of the thread with this number. `summed` is some text, of which a request
    /// of `/tier/simple` computes a checksum.
    pub fn new(shop: Arc<Shop>, thread: u32, summed: &'static [u8]) -> Self {
        Self {
            shop,
            thread,
            ticket: 0,
            jobs: Default::default(),
            outstanding: 0,
            done: VecDeque::new(),
            numbers: u64::from(thread) << 32,
            summed,
        }
    }

    /// Answers a complete request to the sale.
    pub fn answer(&mut self, conn: ConnId, ask: Ask, sent: ShopRequest<'_>, now: Nanos) -> ShopReply {
        match (ask, sent.method) {
            (Ask::Show, ShopMethod::Get) => {
                page(ShopResponse::sale(self.shop.board.read(), self.shop.unix_ms(now)))
            }
            (Ask::Show, _) => ShopReply::Allow("GET, HEAD"),
            (Ask::Login, ShopMethod::Post) => page(self.log_in(sent.body)),
            (Ask::Begin, ShopMethod::Post) => match NewSale::read(sent.body) {
                Ok(NewSale { stock, opens_in }) => {
                    let opens_at_ms = self.shop.unix_ms(now.after(opens_in));
                    self.hand_in(conn, DbThread::Books, Task::NewSale { stock, opens_at_ms })
                }
                Err(wanted) => page(ShopResponse::text(400, wanted)),
            },
            (Ask::Order, ShopMethod::Post) => self.order(conn, sent, now),
            (Ask::Login | Ask::Begin | Ask::Order, _) => ShopReply::Allow("POST"),
        }
    }

    /// Answers a complete request to a tier. Returns the response and its earliest time.
    pub fn answer_tier(&mut self, conn: ConnId, tier: Tier, now: Nanos) -> (ShopReply, Nanos) {
        let at = match tier.pool.and_then(|pool| self.shop.pools.get(pool)).map(|pool| pool.admit(now)) {
            None => now,
            Some(Ok(at)) => at,
            Some(Err(room_in)) => {
                let seconds = room_in.0.unsigned_abs().div_ceil(1_000_000_000);
                return (page(ShopResponse::busy(QUEUE_FULL, seconds)), now);
            }
        };
        self.numbers += 1;
        // Spreads successive numbers over the whole range.
        let number = self.numbers.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let answer = match tier.kind {
            TierKind::Simple => page(simple(self.summed, number)),
            TierKind::Query => self.hand_in(conn, DbThread::Catalogue, Task::Query { shelf: number }),
            TierKind::Transaction => self.hand_in(conn, DbThread::Books, Task::Transfer { pair: number }),
        };
        (answer, at)
    }

    /// Submits the jobs of this turn to the database.
    #[inline]
    pub fn end_turn(&mut self) {
        for keeper in DbThread::ALL {
            if !self.jobs[keeper as usize].is_empty() {
                self.shop.desks.submit(self.thread, keeper, &mut self.jobs[keeper as usize]);
            }
        }
    }

    /// Takes the returned jobs, after the waker was called.
    pub fn collect(&mut self) {
        let before = self.done.len();
        self.shop.desks.take_done(self.thread, &mut self.done);
        self.outstanding -= self.done.len() - before;
    }

    /// Returns whether no returned job is left to be answered.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.done.is_empty()
    }

    /// Returns the next returned job: its connection, its ticket and its response.
    pub fn next_done(&mut self, now: Nanos) -> Option<(ConnId, u32, ShopReply)> {
        let Done { conn, ticket, outcome } = self.done.pop_front()?;
        Some((conn, ticket, page(ShopResponse::from_outcome(outcome, self.shop.unix_ms(now)))))
    }

    fn log_in(&self, body: &[u8]) -> ShopResponse {
        match Login::read(body) {
            Ok(Login { user, password }) if self.shop.accounts.allow(&user, &password) => ShopResponse {
                cookie: Some(self.shop.seal.cookie(&user)),
                ..ShopResponse::json(200, "{\"result\":\"logged_in\"}\n".to_owned())
            },
            Ok(_) => ShopResponse::text(401, WRONG_PAIR),
            Err(wanted) => ShopResponse::text(400, wanted),
        }
    }

    fn order(&mut self, conn: ConnId, sent: ShopRequest<'_>, now: Nanos) -> ShopReply {
        let Order { sku, user } = match Order::read(sent.body) {
            Ok(order) => order,
            Err(wanted) => return page(ShopResponse::text(400, wanted)),
        };
        match self.shop.seal.user(sent.cookie) {
            None => page(ShopResponse::text(401, LOG_IN)),
            Some(other) if other != user => page(ShopResponse::text(403, NOT_YOURS)),
            Some(_) => {
                let at_ms = self.shop.unix_ms(now);
                self.hand_in(conn, DbThread::Books, Task::Order { sku: sku.into(), user: user.into(), at_ms })
            }
        }
    }

    fn hand_in(&mut self, conn: ConnId, keeper: DbThread, task: Task) -> ShopReply {
        if self.outstanding == OUTSTANDING_MAX {
            return page(ShopResponse::busy(DATABASE_FULL, 1));
        }
        self.outstanding += 1;
        self.ticket = self.ticket.wrapping_add(1);
        self.jobs[keeper as usize].push(Job { conn, ticket: self.ticket, task });
        ShopReply::Awaited(self.ticket)
    }
}

fn page(page: ShopResponse) -> ShopReply {
    ShopReply::Page(Box::new(page))
}

/// The response of the simple tier: a checksum (FNV-1a) of `summed` and `number`.
fn simple(summed: &[u8], number: u64) -> ShopResponse {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let sum = summed.iter().take(SUMMED_BYTES).fold(0xcbf2_9ce4_8422_2325 ^ number, step);
    ShopResponse::json(
        200,
        format!("{{\"tier\":\"simple\",\"number\":{number},\"checksum\":\"{sum:016x}\"}}\n"),
    )
}
