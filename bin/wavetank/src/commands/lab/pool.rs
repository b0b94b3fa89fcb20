//! `wavetank lab pool HOST [SERVICE [SERVER drain|ready|weight N]]`.

use std::fmt::Write as _;

use serde_json::{Value, json};
use wavetank_lab::{Client, LabFolder};
use wavetank_topology::{parse_pool_change, pools_of};
use wavetank_units::{ExitCode, UserError, sanitize};

use crate::cli::{FileFormat, PoolCommand};
use crate::output;

/// Changes a server behind the host's balancers if requested, then shows the servers. Exit 0.
pub(super) fn pool(
    folder: &LabFolder,
    host: &str,
    ask: &PoolCommand,
    format: FileFormat,
) -> Result<u8, UserError> {
    let lab = folder.order()?.lab;
    let mut client = Client::connect(folder)?;
    let names: Vec<String> = match ask {
        PoolCommand::Show(service) => {
            let pools = pools_of(&lab, host, service.as_deref())?;
            pools.iter().map(|service| service.name.clone()).collect()
        }
        PoolCommand::Change(words) => {
            let action = parse_pool_change(words, &lab, host)?;
            client.request(&json!({ "ask": "host", "host": host, "say": { "pool": action } }))?;
            vec![action.service]
        }
    };
    let reported = client.request(&json!({ "ask": "host", "host": host, "say": { "pools": names } }))?;
    let pools = reported["pools"].as_array().cloned().unwrap_or_default();
    output::print(&match format {
        FileFormat::Json => {
            format!("{}\n", json!({ "schema": "wavetank.lab_pool/1", "host": host, "pools": pools }))
        }
        FileFormat::Text => pools.iter().map(|pool| text(host, pool)).collect::<Vec<_>>().join("\n"),
    })?;
    Ok(ExitCode::Pass as u8)
}

/// Describes one pool: one line for the pool, and one for each server.
fn text(host: &str, pool: &Value) -> String {
    let servers = pool["servers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let takes = |server: &&Value| server["weight"] != 0 && server["alive"] != false;
    let (taking, service) = (servers.iter().filter(takes).count(), word(&pool["service"]));
    let stopped = if pool["running"] == false { ", as it was when it ended" } else { "" };
    let take = if servers.len() == 1 { "server takes" } else { "servers take" };
    let mut text =
        format!("{service} on {host}: {taking} of {} {take} new connections{stopped}\n", servers.len());
    let names: Vec<String> =
        servers.iter().map(|server| format!("{}:{}", word(&server["name"]), server["port"])).collect();
    let width = names.iter().map(String::len).max().unwrap_or_default().max("server".len());
    let _ = writeln!(text, "  {:width$}  weight  health     connections", "server");
    for (server, name) in servers.iter().zip(&names) {
        let health = match server["alive"].as_bool() {
            Some(true) => "alive",
            Some(false) => "dead",
            None => "unchecked",
        };
        let flows = server["flows"].as_u64().map_or_else(|| "unknown".to_owned(), |flows| flows.to_string());
        let (weight, of_file) = (&server["weight"], &server["of_file"]);
        let note = match (weight == of_file, *weight == 0) {
            (true, _) => String::new(),
            (false, true) => "  drained".to_owned(),
            (false, false) => format!("  {of_file} in the file"),
        };
        let _ = writeln!(text, "  {name:width$}  {:>6}  {health:9}  {flows:>11}{note}", weight.to_string());
    }
    text
}

fn word(value: &Value) -> String {
    sanitize(value.as_str().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_stand_in_columns() {
        let server = |name: &str, weight: u32, alive: Value, flows: Value| json!({ "name": name, "port": 80, "weight": weight, "of_file": 1, "alive": alive, "flows": flows });
        let servers = [
            server("web1", 1, json!(true), json!(37)),
            server("web2", 0, json!(true), json!(1200)),
            server("web10", 3, json!(false), json!(null)),
            server("web11", 1, json!(null), json!(0)),
        ];
        let pool = json!({ "service": "direct_routing", "running": true, "servers": servers });
        let expected = "direct_routing on lb1: 2 of 4 servers take new connections\n\
                        \x20 server    weight  health     connections\n\
                        \x20 web1:80        1  alive               37\n\
                        \x20 web2:80        0  alive             1200  drained\n\
                        \x20 web10:80       3  dead           unknown  1 in the file\n\
                        \x20 web11:80       1  unchecked            0\n";
        assert_eq!(text("lb1", &pool), expected);
        let ended = json!({ "service": "nat", "running": false, "servers": [] });
        assert!(
            text("lb1", &ended)
                .starts_with("nat on lb1: 0 of 0 servers take new connections, as it was when")
        );
    }
}
