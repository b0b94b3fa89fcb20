//! Connections: how many were opened, held and lost, and the parameters of their TLS handshakes.

use std::collections::BTreeMap;

use wavetank_record::{RunRecord, TlsDoc};
use wavetank_units::quantity::format_grouped;

use super::held::is_holding;
use super::model::{Fact, Section};
use super::page_text::PageText::{Own, Shared};
use super::value::Value;
use crate::counts::count_with_classes;
use crate::format::count_with_share;
use crate::threshold_state::was_killed;

/// The connections of a run. A terminal has them if they are noteworthy.
pub(crate) fn connections(record: &RunRecord) -> Section {
    let own = record.connections;
    // A pool opens the connections it needs, but each user of a closed loop must have a connection.
    let missing = record.load.model == "closed" && own.opened < own.planned;
    let troubles = [own.failed, own.lost, own.reopened].iter().any(|n| *n > 0);
    let noteworthy = troubles || own.opened > own.planned || missing;
    let planned = if missing { format!(" of {}", format_grouped(own.planned)) } else { String::new() };
    let by_class = |name: &str, term, count: u64, by: &BTreeMap<String, u64>| {
        let fact = Fact::named(name, term, Value::Number(count_with_classes(count, by)));
        if count > 0 { fact } else { Fact::on_page(term, fact.value) }
    };
    let open = if was_killed(record) {
        Own(["Open at the end of this record", "本记录结束时仍打开"])
    } else {
        Own(["Open at the end", "结束时仍打开"])
    };
    let mut facts = vec![
        Fact::on_page(Own(["Planned simultaneous maximum", "计划同时连接数"]), Value::known(own.planned)),
        Fact {
            plain: format!("opened {}{planned}", format_grouped(own.opened)),
            term: Own(["Opened", "已建立"]),
            value: Value::Count(own.opened),
        },
        Fact::named(
            "peak",
            Own(["Peak open (sum of the threads' peaks)", "最多同时打开（各线程峰值之和）"]),
            Value::Count(own.peak),
        ),
        Fact::on_page(Own(["Closed as planned", "按计划关闭"]), Value::Count(own.closed)),
        by_class("failed", Shared(|w| w.connections.failed), own.failed, &record.connections_failed_by),
        by_class("lost", Shared(|w| w.connections.lost), own.lost, &record.connections_lost_by),
        Fact::named("reopened", Shared(|w| w.connections.reopened), Value::known(own.reopened)),
        Fact::on_page(Own(["Opened late", "建连过晚"]), Value::known(own.late)),
        Fact::on_page(Own(["Never opened", "始终未建立"]), Value::known(own.opening)),
        Fact::on_page(open, Value::Count(own.open)),
        Fact::on_page(
            Own(["Lowest number while holding", "保持期间最少"]),
            Value::count(own.held_min.filter(|_| is_holding(record))),
        ),
    ];
    // A terminal has the connections of hold phases at the top.
    if !noteworthy || is_holding(record) {
        for fact in &mut facts {
            fact.plain.clear();
        }
    }
    Section::of_facts("connects", facts)
}

/// The TLS handshakes, and the parameters that they negotiated.
pub(crate) fn handshakes(tls: &TlsDoc) -> Section {
    let complete = tls.handshakes;
    let resumed = match tls.resumed {
        0 => "all full".to_owned(),
        n if n == complete => "all resumed".to_owned(),
        n => format!("resumed {}", count_with_share(n, complete)),
    };
    let agreed = |counts: &BTreeMap<String, u64>| agreed(counts, complete);
    let plain = |term, value: Value| Fact { plain: value.plain(), term, value };
    let mut facts = vec![
        plain(Own(["Complete", "完成"]), Value::Count(complete)),
        Fact {
            plain: resumed,
            term: Own(["Resumed", "会话复用"]),
            value: Value::Number(count_with_share(tls.resumed, complete)),
        },
        Fact::on_page(Own(["Not completed", "未完成"]), Value::Count(tls.failed)),
        plain(Own(["Version", "版本"]), agreed(&tls.version)),
        plain(Own(["Cipher suite", "加密套件"]), agreed(&tls.cipher)),
        plain(Own(["Key exchange", "密钥交换"]), agreed(&tls.group)),
        Fact::on_page(Own(["Application protocol (ALPN)", "应用层协议（ALPN）"]), agreed(&tls.alpn)),
    ];
    if complete == 0 {
        for fact in &mut facts {
            fact.plain.clear();
        }
    }
    if tls.failed > 0 {
        facts.push(Fact::plain(format!("failed {}", format_grouped(tls.failed))));
    }
    Section::of_facts("handshakes", facts)
}

/// Names with their counts, highest first; a name alone if all of the handshakes agreed on it.
fn agreed(counts: &BTreeMap<String, u64>, handshakes: u64) -> Value {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|&(name, &n)| (std::cmp::Reverse(n), name));
    let each = counts.into_iter().map(|(name, &n)| {
        if n == handshakes { name.clone() } else { format!("{name} {}", count_with_share(n, handshakes)) }
    });
    Value::Name(each.collect::<Vec<_>>().join(", "))
}
