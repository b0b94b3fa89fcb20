//! The applications of the built-in server, for tests that need a target with a limit and a count
//! of its own.
//!
//! There is a flash sale with its stock in an SQLite database with real transactions. There are
//! also three tiers of work, with a capacity stated in the request. The server's threads never wait
//! for the shop: jobs for the database go to a separate thread, and are answered when they return.
//! `docs/serve.md` describes the requests.

mod accounts;
mod ask;
mod bodies;
mod capacity;
mod database;
mod db_threads;
pub mod fuzzing;
mod job;
mod job_queues;
mod page;
mod pools;
mod sale_snapshot;
mod session_cookie;
mod shop_client;
mod shop_reply;
mod tier;
mod transactions;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};

use rusqlite::Connection;
use wavetank_driver::{Clock, Errno, Waker, WallClock};
use wavetank_units::{Code, Nanos, UserError};

pub use accounts::Accounts;
pub use ask::Ask;
pub use bodies::BODY_BYTES_MAX;
pub(crate) use bodies::{Login, NewSale, Order};
use database::Database;
use job_queues::{DbThread, JobQueues};
pub use page::ShopResponse;
pub use pools::Pools;
use sale_snapshot::{Sale, SaleSnapshot};
pub(crate) use session_cookie::CookieSigner;
use session_cookie::KEY_BYTES;
pub use shop_client::ShopClient;
pub use shop_reply::{ShopMethod, ShopReply, ShopRequest};
pub use tier::{Tier, TierKind};

/// Stock of the initial sale.
const FIRST_STOCK: u64 = 1_000;

/// Options of the shop.
#[derive(Clone, Debug, Default)]
pub struct ShopOptions {
    /// A file for its database; `None`: in memory.
    pub database: Option<PathBuf>,
    /// The users that may log in.
    pub accounts: Arc<Accounts>,
}

/// The state of the shop shared by all threads. See the module's description.
#[derive(Debug)]
pub struct Shop {
    accounts: Arc<Accounts>,
    database: Database,
    board: SaleSnapshot,
    desks: JobQueues,
    pools: Arc<Pools>,
    seal: CookieSigner,
    key: [u8; KEY_BYTES],
    /// Unix time at the clock's zero, in nanoseconds.
    zero_unix_ns: i64,
    /// The first error of the database.
    fault: OnceLock<String>,
}

impl Shop {
    /// Opens the shop for this many threads, with instants of `clock`. Also returns the threads of
    /// the database, which end when the shop [closes](Shop::close).
    ///
    /// # Errors
    /// Exit 5 if the database file cannot be used, or if a thread cannot be started.
    pub fn open(
        options: &ShopOptions,
        threads: u32,
        clock: Clock,
    ) -> Result<(Arc<Self>, Vec<JoinHandle<()>>), UserError> {
        let zero_unix_ns = WallClock::unix_ns() - clock.now().0;
        let database = Database::claim(options.database.clone())?;
        let first = Sale { number: 1, stock: FIRST_STOCK, sold: 0, opens_at_ms: zero_unix_ns / 1_000_000 };
        let (mut sale, mut key, mut opened) = (first, new_key()?, None);
        if database.is_persistent() {
            let books;
            (books, sale, key) = database.books(first, key)?;
            opened = Some(books);
        }
        let shop = Arc::new(Self {
            accounts: Arc::clone(&options.accounts),
            database,
            board: SaleSnapshot::new(sale),
            desks: JobQueues::new(threads),
            pools: Arc::default(),
            seal: CookieSigner::new(&key),
            key,
            zero_unix_ns,
            fault: OnceLock::new(),
        });
        let mut keepers = Vec::new();
        for keeper in DbThread::ALL {
            let (of_keeper, books) = (Arc::clone(&shop), opened.take());
            let thread = Builder::new().name(format!("shop-{}", keeper as usize));
            match thread.spawn(move || db_threads::run_writer(&of_keeper, keeper, books)) {
                Ok(handle) => {
                    shop.desks.set_keeper(keeper, handle.thread().clone());
                    keepers.push(handle);
                }
                Err(error) => {
                    shop.close();
                    let errno = Errno(error.raw_os_error().unwrap_or_default());
                    return Err(cannot_start(&errno.to_string()));
                }
            }
        }
        Ok((shop, keepers))
    }

    /// Ends the threads of the database.
    pub fn close(&self) {
        self.desks.stop();
    }

    /// Sets what wakes the server's thread with this number when its jobs return.
    pub fn set_waker(&self, thread: u32, waker: Waker) {
        self.desks.set_waker(thread, waker);
    }

    /// Drops the jobs of a server thread that is gone.
    pub fn remove_thread(&self, thread: u32) {
        self.desks.remove_thread(thread);
    }

    /// The capacities that requests have stated so far.
    pub fn pools(&self) -> Arc<Pools> {
        Arc::clone(&self.pools)
    }

    /// Returns the first error of the database, if there was one.
    pub fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    fn open_books(&self) -> Result<(Connection, Sale, [u8; KEY_BYTES]), UserError> {
        self.database.books(self.board.read(), self.key)
    }

    /// Notes an error of the database.
    fn failed(&self, why: String) {
        // Only the first error is kept.
        drop(self.fault.set(why));
    }

    /// Converts an instant to milliseconds of Unix time.
    fn unix_ms(&self, at: Nanos) -> i64 {
        (self.zero_unix_ns + at.0) / 1_000_000
    }
}

/// Returns a random key from the kernel. No `/dev` is needed, since a container may have none.
fn new_key() -> Result<[u8; KEY_BYTES], UserError> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map(|()| key).map_err(|error| {
        UserError::refused(
            Code::NoRandom,
            format!("the kernel returned no random bytes: {error}"),
            "allow getrandom(2), which a sandbox may forbid",
        )
    })
}

/// The error for a thread of the database that could not be started.
fn cannot_start(why: &str) -> UserError {
    UserError::refused(
        Code::NoThreads,
        format!("cannot start a thread: {why}"),
        "use fewer --threads, or raise `ulimit -u`",
    )
}
