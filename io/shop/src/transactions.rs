//! [`ShopTransactions`]: all changes of the database, in transactions.
//!
//! Orders that wait together are committed together, which takes one wait for the disk instead of
//! one each. No order is answered before its commit. Each request to the transaction tier is a
//! separate transaction.

use rusqlite::{Connection, Statement, params};

use crate::database::TIER_ACCOUNTS;
use crate::job::{Job, Outcome, Task};
use crate::sale_snapshot::{Sale, SaleSnapshot};

/// Number of transfers that are kept; older ones are replaced.
const TRANSFERS_KEPT: i64 = 100_000;

/// See the module's description.
pub(crate) struct ShopTransactions<'c> {
    conn: &'c Connection,
    board: &'c SaleSnapshot,
    begin: Statement<'c>,
    commit: Statement<'c>,
    sale: Statement<'c>,
    bought: Statement<'c>,
    sell: Statement<'c>,
    order: Statement<'c>,
    pay: Statement<'c>,
    transfer: Statement<'c>,
    /// The next transfer's number.
    transfers: i64,
}

impl<'c> ShopTransactions<'c> {
    /// Uses a database that has its tables, and publishes the sale on `board`.
    pub(crate) fn new(conn: &'c Connection, board: &'c SaleSnapshot) -> rusqlite::Result<Self> {
        let last = "SELECT coalesce(max(number), 0) FROM transfer";
        Ok(Self {
            conn,
            board,
            begin: conn.prepare("BEGIN IMMEDIATE")?,
            commit: conn.prepare("COMMIT")?,
            sale: conn.prepare("SELECT number, stock, sold, opens_at_ms FROM sale")?,
            bought: conn.prepare("SELECT 1 FROM orders WHERE sale = ?1 AND buyer = ?2")?,
            // Only this statement changes the stock.
            sell: conn.prepare("UPDATE sale SET sold = sold + 1 WHERE number = ?1 AND sold < stock")?,
            order: conn.prepare("INSERT INTO orders (sale, buyer, at_ms) VALUES (?1, ?2, ?3)")?,
            pay: conn.prepare("UPDATE account SET balance = balance + ?2 WHERE id = ?1")?,
            transfer: conn.prepare("INSERT OR REPLACE INTO transfer VALUES (?1, ?2, ?3, ?4)")?,
            transfers: conn.query_row(last, [], |row| row.get::<_, i64>(0))? + 1,
        })
    }

    /// Runs these jobs in order. Afterwards, `outcomes` contains their outcomes, all of them
    /// committed. Returns the first error of the database, if any.
    pub(crate) fn work(&mut self, jobs: &[(u32, Job)], outcomes: &mut Vec<Outcome>) -> rusqlite::Result<()> {
        let mut worked = Ok(());
        let is_order = |job: &(u32, Job)| matches!(job.1.task, Task::Order { .. });
        for group in jobs.chunk_by(|one, other| is_order(one) && is_order(other)) {
            let begun = outcomes.len();
            if let Err(error) = self.in_transaction(|books| books.enter(group, outcomes)) {
                outcomes.truncate(begun);
                outcomes.resize(begun + group.len(), Outcome::Failed);
                worked = worked.and(Err(error));
            }
        }
        worked
    }

    /// Runs `work` in a transaction, commits it, and publishes the resulting sale. After an error,
    /// nothing is changed.
    fn in_transaction(
        &mut self,
        work: impl FnOnce(&mut Self) -> rusqlite::Result<Option<Sale>>,
    ) -> rusqlite::Result<()> {
        self.begin.execute([])?;
        let worked = work(self).and_then(|sale| self.commit.execute([]).map(|_| sale));
        match worked {
            Ok(sale) => {
                if let Some(sale) = sale {
                    self.board.write(sale);
                }
                Ok(())
            }
            Err(error) => {
                // The database may have rolled back on its own.
                if !self.conn.is_autocommit() {
                    self.conn.execute_batch("ROLLBACK")?;
                }
                Err(error)
            }
        }
    }

    /// Does a group of orders, or one other job. Returns the sale if it has changed.
    fn enter(&mut self, group: &[(u32, Job)], outcomes: &mut Vec<Outcome>) -> rusqlite::Result<Option<Sale>> {
        let mut sale = self.sale()?;
        let before = sale;
        for (_, job) in group {
            outcomes.push(match &job.task {
                Task::Order { sku, user, at_ms } => self.sell(&mut sale, sku, user, *at_ms)?,
                Task::NewSale { stock, opens_at_ms } => {
                    sale =
                        Sale { number: sale.number + 1, stock: *stock, sold: 0, opens_at_ms: *opens_at_ms };
                    self.open(sale)?
                }
                Task::Transfer { pair } => self.transfer(*pair)?,
                // Done by the other database thread.
                Task::Query { .. } => Outcome::Failed,
            });
        }
        Ok((sale != before).then_some(sale))
    }

    fn sale(&mut self) -> rusqlite::Result<Sale> {
        self.sale.query_row([], |row| {
            Ok(Sale { number: row.get(0)?, stock: row.get(1)?, sold: row.get(2)?, opens_at_ms: row.get(3)? })
        })
    }

    fn sell(&mut self, sale: &mut Sale, sku: &str, user: &str, at_ms: i64) -> rusqlite::Result<Outcome> {
        if *sku != *sale.sku() {
            return Ok(Outcome::NotOnSale);
        }
        if at_ms < sale.opens_at_ms {
            return Ok(Outcome::TooEarly { opens_at_ms: sale.opens_at_ms });
        }
        if self.bought.exists(params![sale.number, user])? {
            return Ok(Outcome::BoughtBefore);
        }
        if self.sell.execute([sale.number])? == 0 {
            return Ok(Outcome::SoldOut);
        }
        self.order.execute(params![sale.number, user, at_ms])?;
        sale.sold += 1;
        Ok(Outcome::Sold { order: self.conn.last_insert_rowid(), left: sale.stock - sale.sold })
    }

    /// A new sale deletes the orders of the one before.
    fn open(&mut self, sale: Sale) -> rusqlite::Result<Outcome> {
        self.conn.execute("DELETE FROM orders", [])?;
        self.conn.execute(
            "UPDATE sale SET number = ?1, stock = ?2, sold = 0, opens_at_ms = ?3",
            params![sale.number, sale.stock, sale.opens_at_ms],
        )?;
        Ok(Outcome::Begun(sale))
    }

    fn transfer(&mut self, pair: u64) -> rusqlite::Result<Outcome> {
        let payer = pair % TIER_ACCOUNTS;
        // The two accounts always differ.
        let payee = (payer + 1 + pair / TIER_ACCOUNTS % (TIER_ACCOUNTS - 1)) % TIER_ACCOUNTS;
        self.pay.execute(params![payer, -1])?;
        self.pay.execute(params![payee, 1])?;
        let number = self.transfers;
        self.transfer.execute(params![number % TRANSFERS_KEPT, number, payer, payee])?;
        self.transfers += 1;
        Ok(Outcome::Transferred { transfer: number })
    }
}
