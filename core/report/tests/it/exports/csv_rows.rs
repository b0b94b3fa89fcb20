//! The CSV export.

use wavetank_report::CsvExport;

use crate::exports::made::{intervals, plan, response};

/// The rows, each a function from a column's name to its cell.
struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn of(names: [&str; 2], by_step: bool) -> Self {
        let plan = plan(names);
        let mut bytes = Vec::new();
        let mut export = CsvExport::new(&plan, by_step, &mut bytes).expect("memory takes all");
        for one in intervals() {
            export.add("local", &one).expect("memory takes all");
        }
        export.finish().expect("memory takes all");
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let head: Vec<_> = reader.headers().expect("a header").iter().map(str::to_owned).collect();
        let rows = reader
            .records()
            .map(|row| row.expect("as many cells as names").iter().map(str::to_owned).collect());
        let text = String::from_utf8(bytes.clone()).expect("UTF-8");
        assert!(
            text.ends_with("\r\n") && text.matches('\n').count() == text.matches("\r\n").count(),
            "RFC 4180"
        );
        Self { head, rows: rows.collect() }
    }

    fn cell<'a>(&self, row: &'a [String], name: &str) -> &'a str {
        let at = self.head.iter().position(|one| one == name);
        &row[at.unwrap_or_else(|| panic!("no column {name} in {:?}", self.head))]
    }

    /// Sum of a column over the rows of this part.
    fn sum(&self, part: &str, name: &str) -> f64 {
        let rows = self.rows.iter().filter(|row| self.cell(row, "part") == part);
        rows.map(|row| self.cell(row, name).parse::<f64>().expect("a number")).sum()
    }
}

#[test]
fn rows_add_up_to_the_run() {
    for (by_step, rows) in [(false, 4), (true, 8)] {
        let table = Table::of(["GET /a", "GET /b"], by_step);
        assert_eq!(table.rows.len(), rows);
        let check = |part: &str, seconds: f64| {
            for (name, each) in [
                ("offered", 100.0),
                ("sent", 96.0),
                ("done", 89.0),
                ("failed", 3.0),
                ("failed_request_timeout", 1.0),
                ("failed_status", 2.0),
                ("late", 3.0),
                ("dropped", 4.0),
                ("dropped_max_open", 4.0),
                ("status_2xx", 80.0),
                ("status_3xx", 9.0),
                ("status_5xx", 2.0),
                ("wire_sent", 97.0),
                ("wire_retried", 1.0),
                ("response_count", 90.0),
            ] {
                assert!((table.sum(part, name) - 2.0 * seconds * each).abs() < 1e-9, "{part} {name}");
            }
        };
        check("measured", 3.0);
        check("warmup", 1.0);
    }
}

#[test]
fn a_row_has_the_values_of_its_second() {
    let table = Table::of(["GET /a", "GET /b"], false);
    let (row, second) = (&table.rows[2], &intervals()[2]);
    let cell = |name: &str| table.cell(row, name);
    assert_eq!([cell("agent"), cell("from_s"), cell("len_s"), cell("part")], ["local", "1", "1", "measured"]);
    assert_eq!(
        [cell("planned_sessions"), cell("planned_users"), cell("planned_connections")],
        ["100", "", ""]
    );
    let mut times = second.steps[0].response.clone();
    times.merge(&second.steps[1].response);
    let micros = |name: &str| (cell(name).parse::<f64>().expect("a number") * 1e3).round() as u64;
    assert_eq!(Some(micros("response_p50_us")), times.percentile(50.0));
    assert_eq!(Some(micros("response_p95_us")), times.percentile(95.0));
    assert_eq!(micros("response_max_us"), times.max());
    // Four of a hundred were dropped and are in no histogram, so higher percentiles are unknown.
    assert_eq!([cell("response_p99_us"), cell("response_p99_9_us")], ["", ""]);
    assert_eq!([cell("lag_p50_us"), cell("lag_max_us"), cell("wait_p50_us")], ["2.5", "2.5", ""]);
    assert_eq!(
        [cell("conns_open"), cell("users"), cell("received_bytes"), cell("open")],
        ["7", "5", "1000", "8"]
    );
    assert_eq!([cell("threads"), cell("thread_busy_max"), cell("turns")], ["2", "0.2500", "20"]);
    assert_eq!(table.sum("measured", "response_count") as u64, response().count());
}

#[test]
fn names_cannot_break_out_or_be_computed() {
    let hostile = ["=cmd|'/C calc'!A0", "a\",\"b\r\n+1,@x\u{202e}\u{200b}"];
    let table = Table::of(hostile, true);
    let steps: Vec<_> = table.rows.iter().take(2).map(|row| table.cell(row, "step")).collect();
    assert_eq!(steps, ["'=cmd|'/C calc'!A0", "a\",\"b\u{fffd}\u{fffd}+1,@x\u{fffd}\u{fffd}"]);
    assert!(table.rows.iter().flatten().all(|cell| !cell.starts_with(['=', '+', '@', '\t', '\r'])));
}

#[test]
fn a_client_that_goes_away_ends_it() {
    /// Accepts this many bytes.
    struct Narrow(usize);
    impl std::io::Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let plan = plan(["a", "b"]);
    let mut export = CsvExport::new(&plan, false, Narrow(20_000)).expect("the header has room");
    let second = intervals().remove(1);
    let ended = (0..1_000).find_map(|_| export.add("local", &second).err());
    assert_eq!(ended.map(|error| error.kind()), Some(std::io::ErrorKind::BrokenPipe));
}
