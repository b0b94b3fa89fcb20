//! `/api/runs/RUN/history`: the sealed intervals so far, for the charts of a page that was opened
//! later.

use std::ffi::OsString;

use axum::extract::{Path, State};
use axum::response::Response;
use serde_json::{Value, json};

use crate::context::{Shared, waiting};
use crate::problem::{Problem, json_response};

/// Points of a chart. If there are more intervals, neighbours are joined.
const POINTS_MAX: usize = 600;

/// One point of the charts: an interval, or several joined ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Point {
    from_s: f64,
    length_s: f64,
    offered: f64,
    done: f64,
    failed: f64,
    late: f64,
    dropped: f64,
    users: f64,
    connections: f64,
    p50_us: Option<f64>,
    p99_us: Option<f64>,
    max_us: Option<f64>,
}

impl Point {
    /// Joins two neighbours. Counts are added; of percentiles the higher one is kept, because
    /// percentiles cannot be averaged.
    fn join(self, next: Self) -> Self {
        let higher = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        };
        Self {
            from_s: self.from_s,
            length_s: self.length_s + next.length_s,
            offered: self.offered + next.offered,
            done: self.done + next.done,
            failed: self.failed + next.failed,
            late: self.late + next.late,
            dropped: self.dropped + next.dropped,
            users: next.users,
            connections: next.connections,
            p50_us: higher(self.p50_us, next.p50_us),
            p99_us: higher(self.p99_us, next.p99_us),
            max_us: higher(self.max_us, next.max_us),
        }
    }

    fn json(&self) -> Value {
        let per_s = |count: f64| if self.length_s > 0.0 { count / self.length_s } else { 0.0 };
        json!({
            "from_s": self.from_s, "length_s": self.length_s,
            "offered_per_s": per_s(self.offered), "done_per_s": per_s(self.done),
            "failed": self.failed, "late": self.late, "dropped": self.dropped,
            "users": self.users, "connections": self.connections,
            "p50_us": self.p50_us, "p99_us": self.p99_us, "max_us": self.max_us,
        })
    }
}

/// The intervals so far, from the same output as `wavetank report --format csv`. Empty for a run
/// without an archive.
pub(crate) async fn history(
    State(shared): State<Shared>,
    Path(run): Path<String>,
) -> Result<Response, Problem> {
    let of = std::sync::Arc::clone(&shared);
    let folder = waiting(move || Ok(of.folder(&run).ok())).await?;
    let Some(folder) = folder else { return Ok(json_response(&json!({ "points": [] }))) };
    let words = ["report".into(), folder.into_os_string(), "--format".into(), "csv".into()];
    let output = shared.program.output(&words.map(OsString::from)).await?;
    if output.exit != 0 {
        return Err(output.problem());
    }
    let points = waiting(move || Ok(joined(&points(&String::from_utf8_lossy(&output.stdout))))).await?;
    Ok(json_response(&json!({ "points": points.iter().map(Point::json).collect::<Vec<_>>() })))
}

/// Reads the rows of the whole run. Columns are found by their names.
fn points(csv: &str) -> Vec<Point> {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| names.iter().position(|own| *own == name);
    let columns = [
        "from_s",
        "len_s",
        "offered",
        "done",
        "failed",
        "late",
        "dropped",
        "users",
        "conns_open",
        "response_p50_us",
        "response_p99_us",
        "response_max_us",
    ]
    .map(column);
    let row = |line: &str| {
        // Only names could be quoted, and they are in the first cell and after these columns.
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| columns[at].and_then(|column| cells.get(column)?.parse::<f64>().ok());
        let count = |at: usize| number(at).unwrap_or(0.0);
        Some(Point {
            from_s: number(0)?,
            length_s: number(1)?,
            offered: count(2),
            done: count(3),
            failed: count(4),
            late: count(5),
            dropped: count(6),
            users: count(7),
            connections: count(8),
            p50_us: number(9),
            p99_us: number(10),
            max_us: number(11),
        })
    };
    // The moments before the load would look like a load of zero.
    let is_load = |point: &Point| point.from_s >= 0.0 || point.offered > 0.0 || point.done > 0.0;
    lines.filter_map(row).filter(is_load).collect()
}

/// Joins neighbours until there are at most [`POINTS_MAX`].
fn joined(points: &[Point]) -> Vec<Point> {
    let group = points.len().div_ceil(POINTS_MAX).max(1);
    let join = |group: &[Point]| group.iter().copied().reduce(Point::join);
    points.chunks(group).filter_map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_by_the_names_of_their_columns() {
        let csv = "agent,from_s,len_s,part,offered,done,failed,response_p99_us\nlocal,-1,1,warmup,9,8,1,\nlocal,0,1,measured,10,10,0,250\n";
        let read = points(csv);
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].from_s, read[0].failed, read[0].p99_us), (-1.0, 1.0, None));
        assert_eq!((read[1].offered, read[1].late, read[1].p99_us), (10.0, 0.0, Some(250.0)));
        assert_eq!(points(""), []);
        assert_eq!(points("a,b\n\"x"), []);
    }

    #[test]
    fn an_hour_is_joined_without_losing_a_request() {
        let second = |n: usize| Point {
            from_s: n as f64,
            length_s: 1.0,
            done: 7.0,
            p99_us: Some(n as f64),
            ..Point::default()
        };
        let joined = joined(&(0..3_601).map(second).collect::<Vec<_>>());
        assert!(joined.len() <= POINTS_MAX);
        assert!((joined.iter().map(|point| point.done).sum::<f64>() - 7.0 * 3_601.0).abs() < 1e-6);
        assert!((joined.iter().map(|point| point.length_s).sum::<f64>() - 3_601.0).abs() < 1e-6);
        assert_eq!((joined[0].length_s, joined[0].p99_us), (7.0, Some(6.0)), "the highest of the seconds");
    }
}
