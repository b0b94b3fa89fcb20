//! Every setting of the articles that this program follows has a judgement.

use wavetank_tuning::{FileKind, LintContext};

use crate::support::lint;

/// Keys and values of sysctl in the articles.
const SYSCTL: &str = "\
net.ipv4.ip_local_port_range = 2000 65000
net.ipv4.tcp_window_scaling = 1
net.ipv4.tcp_max_syn_backlog = 3240000
net.core.somaxconn = 3240000
net.ipv4.tcp_max_tw_buckets = 1440000
net.core.rmem_default = 8388608
net.core.rmem_max = 16777216
net.core.wmem_max = 16777216
net.ipv4.tcp_rmem = 4096 87380 16777216
net.ipv4.tcp_wmem = 4096 65536 16777216
net.ipv4.tcp_congestion_control = cubic
net.ipv4.ip_forward = 1
fs.file-max = 1000000
fs.nr_open = 1000000
net.core.netdev_max_backlog = 100000
net.ipv4.tcp_max_orphans = 5800000
net.nf_conntrack_max = 2097152
kernel.shmall = 4294967296
kernel.shmmax = 68719476736
kernel.msgmax = 65536
kernel.sysrq = 0
net.core.wmem_default = 131072
net.ipv4.ip_nonlocal_bind = 1
net.ipv4.tcp_fin_timeout = 7
net.ipv4.tcp_keepalive_time = 300
net.ipv4.tcp_mem = 94500000 915000000 927000000
net.ipv4.tcp_slow_start_after_idle = 0
net.ipv4.tcp_synack_retries = 2
net.ipv4.tcp_syncookies = 1
net.ipv4.tcp_syn_retries = 2
net.ipv4.tcp_tw_recycle = 1
net.ipv4.tcp_tw_reuse = 1
vm.swappiness = 0
kernel.sem = 250 65536 100 2048
kernel.shmmni = 655360
kerntl.shmall = 4194304
kernel.msgmni = 65535
kernel.msgmnb = 65536
net.netfilter.nf_conntrack_max = 2097152
net.ipv4.netfilter.ip_conntrack_max = 1000000
kernel.perf_cpu_time_max_percent = 60
kernel.perf_event_max_sample_rate = 6250
kernel.sched_migration_cost_ns = 5000000
net.core.optmem_max = 25165824
";

const NGINX: &str = "\
worker_processes 24;
worker_rlimit_nofile 200000;
error_log /var/log/nginx/error.log info;
events {
use epoll;
worker_connections 409600;
multi_accept on;
accept_mutex off;
}
http {
sendfile on;
tcp_nopush on;
tcp_nodelay on;
open_file_cache max=200000 inactive=20s;
open_file_cache_valid 30s;
open_file_cache_min_uses 2;
open_file_cache_errors on;
access_log off;
keepalive_timeout 5;
keepalive_requests 20000000;
client_header_timeout 5;
client_body_timeout 5;
reset_timedout_connection on;
send_timeout 2;
gzip on;
gzip_min_length 10240;
gzip_proxied expired no-cache no-store private auth;
gzip_types text/plain text/css;
gzip_disable \"MSIE [1-6].\";
upstream backends { server 127.0.0.1:8080; keepalive 1000; }
server {
listen 888 backlog=168888;
ssl on;
location / {
echo_sleep 100;
proxy_pass http://backends;
proxy_set_header Connection \"keep-alive\";
proxy_http_version 1.1;
proxy_ignore_client_abort on;
proxy_connect_timeout 600;
proxy_read_timeout 600;
proxy_send_timeout 600;
}
}
}
";

const HAPROXY: &str = "\
global
log /dev/log local0
chroot /var/lib/haproxy
stats socket /run/haproxy/admin.sock mode 660 level admin
stats timeout 600s
user haproxy
group haproxy
daemon
maxconn 4000000
nbproc 23
cpu-map 1 1
stats bind-process 23
defaults
log global
mode tcp
option tcplog
option dontlognull
maxconn 4000000
timeout connect 5000
timeout client 60000
timeout server 60000
frontend http-in
bind :8200
stats enable
mode http
option httplog
stats auth admin:admin
stats uri /haproxy_stats
listen port-30000
bind :30000
balance roundrobin
server staging1 10.0.0.1:80
";

/// Lines that only structure a file.
const STRUCTURE: [&str; 10] = [
    "events",
    "http",
    "server",
    "location",
    "proxy_pass",
    "}",
    "global",
    "defaults",
    "frontend",
    "listen port",
];

#[track_caller]
fn check_all(kind: FileKind, text: &str) {
    let context = LintContext { cpus: Some(24), memory_bytes: Some(128 << 30), ..LintContext::default() };
    let found = lint(kind, text, &context);
    for (index, line) in text.lines().enumerate() {
        let judged: Vec<_> = found.iter().filter(|finding| finding.line == index + 1).collect();
        let is_structure = STRUCTURE.iter().any(|start| line.starts_with(start));
        assert!(is_structure || !judged.is_empty(), "no judgement of `{line}`");
        for finding in judged {
            assert!(finding.sentence != "no rule judges this setting", "no rule for `{line}`");
            assert!(!finding.sentence.is_empty(), "{finding:?}");
        }
    }
}

#[test]
fn every_setting_of_sysctl_is_judged() {
    check_all(FileKind::Sysctl, SYSCTL);
}

#[test]
fn every_directive_of_nginx_is_judged() {
    check_all(FileKind::Nginx, NGINX);
}

#[test]
fn every_line_of_haproxy_is_judged() {
    check_all(FileKind::Haproxy, HAPROXY);
}

#[test]
fn limits_and_commands_are_judged() {
    check_all(FileKind::Limits, "* soft nofile 10000000\n* hard nofile 1000000\nroot soft nofile 10000000\n");
    check_all(FileKind::Systemd, "[Service]\nLimitNOFILE=1000000\n".trim_start_matches("[Service]\n"));
    let commands = "ulimit -n 200000\nulimit -n 20000500\nethtool -G eth0 rx 4096\nethtool -G eth0 tx 4096\n\
        cat 65535 > /proc/sys/net/core/somaxconn\nyum groupinstall \"Load Balancer\"\nchkconfig piranha-gui on\n\
        service pulse start\narptables -A IN -d 10.0.0.1 -j DROP\nip addr add 192.168.12.10 dev eth0:1\n\
        -A INPUT -m state --state NEW -m tcp -p tcp --dport 3636 -j ACCEPT\nservice arptables_jf save\n\
        cat /proc/net/netstat | awk '/TcpExt/ { print $21,$22 }'\nmake TARGET=linux2628 USE_CPU_AFFINITY=1\n";
    check_all(FileKind::Script, commands);
}
