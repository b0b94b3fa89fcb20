//! What went over the network: bytes, packets, extra requests, messages and pings.

use wavetank_record::RunRecord;
use wavetank_units::quantity::{format_grouped, show_size};

use super::model::{Fact, Section};
use super::page_text::PageText::Own;
use super::value::Value;
use crate::done_after_load::done_after_load;

/// The traffic of a run.
pub(crate) fn traffic(record: &RunRecord) -> Section {
    let duration = record.duration_s.0;
    let way = |bytes: u64, is_in_time: bool| {
        let rate = (is_in_time && duration > 0.0).then(|| (bytes as f64 / duration).round() as u64);
        let rate = rate.map_or_else(String::new, |rate| format!(" ({}/s)", show_size(rate)));
        Value::number((bytes > 0).then(|| show_size(bytes) + &rate))
    };
    // Bytes that were received after the load have no rate.
    let received = way(record.bytes.received, done_after_load(record).is_none());
    let (wire, messages) = (record.wire, record.messages.unwrap_or_default());
    let packets = record.packets.unwrap_or_default();
    // A number without a share would look large in a long run.
    let packets_lost = Value::number((packets.lost > 0).then(|| {
        let share = 100.0 * packets.lost as f64 / packets.sent as f64;
        format!("{} ({share:.2} %)", format_grouped(packets.lost))
    }));
    let pings = record.pings.unwrap_or_default();
    let lost = pings.sent.saturating_sub(pings.answered);
    let counted = |name, term, count| Fact::named(name, term, Value::known(count));
    let facts = vec![
        Fact::named("received", Own(["Received (HTTP)", "接收（HTTP）"]), received),
        Fact::named("sent", Own(["Sent (HTTP)", "发送（HTTP）"]), way(record.bytes.sent, true)),
        Fact::on_page(Own(["Requests on the wire", "实际发出的请求报文"]), Value::known(wire.sent)),
        counted("retried", Own(["thereof retries", "其中重试"]), wire.retried),
        counted("redirected", Own(["thereof redirects followed", "其中跟随重定向"]), wire.redirected),
        counted("resources", Own(["thereof embedded resources", "其中内嵌资源"]), wire.resources),
        counted("one-way", Own(["Requests without an answer", "无需应答的请求"]), wire.one_way),
        counted("packets sent", Own(["QUIC packets sent", "发送的 QUIC 数据包"]), packets.sent),
        Fact::named("packets lost", Own(["QUIC packets lost", "丢失的 QUIC 数据包"]), packets_lost),
        counted("messages out", Own(["Messages sent", "发送的消息"]), messages.sent),
        counted("messages in", Own(["Messages received", "接收的消息"]), messages.received),
        Fact::on_page(Own(["Pings sent", "发送的 ping"]), Value::known(pings.sent)),
        Fact::on_page(Own(["Pings answered", "得到应答的 ping"]), Value::known(pings.answered)),
        Fact::plain(if lost > 0 { format!("pings lost {}", format_grouped(lost)) } else { String::new() }),
    ];
    Section::of_facts("traffic", facts)
}
