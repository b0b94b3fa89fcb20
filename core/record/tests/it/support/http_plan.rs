//! HTTP settings, none of which is the default.

use super::*;

/// HTTP settings of the plan that is stored.
pub(super) fn http() -> HttpPlan {
    HttpPlan {
        version: HttpVersion::Http11,
        timeout: Nanos::from_secs(60),
        connect_timeout: Nanos::from_millis(1_500),
        keepalive: true,
        requests_per_connection: Some(100),
        close: Close::Rst,
        pipeline: 4,
        expect: StatusSet(vec![(200, 399), (404, 404)]),
        cookies: true,
        body_max: Some(1 << 20),
        ping: Some(Nanos::from_secs(30)),
        websocket: WebSocketPlan {
            subprotocol: Some("chat.v2".to_owned()),
            deflate: true,
            headers: vec![("X-Room".to_owned(), "5".to_owned())],
            secret_headers: Vec::new(),
        },
        proxy: None,
        proxy_protocol: None,
        dns: Some(DnsRefreshPlan {
            when: DnsPolicy::Every(Nanos::from_secs(30)),
            ip: Some(IpFamily::V4),
            ways: vec![RefreshedName { names: vec![("localhost".to_owned(), 8080)], first_only: true }],
            unreached: Vec::new(),
        }),
    }
}
