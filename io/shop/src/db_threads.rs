//! [`run_writer`]: the threads of the database. One changes data, the other one looks up data.

use rusqlite::{Connection, Statement};

use crate::Shop;
use crate::database::SHELVES;
use crate::job::{Done, Job, Outcome, Task};
use crate::job_queues::DbThread;
use crate::transactions::ShopTransactions;

/// Runs this database thread until the shop closes. `books` is the connection of
/// [`DbThread::Books`] if it was opened before.
pub(crate) fn run_writer(shop: &Shop, keeper: DbThread, books: Option<Connection>) {
    // A database in memory is made on the first request for it: most servers never get one.
    if !shop.desks.wait(keeper) {
        return;
    }
    let kept = match keeper {
        DbThread::Books => keep_books(shop, books),
        DbThread::Catalogue => keep_catalogue(shop),
    };
    if let Err(why) = kept {
        shop.failed(why);
        attend(shop, keeper, |jobs, outcomes| outcomes.resize(jobs.len(), Outcome::Failed));
    }
}

fn keep_books(shop: &Shop, opened: Option<Connection>) -> Result<(), String> {
    let conn = match opened {
        Some(conn) => conn,
        None => shop.open_books().map_err(|error| error.message)?.0,
    };
    let mut books = ShopTransactions::new(&conn, &shop.board).map_err(|error| error.to_string())?;
    attend(shop, DbThread::Books, |jobs, outcomes| {
        if let Err(error) = books.work(jobs, outcomes) {
            shop.failed(error.to_string());
        }
    });
    Ok(())
}

fn keep_catalogue(shop: &Shop) -> Result<(), String> {
    let conn = shop.database.catalogue().map_err(|error| error.to_string())?;
    let sums = conn.prepare("SELECT count(*), coalesce(sum(price), 0) FROM article WHERE shelf = ?1");
    let mut sums = sums.map_err(|error| error.to_string())?;
    attend(shop, DbThread::Catalogue, |jobs, outcomes| {
        for (_, job) in jobs {
            outcomes.push(look_up(&mut sums, job).unwrap_or_else(|error| {
                shop.failed(error.to_string());
                Outcome::Failed
            }));
        }
    });
    Ok(())
}

fn look_up(sums: &mut Statement<'_>, job: &Job) -> rusqlite::Result<Outcome> {
    let Task::Query { shelf } = job.task else { return Ok(Outcome::Failed) };
    sums.query_row([shelf % SHELVES], |row| Ok(Outcome::Found { rows: row.get(0)?, total: row.get(1)? }))
}

/// Takes jobs, has them done, and returns their outcomes, until the shop closes.
fn attend(shop: &Shop, keeper: DbThread, mut work: impl FnMut(&[(u32, Job)], &mut Vec<Outcome>)) {
    let (mut jobs, mut outcomes, mut done) = (Vec::new(), Vec::new(), Vec::new());
    while shop.desks.wait(keeper) {
        jobs.clear();
        outcomes.clear();
        done.clear();
        shop.desks.take_jobs(keeper, &mut jobs);
        work(&jobs, &mut outcomes);
        let reported = jobs
            .iter()
            .zip(&outcomes)
            .map(|((thread, job), &outcome)| (*thread, Done { conn: job.conn, ticket: job.ticket, outcome }));
        done.extend(reported);
        shop.desks.complete(&done);
    }
}
