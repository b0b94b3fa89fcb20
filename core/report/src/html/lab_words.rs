//! [`LabStrings`]: the texts of a page about a lab, in each of its languages.

use super::language::Language;

/// See the module's description.
pub(crate) struct LabStrings {
    pub(crate) title: &'static str,
    lead: &'static str,
    /// The lead of real hosts: those of a fleet, and those under test.
    machines_lead: &'static str,
    pub(crate) host: &'static str,
    pub(crate) role: &'static str,
    pub(crate) cpu: &'static str,
    pub(crate) cpu_max: &'static str,
    pub(crate) hottest: &'static str,
    pub(crate) load_threads: &'static str,
    pub(crate) per_request: &'static str,
    pub(crate) carried: &'static str,
    pub(crate) memory: &'static str,
    pub(crate) established: &'static str,
    pub(crate) queue: &'static str,
    pub(crate) overflows: &'static str,
    pub(crate) net_in: &'static str,
    pub(crate) net_out: &'static str,
    pub(crate) servers: &'static str,
    pub(crate) server: &'static str,
    pub(crate) connections: &'static str,
    pub(crate) run_connections: &'static str,
    pub(crate) requests: &'static str,
    pub(crate) run_requests: &'static str,
    pub(crate) agrees: &'static str,
    pub(crate) yes: &'static str,
    pub(crate) no: &'static str,
    pub(crate) chart_cpu: &'static str,
    pub(crate) chart_established: &'static str,
    pub(crate) chart_net: &'static str,
    load: &'static str,
    balancer: &'static str,
    server_role: &'static str,
    other: &'static str,
}

const EN: LabStrings = LabStrings {
    title: "Hosts",
    lead: "All hosts share this machine. CPU is the share of what the host may use while it was sampled. Load threads belong to \
           wavetank and count for the host that they send from. Memory covers the host's own processes; the memory of \
           wavetank is listed under the generator. Connections and queues are sampled once a second, so shorter ones may be missed.",
    machines_lead: "CPU, memory and traffic are those of the whole host while it was sampled. Connections and queues are sampled \
                    once a second, so shorter ones may be missed.",
    host: "Host",
    role: "Role",
    cpu: "CPU, mean",
    cpu_max: "CPU, peak",
    hottest: "Busiest core, peak",
    load_threads: "CPU time of load threads alone",
    per_request: "CPU time per request of the run",
    carried: "Memory, connections and traffic",
    memory: "Memory of the host, peak",
    established: "Established, peak",
    queue: "Accept queue, peak",
    overflows: "Rejected",
    net_in: "In, peak",
    net_out: "Out, peak",
    servers: "Server counts",
    server: "Server",
    connections: "Connections",
    run_connections: "Connections by the run, with warm‑up",
    requests: "Requests",
    run_requests: "Requests by the run, with warm‑up",
    agrees: "Match",
    yes: "yes",
    no: "no",
    chart_cpu: "CPU of the hosts",
    chart_established: "Established connections of the hosts",
    chart_net: "Traffic of the hosts, in and out together",
    load: "load",
    balancer: "balancer",
    server_role: "server",
    other: "other",
};

const ZH: LabStrings = LabStrings {
    title: "主机",
    lead: "所有主机共用这台机器。CPU 为观测期间各主机可用额度的占比；负载线程属于 wavetank 进程，计入其发送请求所在的主机。内存为主机自身各进程所用；wavetank 进程整体见“发压端健康状况”。连接与队列每秒只查看一次：更短暂的可能看不到。",
    machines_lead: "CPU、内存与流量均为观测期间整台主机的数值。连接与队列每秒只查看一次：更短暂的可能看不到。",
    host: "主机",
    role: "角色",
    cpu: "CPU 平均",
    cpu_max: "CPU 峰值",
    hottest: "最忙核心峰值",
    load_threads: "仅负载线程的 CPU 时间",
    per_request: "CPU 时间 / 全部请求数",
    carried: "内存、连接与流量",
    memory: "主机内存峰值",
    established: "已建立连接峰值",
    queue: "accept 队列峰值",
    overflows: "被拒连接",
    net_in: "入流量峰值",
    net_out: "出流量峰值",
    servers: "服务器自身计数",
    server: "服务器",
    connections: "连接数",
    run_connections: "运行的连接（含预热）",
    requests: "请求数",
    run_requests: "运行的请求（含预热）",
    agrees: "一致",
    yes: "是",
    no: "否",
    chart_cpu: "各主机 CPU",
    chart_established: "各主机已建立连接数",
    chart_net: "各主机流量（入与出合计）",
    load: "发压端",
    balancer: "负载均衡器",
    server_role: "服务器",
    other: "其他",
};

impl LabStrings {
    pub(crate) const fn for_language(language: Language) -> &'static Self {
        match language {
            Language::English => &EN,
            Language::Chinese => &ZH,
        }
    }

    /// The lead of the section about hosts: of a lab, or real ones.
    pub(crate) const fn lead(&self, is_lab: bool) -> &'static str {
        if is_lab { self.lead } else { self.machines_lead }
    }

    /// A role of the record in the page's language; empty for an unknown role.
    pub(crate) fn role_word(&self, role: &str) -> &'static str {
        match role {
            "load" => self.load,
            "balancer" => self.balancer,
            "server" => self.server_role,
            "other" => self.other,
            _ => "",
        }
    }
}
