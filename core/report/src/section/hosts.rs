//! The sampled hosts: what each of them used and carried during the load.

use wavetank_plan::THIS_HOST;
use wavetank_record::{HostUseDoc, Number, RunRecord};
use wavetank_units::quantity::format_grouped;

use super::model::Section;
use super::page_text::PageText::{self, Own};
use super::table::{Column, Table};
use super::value::Value;
use crate::format::{seconds, time};

/// Most hosts with a line of their own on a terminal.
const HOSTS_SHOWN: usize = 40;

/// The heading on a page.
pub(crate) const HOSTS_TITLE: PageText = Own(["Hosts", "主机"]);
const LEAD: PageText = Own([
    "All hosts share this machine. CPU is the share of what the host may use while it was sampled. Load threads belong to \
     wavetank and count for the host that they send from. Memory covers the host's own processes; the memory of \
     wavetank is listed under the generator. Connections and queues are sampled once a second, so shorter ones may be missed.",
    "所有主机共用这台机器。CPU 为观测期间各主机可用额度的占比；负载线程属于 wavetank 进程，计入其发送请求所在的主机。内存为主机自身各进程所用；wavetank 进程整体见“发压端健康状况”。连接与队列每秒只查看一次：更短暂的可能看不到。",
]);
/// The introduction for real hosts: those of a fleet, and those under test.
const MACHINES_LEAD: PageText = Own([
    "CPU, memory and traffic are those of the whole host while it was sampled. Connections and queues are sampled \
     once a second, so shorter ones may be missed.",
    "CPU、内存与流量均为观测期间整台主机的数值。连接与队列每秒只查看一次：更短暂的可能看不到。",
]);
const CARRIED: PageText = Own(["Memory, connections and traffic", "内存、连接与流量"]);

type Col = Column<HostUseDoc>;

/// On a page these are two tables, since one would be wider than paper.
const COLUMNS: [Col; 13] = [
    Col::text("host", Own(["Host", "主机"]), |host| Value::Name(host.name.clone())),
    Col::text("role", Own(["Role", "角色"]), |host| {
        known_role(&host.role).map_or(Value::Nothing, |(plain, page)| Value::Term(plain, page))
    })
    .after_name(),
    Col::number("CPU", Own(["CPU, mean", "CPU 平均"]), |host| Value::share(host.cpu)).narrow("cpu", 9),
    Col::number("CPU peak", Own(["CPU, peak", "CPU 峰值"]), |host| Value::share(host.cpu_max))
        .narrow("cpu peak", 10),
    Col::number("busiest core", Own(["Busiest core, peak", "最忙核心峰值"]), |host| {
        Value::share(host.hottest_core_max)
    }),
    Col::number(
        "CPU of load threads",
        Own(["CPU time of load threads alone", "仅负载线程的 CPU 时间"]),
        |host| Value::seconds(host.cpu_load_s),
    ),
    Col::number(
        "CPU per request",
        Own(["CPU time per request of the run", "CPU 时间 / 全部请求数"]),
        |host| Value::time(cost(host)),
    ),
    Col::number("memory peak", Own(["Memory of the host, peak", "主机内存峰值"]), |host| {
        Value::size(host.memory_max_bytes)
    })
    .narrow("memory", 11)
    .begins(CARRIED),
    Col::number("established peak", Own(["Established, peak", "已建立连接峰值"]), |host| {
        Value::Count(host.established_max)
    })
    .narrow("established", 13),
    Col::number("accept queue peak", Own(["Accept queue, peak", "accept 队列峰值"]), |host| {
        Value::Count(host.accept_queue_max)
    })
    .unless_zero(),
    Col::number("rejected", Own(["Rejected", "被拒连接"]), |host| Value::Count(host.listen_overflows))
        .unless_zero(),
    Col::number("in peak", Own(["In, peak", "入流量峰值"]), |host| {
        Value::bit_rate(host.in_bits_per_s_max)
    })
    .narrow("in peak", 14),
    Col::number("out peak", Own(["Out, peak", "出流量峰值"]), |host| {
        Value::bit_rate(host.out_bits_per_s_max)
    })
    .narrow("out peak", 14),
];

/// Roles of hosts, as the record has them and on a page.
const ROLES: [(&str, PageText); 4] = [
    ("load", Own(["load", "发压端"])),
    ("balancer", Own(["balancer", "负载均衡器"])),
    ("server", Own(["server", "服务器"])),
    ("other", Own(["other", "其他"])),
];

/// Empty if only the host that sent the load was sampled. It has a section of its own.
pub(crate) fn hosts(record: &RunRecord, is_lab: bool) -> Section {
    let others = record.hosts.iter().any(|host| host.name != THIS_HOST);
    let shown = if others { record.hosts.as_slice() } else { &[] };
    let table = Table::new("hosts", &COLUMNS, shown).terminal_rows(HOSTS_SHOWN, "hosts");
    let (title, lead) = (HOSTS_TITLE, if is_lab { LEAD } else { MACHINES_LEAD });
    Section { id: "lab", title, lead, terminal_notes: notes(shown), ..Section::of_table("Hosts", table) }
}

/// A role of the record, plain and on a page; `None` for an unknown role.
pub(crate) fn known_role(name: &str) -> Option<(&'static str, PageText)> {
    ROLES.into_iter().find(|(known, _)| *known == name)
}

/// Cost of a request on a host that receives it. The cost on the hosts that send it is shown with
/// the generator.
fn cost(host: &HostUseDoc) -> Option<Number> {
    host.cpu_us_per_request.filter(|us| us.0 > 0.0 && host.role != "load")
}

/// What the columns say for which a terminal has no room.
fn notes(hosts: &[HostUseDoc]) -> Vec<(&'static str, Vec<String>)> {
    let mut lines = Vec::new();
    let mut list = |label, intro: &str, part: fn(&HostUseDoc) -> Option<String>| {
        let parts: Vec<String> = hosts.iter().filter_map(part).take(HOSTS_SHOWN).collect();
        if !parts.is_empty() {
            lines.push((label, vec![format!("{intro}: {}", parts.join(", "))]));
        }
    };
    // These threads are not processes of the host.
    list("load CPU", "of wavetank's load threads", |host| {
        let own = host.cpu_load_s?;
        Some(format!("{} {} of {}", host.name, seconds(own), seconds(host.cpu_s)))
    });
    list("CPU each", "per request", |host| Some(format!("{} {}", host.name, time(cost(host)?))));
    for host in hosts.iter().filter(|host| host.listen_overflows > 0) {
        let sentence = format!(
            "{} rejected {} connections because an accept queue was full (peak length {})",
            host.name,
            format_grouped(host.listen_overflows),
            format_grouped(host.accept_queue_max)
        );
        lines.push(("queue", vec![sentence]));
    }
    lines
}
