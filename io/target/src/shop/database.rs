//! [`Database`]: where the shop's SQLite database lies, and what is in it from the start.

use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use wavetank_plan::UserError;

use super::sale_snapshot::Sale;
use super::session_cookie::KEY_BYTES;

/// Ours among all SQLite files, and the version of the tables in it.
const APPLICATION_ID: i64 = 0x5754_4b53;
const VERSION: i64 = 1;
/// Rows of the tier of queries: so many shelves with so many articles each.
pub(crate) const SHELVES: u64 = 500;
const ARTICLES_PER_SHELF: u64 = 20;
/// Accounts of the tier of transactions, and what is on each at first.
pub(crate) const TIER_ACCOUNTS: u64 = 1_000;
const BALANCE: i64 = 1_000_000;
/// For how long another program may keep the file locked.
const BUSY_MAX: Duration = Duration::from_secs(5);

/// The database that says by itself that nothing is oversold and nobody buys twice.
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

/// Where the database lies. See the module's description.
#[derive(Debug)]
pub(crate) struct Database {
    /// `None`: in memory, and gone with the server.
    file: Option<PathBuf>,
    /// Locked as long as we use it: two servers would each show what the other has not sold.
    _lock: Option<File>,
}

impl Database {
    /// Makes sure that nobody else serves from the file.
    pub(crate) fn claim(file: Option<PathBuf>) -> Result<Self, UserError> {
        let Some(path) = &file else { return Ok(Self { file, _lock: None }) };
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let lock = opened.map_err(|error| refused(path.display(), error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { file, _lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => {
                Err(refused(path.display(), "another server keeps its sale there"))
            }
            Err(TryLockError::Error(error)) => Err(refused(path.display(), error)),
        }
    }

    /// Whether anything outlives the server.
    pub(crate) fn is_persistent(&self) -> bool {
        self.file.is_some()
    }

    /// For whoever changes it: with all tables, those made now if it is new, with this sale and this secret. Returns the
    /// sale and the secret that are in it.
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

    /// For whoever looks articles up, once the books were opened: in the same file, or in a memory of its own.
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
        // Commits wait for the disk (FULL), once for all orders that they are of.
        conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        conn.execute_batch("PRAGMA synchronous = FULL")?;
        Ok(conn)
    }

    /// Returns whether the tables in it are ours, be it now.
    fn make(&self, conn: &mut Connection, first: Sale, key: [u8; KEY_BYTES]) -> rusqlite::Result<bool> {
        let change = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let number =
            |pragma: &str| change.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0));
        let whose = (number("application_id")?, number("user_version")?);
        if whose == (APPLICATION_ID, VERSION) {
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
        "bad_database",
        format!("--database {name}: {why}"),
        "a file that this command made, or one that is not there yet, in a folder that can be written to",
    )
}
