//! Options for keys of `http:`, such as `--timeout`, `--http` and `-H`.

use wavetank_plan::{HttpVersion, RunOptions, UrlProtocol};
use wavetank_units::UserError;

use super::{TemplateParser, conflict};
use crate::model::{Auth, Experiment, Header, Http, Proxy, Template};
use crate::placeless::{PLACE, without_span};
use crate::request_rules;

impl Experiment {
    /// Selects HTTP/2 if a target speaks gRPC and no other version is asked for.
    pub(crate) fn use_http2_for_grpc(&mut self, requested: Option<HttpVersion>) {
        let mut urls = self.targets.iter().flat_map(|target| &target.urls);
        if self.http.version.is_none()
            && requested.is_none()
            && urls.any(|one| one.url.value.protocol == UrlProtocol::Grpc)
        {
            self.http.version = Some(HttpVersion::Http2);
        }
    }

    /// Applies the options for keys of `http:`.
    pub(super) fn amend_http(
        &mut self,
        options: &RunOptions,
        template: &mut TemplateParser<'_>,
    ) -> Result<(), UserError> {
        let http = &mut self.http;
        lengths(http, options)?;
        connections(http, options)?;
        http.version = options.http.or(http.version);
        http.close = options.close.or(http.close);
        http.expect = options.expect_status.clone().or(http.expect.take());
        http.dns = options.dns.or(http.dns);
        http.ip = options.ip.or(http.ip);
        if !options.connect_to.is_empty() {
            http.connect_to.clone_from(&options.connect_to);
        }
        if let Some(proxy) = &options.proxy {
            http.proxy = Some(Proxy { url: without_span(proxy.url.clone()), user: None });
        }
        http.proxy_protocol = options.proxy_protocol.or(http.proxy_protocol);
        let given = options.proxy.is_some() || !options.connect_to.is_empty();
        if given && http.proxy.is_some() && !http.connect_to.is_empty() {
            let hint =
                "the proxy alone connects to the target: leave one of the two out, here or in the file";
            return Err(conflict("a proxy and connect_to exclude each other", hint));
        }
        if http.version == Some(HttpVersion::Http10) && http.pipeline.is_some_and(|depth| depth > 1) {
            let hint = "pipelining is HTTP/1.1 (RFC 9112 §9.3.2)";
            return Err(conflict("HTTP/1.0 and a pipeline exclude each other", hint));
        }
        versions(http)?;
        headers(http, options, template)
    }
}

fn lengths(http: &mut Http, options: &RunOptions) -> Result<(), UserError> {
    http.timeout = options.timeout.map(without_span).or(http.timeout.take());
    http.connect_timeout = options.connect_timeout.map(without_span).or(http.connect_timeout.take());
    if let (Some(whole), Some(connect)) = (&http.timeout, &http.connect_timeout)
        && connect.value > whole.value
    {
        let message = format!(
            "with these options connecting may take {}, longer than the request timeout of {}, which includes it",
            connect.value, whole.value
        );
        return Err(conflict(message, "lower --connect-timeout or raise --timeout"));
    }
    Ok(())
}

/// Checks the version against settings that belong to another one.
fn versions(http: &Http) -> Result<(), UserError> {
    let has_streams = http.version.is_some_and(HttpVersion::has_streams);
    if has_streams && http.pipeline.is_some_and(|depth| depth > 1) {
        let hint = "HTTP/2 and HTTP/3 have streams instead: streams: 8, or --streams 8";
        return Err(conflict("streams and a pipeline exclude each other", hint));
    }
    if !has_streams && http.streams.is_some_and(|streams| streams > 1) {
        let hint = "version: 2 or 3, or --http 2";
        return Err(conflict("only HTTP/2 and HTTP/3 have several streams on a connection", hint));
    }
    if let (Some(streams), Some(most)) = (http.streams, http.requests_per_connection)
        && u64::from(streams) > most
    {
        let message = format!("{streams} streams never fit {most} requests on each connection");
        return Err(conflict(message, "raise --requests-per-connection or lower --streams"));
    }
    Ok(())
}

/// Applies options on the number of requests per connection.
fn connections(http: &mut Http, options: &RunOptions) -> Result<(), UserError> {
    if options.no_keepalive {
        http.keepalive = Some(false);
    }
    http.requests_per_connection = options.requests_per_connection.or(http.requests_per_connection);
    http.pipeline = options.pipeline.or(http.pipeline);
    http.streams = options.streams.or(http.streams);
    let several =
        http.requests_per_connection.is_some_and(|count| count > 1) || http.requests_in_flight() > 1;
    if http.keepalive == Some(false) && several {
        let message = "connections that close after one response cannot have several requests";
        let hint = "--no-keepalive and keepalive: false exclude --pipeline, --streams and --requests-per-connection, here and in the file";
        return Err(conflict(message, hint));
    }
    if let (Some(depth), Some(most)) = (http.pipeline, http.requests_per_connection)
        && u64::from(depth) > most
    {
        let message = format!("a pipeline of {depth} never fits {most} requests on each connection");
        return Err(conflict(message, "raise --requests-per-connection or lower --pipeline"));
    }
    Ok(())
}

/// A header of the command line replaces the file's common header of that name; a step's own stays.
fn headers(
    http: &mut Http,
    options: &RunOptions,
    template: &mut TemplateParser<'_>,
) -> Result<(), UserError> {
    http.no_user_agent |= options.no_user_agent;
    for (name, value) in &options.headers {
        request_rules::check_header(name, value.reveal())?;
        http.headers.retain(|own| !own.name.value.eq_ignore_ascii_case(name));
        if name.eq_ignore_ascii_case("authorization") && http.auth.is_some() {
            let hint = "--basic USER:PASSWORD replaces the file's http.auth";
            return Err(conflict("-H Authorization and http.auth of the file write the same header", hint));
        }
    }
    let mut errors = Vec::new();
    for (name, value) in &options.headers {
        match template(value.reveal()) {
            Ok(value) => http.headers.push(Header { name: without_span(name.clone()), value }),
            Err(failed) => {
                let message = format!("-H `{name}`: {}", failed.message);
                errors.push(UserError::usage(failed.code, message, failed.hint));
            }
        }
    }
    if let Some(error) = UserError::combine(errors) {
        return Err(error);
    }
    if let Some(basic) = &options.basic {
        let (user, password) = request_rules::user_and_password(basic.reveal())?;
        http.headers.retain(|own| !own.name.value.eq_ignore_ascii_case("authorization"));
        http.auth = Some(Auth::Basic(Template::fixed(user, PLACE), Template::fixed(password, PLACE)));
    }
    Ok(())
}
