//! [`Database`]: the location of the shop's SQLite database, and its initial contents.

use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use wavetank_units::{Code, UserError};

use crate::sale_snapshot::Sale;
use crate::session_cookie::KEY_BYTES;

/// Identifies the databases of this program, and the version of their tables.
const APPLICATION_ID: i64 = 0x5754_4b53;
const VERSION: i64 = 1;
/// Rows of the query tier: the number of shelves, and the number of articles on each.
pub(crate) const SHELVES: u64 = 500;
const ARTICLES_PER_SHELF: u64 = 20;
/// Accounts of the transaction tier, and their initial balance.
pub(crate) const TIER_ACCOUNTS: u64 = 1_000;
const BALANCE: i64 = 1_000_000;
/// Longest wait for a lock that another program holds on the file.
const BUSY_MAX: Duration = Duration::from_secs(5);

/// The constraints of these tables guarantee that nothing is oversold and no user buys twice.
const TABLES: &str = "
    CREATE TABLE sale (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        number INTEGER NOT NULL,
        stock INTEGER NOT NULL,
        sold INTEGER NOT NULL CHECK (sold BETWEEN 0 AND stock),
        opens_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE orders (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        sale INTEGER NOT NULL,
        buyer TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        UNIQUE (sale, buyer)
    ) STRICT;
    CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL) STRICT;
    CREATE TABLE transfer (
        slot INTEGER PRIMARY KEY,
        number INTEGER NOT NULL,
        payer INTEGER NOT NULL,
        payee INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE secret (id INTEGER PRIMARY KEY CHECK (id = 1), key BLOB NOT NULL) STRICT;
";
const CATALOGUE: &str = "
    CREATE TABLE article (id INTEGER PRIMARY KEY, shelf INTEGER NOT NULL, name TEXT NOT NULL, price INTEGER NOT NULL)
        STRICT;
    CREATE INDEX article_by_shelf ON article (shelf);
";

/// The location of the database. See the module's description.
#[derive(Debug)]
pub(crate) struct Database {
    /// `None`: in memory, and lost when the server ends.
    file: Option<PathBuf>,
    /// The lock on the file. Two servers on one file would each show an outdated sale.
    _lock: Option<File>,
}

impl Database {
    /// Locks the file, so that no other server can use it.
    pub(crate) fn claim(file: Option<PathBuf>) -> Result<Self, UserError> {
        let Some(path) = &file else { return Ok(Self { file, _lock: None }) };
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let lock = opened.map_err(|error| refused(path.display(), error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { file, _lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => Err(refused(path.display(), "another server uses it")),
            Err(TryLockError::Error(error)) => Err(refused(path.display(), error)),
        }
    }

    /// Returns whether the data outlives the server.
    pub(crate) fn is_persistent(&self) -> bool {
        self.file.is_some()
    }

    /// Opens the connection that changes the database. In a new database, creates all tables with
    /// the sale `first` and the secret `key`. Returns the sale and the secret stored in it.
    pub(crate) fn books(
        &self,
        first: Sale,
        key: [u8; KEY_BYTES],
    ) -> Result<(Connection, Sale, [u8; KEY_BYTES]), UserError> {
        let named = || self.name();
        let mut conn = self.open().map_err(|error| refused(named(), error))?;
        let made = self.make(&mut conn, first, key).map_err(|error| refused(named(), error))?;
        if !made {
            return Err(refused(named(), "it is the database of another program"));
        }
        let found =
            conn.query_row("SELECT number, stock, sold, opens_at_ms, key FROM sale, secret", [], |row| {
                let sale = Sale {
                    number: row.get(0)?,
                    stock: row.get(1)?,
                    sold: row.get(2)?,
                    opens_at_ms: row.get(3)?,
                };
                Ok((sale, row.get(4)?))
            });
        let (sale, key) = found.map_err(|error| refused(named(), error))?;
        Ok((conn, sale, key))
    }

    /// Opens the connection that looks up articles: in the same file, where [`Self::books`] has
    /// made the tables, or in separate memory.
    pub(crate) fn catalogue(&self) -> rusqlite::Result<Connection> {
        let mut conn = self.open()?;
        if self.file.is_none() {
            let change = conn.transaction()?;
            make_catalogue(&change)?;
            change.commit()?;
        }
        Ok(conn)
    }

    fn name(&self) -> String {
        self.file.as_ref().map_or_else(|| "in memory".to_owned(), |path| path.display().to_string())
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let Some(path) = &self.file else { return Connection::open_in_memory() };
        let conn = Connection::open(path)?;
        conn.busy_timeout(BUSY_MAX)?;
        // Commits wait for the disk (FULL), once for all orders in the commit.
        conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        conn.execute_batch("PRAGMA synchronous = FULL")?;
        Ok(conn)
    }

    /// Creates the tables if there are none. Returns whether the tables in it are ours.
    fn make(&self, conn: &mut Connection, first: Sale, key: [u8; KEY_BYTES]) -> rusqlite::Result<bool> {
        let change = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let number =
            |pragma: &str| change.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0));
        let owner = (number("application_id")?, number("user_version")?);
        if owner == (APPLICATION_ID, VERSION) {
            return Ok(true);
        }
        let any: Option<i64> =
            change.query_row("SELECT 1 FROM sqlite_schema", [], |row| row.get(0)).optional()?;
        if any.is_some() {
            return Ok(false);
        }
        change.execute_batch(TABLES)?;
        change.execute_batch(&format!(
            "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
        ))?;
        change.execute(
            "INSERT INTO sale VALUES (1, ?1, ?2, ?3, ?4)",
            params![first.number, first.stock, first.sold, first.opens_at_ms],
        )?;
        change.execute("INSERT INTO secret VALUES (1, ?1)", params![key])?;
        {
            let mut account = change.prepare("INSERT INTO account VALUES (?1, ?2)")?;
            for id in 0..TIER_ACCOUNTS {
                account.execute(params![id, BALANCE])?;
            }
        }
        if self.file.is_some() {
            make_catalogue(&change)?;
        }
        change.commit()?;
        Ok(true)
    }
}

fn make_catalogue(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(CATALOGUE)?;
    let mut article = conn.prepare("INSERT INTO article VALUES (?1, ?2, ?3, ?4)")?;
    for id in 0..SHELVES * ARTICLES_PER_SHELF {
        let (shelf, price) = (id % SHELVES, 100 + id * 7_919 % 10_000);
        article.execute(params![id, shelf, format!("article {id}"), price])?;
    }
    Ok(())
}

fn refused(name: impl Display, why: impl Display) -> UserError {
    UserError::refused(
        Code::BadDatabase,
        format!("--database {name}: {why}"),
        "name a file that this command made, or a new one in a writable folder",
    )
}
