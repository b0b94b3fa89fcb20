//! Names that `HAProxy` knows, those that it no longer knows, and misspelt ones.

use super::HaproxyLine;
use crate::finding::found;
use crate::typo::typo_of;
use crate::{Judgement, Verdict};

/// How lines of proxies and of global begin.
const KEYWORDS: &str = "\
    backlog balance bind ca-base capture chroot cluster-secret compression cookie cpu-map cpu-policy \
    crt-base daemon declare default-server default_backend description disabled email-alert enabled \
    errorfile errorfiles errorloc errorloc302 errorloc303 external-check fd-hard-limit filter \
    force-persist fullconn group hard-stop-after hash-balance-factor hash-type http-after-response \
    http-check http-error http-request http-response http-reuse http-send-name-header ignore-persist \
    insecure-fork-wanted load-server-state-from-file log-format log-format-sd log-send-hostname \
    log-tag lua-load lua-load-per-thread lua-prepend-path master-worker max-keep-alive-queue \
    max-session-srv-conns maxcompcpuusage maxcomprate maxconn maxconnrate maxpipes maxsessrate \
    maxsslconn maxsslrate maxzlibmem monitor monitor-uri nameserver nbthread no-memory-trimming \
    noepoll nopoll nosplice numa-cpu-mapping persist pidfile quick-exit rate-limit redirect \
    resolvers retries retry-on server server-state-base server-state-file server-template setenv \
    set-dumpable spread-checks ssl-default-bind-ciphers ssl-default-bind-ciphersuites \
    ssl-default-bind-options ssl-default-server-ciphers ssl-default-server-options ssl-dh-param-file \
    ssl-engine ssl-mode-async ssl-server-verify stick stick-table strict-limits tcp-check \
    tcp-request tcp-response thread-groups timeout transparent tune.bufsize tune.comp.maxlevel \
    tune.fd.edge-triggered tune.h2.initial-window-size tune.h2.max-concurrent-streams \
    tune.http.cookielen tune.http.maxhdr tune.idletimer tune.listener.multi-queue tune.maxaccept \
    tune.maxpollevents tune.maxrewrite tune.pattern.cache-size tune.pipesize tune.rcvbuf.client \
    tune.rcvbuf.server tune.recv_enough tune.runqueue-depth tune.sched.low-latency \
    tune.sndbuf.client tune.sndbuf.server tune.ssl.cachesize tune.ssl.default-dh-param \
    tune.ssl.force-private-cache tune.ssl.lifetime tune.ssl.maxrecord ulimit-n unique-id-format \
    unique-id-header unix-bind use-fcgi-app use-server use_backend username wurfl-data-file\
";

const OPTIONS: &str = "\
    abortonclose accept-invalid-http-request accept-invalid-http-response \
    accept-unsafe-violations-in-http-request accept-unsafe-violations-in-http-response allbackups \
    checkcache clitcpka contstats disable-h2-upgrade dontlog-normal dontlognull external-check \
    forwardfor forwarded h1-case-adjust-bogus-client h1-case-adjust-bogus-server http-buffer-request \
    http-drop-request-trailers http-ignore-probes http-keep-alive http-no-delay \
    http-pretend-keepalive http-restrict-req-hdr-names http-server-close http-use-proxy-header \
    httpchk httpclose httplog httpslog idle-close-on-response independent-streams ldap-check \
    log-health-checks log-separate-errors logasap mysql-check nolinger originalto persist \
    pgsql-check prefer-last-server redis-check redispatch smtpchk socket-stats splice-auto \
    splice-request splice-response spop-check srvtcpka ssl-hello-chk tcp-check tcp-smart-accept \
    tcp-smart-connect tcpka tcplog transparent\
";

const TIMEOUTS: &str = "\
    check client client-fin client-hs connect hold http-keep-alive http-request mail queue resolve \
    retry server server-fin tarpit tunnel\
";

const ALGORITHMS: &str = "\
    first hash hdr leastconn random rdp-cookie roundrobin source static-rr uri url_param\
";

const PARAMETERS: &str = "\
    agent-check agent-inter agent-port alpn backup ca-file check check-send-proxy check-ssl \
    check-sni ciphers cookie disabled downinter enabled error-limit fall fastinter init-addr inter \
    max-reuse maxconn maxqueue minconn observe on-error on-marked-down on-marked-up pool-low-conn \
    pool-max-conn pool-purge-delay port proto redir resolve-prefer resolvers rise send-proxy \
    send-proxy-v2 slowstart sni source ssl track verify weight\
";
/// Parameters of servers that take a value, so that a value is not taken for a parameter.
const WITH_VALUE: &str = "\
    agent-check agent-inter agent-port alpn ca-file ciphers cookie crt error-limit fall fastinter \
    downinter id init-addr inter max-reuse maxconn maxqueue minconn namespace observe on-error \
    on-marked-down on-marked-up pool-low-conn pool-max-conn pool-purge-delay port proto redir \
    resolve-prefer resolve-net resolve-opts resolvers rise slowstart sni source addr track usesrc \
    verify verifyhost weight interface ws check-proto check-sni check-alpn socks4 tcp-ut crl-file \
    curves ciphersuites npn ssl-min-ver ssl-max-ver shard\
";

/// Lines that `HAProxy` no longer accepts: the word, since which version, and what replaces it.
const REMOVED: [(&str, &str, &str); 11] = [
    ("block", "2.1", "write http-request deny with the same condition"),
    ("clitimeout", "2.1", "write timeout client"),
    ("srvtimeout", "2.1", "write timeout server"),
    ("contimeout", "2.1", "write timeout connect"),
    ("redispatch", "2.1", "write option redispatch"),
    ("redisp", "2.1", "write option redispatch"),
    ("appsession", "1.6", "write stick-table and stick on, or cookie"),
    ("monitor-net", "2.1", "write http-request return status 200 with a condition"),
    ("reqpass", "2.1", "write http-request"),
    ("reqtarpit", "2.1", "write http-request tarpit"),
    ("reqsetbe", "2.1", "write use_backend with a condition"),
];

/// Judges the names in one line; `None` if it knows them.
pub(super) fn judge(line: &HaproxyLine) -> Option<Judgement> {
    if !matches!(line.section.as_str(), "global" | "defaults" | "frontend" | "backend" | "listen") {
        return None;
    }
    // A log format or a condition may contain anything.
    match line.term(0) {
        "no" | "option" | "default" => {
            let at = 1 + usize::from(line.term(0) != "option" && line.term(1) == "option");
            misspelt(line.term(at), "an option", OPTIONS)
        }
        "timeout" if line.section != "resolvers" => misspelt(line.term(1), "a timeout", TIMEOUTS),
        "balance" => {
            let name = line.term(1).split('(').next().unwrap_or_default();
            misspelt(name, "a way of balancing", ALGORITHMS)
        }
        "server" | "server-template" | "default-server" => server(line),
        word => removed(word).or_else(|| misspelt(word, "a keyword", KEYWORDS)),
    }
}

fn removed(word: &str) -> Option<Judgement> {
    let (_, version, instead) = REMOVED.into_iter().find(|(name, ..)| *name == word)?;
    found(Verdict::Obsolete, format!("HAProxy {version} removed {word} and refuses to start"), instead)
}

/// Whether a list has `word`.
fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Names are taken for misspelt ones only if they are near a known one: versions differ.
fn misspelt(word: &str, kind: &str, known: &str) -> Option<Judgement> {
    if has(known, word) {
        return None;
    }
    let near = typo_of(word, known.split_whitespace())?;
    let sentence = format!("`{word}` is not {kind} of HAProxy, which refuses to start");
    found(Verdict::Misspelt, sentence, format!("did you mean {near}?"))
}

/// The parameters of a server and their values.
fn server(line: &HaproxyLine) -> Option<Judgement> {
    let mut at = if line.term(0) == "default-server" { 1 } else { 3 };
    while at < line.terms.len() {
        let word = line.term(at);
        if word == "weight" && line.term(at + 1).parse::<u64>().is_ok_and(|weight| weight > 256) {
            let sentence = format!("a weight is 0 to 256, and HAProxy refuses {}", line.term(at + 1));
            return found(Verdict::Rejected, sentence, "write weights in proportion, such as 100 and 50");
        }
        let slip = PARAMETERS.split_whitespace().find(|known| is_slip(word, known));
        if let Some(known) = slip {
            let sentence = format!("`{word}` is not a parameter of servers, and HAProxy refuses to start");
            return found(Verdict::Misspelt, sentence, format!("did you mean {known}?"));
        }
        at += 1 + usize::from(has(WITH_VALUE, word));
    }
    None
}

/// Whether `word` is `known` with one slip. Parameters are short, so one slip is the limit.
fn is_slip(word: &str, known: &str) -> bool {
    let is_word = word.len() >= 4 && word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
    is_word
        && !has(PARAMETERS, word)
        && !has(WITH_VALUE, word)
        && !word.starts_with("no-")
        && !word.starts_with("force-")
        && strsim::damerau_levenshtein(word, known) == 1
}
