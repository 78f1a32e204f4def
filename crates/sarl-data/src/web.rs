//! The HTTP client: proxies, certificates, time limits.

use std::env;
use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use ureq::Agent;
use ureq::http::Uri;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::error::{DataError, Result};

/// Connections that are kept open, to one server.
const IDLE: usize = 32;
/// How long a connection within this machine or its network segment may take.
const NEAR: Duration = Duration::from_secs(1);

/// Where a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    /// This machine, or the service of a cloud that gives it credentials. No proxy is used.
    Near,
    /// Any other.
    Far,
}

impl Whereabouts {
    /// Where the server of an address is.
    pub(crate) fn of(uri: &Uri) -> Self {
        let host = uri.host().unwrap_or_default();
        let near = match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_link_local(),
            Ok(IpAddr::V6(address)) => address.is_loopback(),
            Err(_) => host.eq_ignore_ascii_case("localhost"),
        };
        if near { Self::Near } else { Self::Far }
    }
}

/// A client that goes through the proxy of the environment (`ALL_PROXY`, `HTTPS_PROXY`,
/// `HTTP_PROXY`, but for the hosts of `NO_PROXY`), except to servers that are near, and trusts
/// the certificates in `SSL_CERT_FILE` or, without it, Mozilla's. The server may be silent for
/// `timeout`.
pub(crate) fn agent(server: Whereabouts, timeout: Duration) -> Result<Agent> {
    let connect = if server == Whereabouts::Near { NEAR.min(timeout) } else { timeout };
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .user_agent(concat!("sarl/", env!("CARGO_PKG_VERSION")))
        // The bytes as they are: lengths, ranges and checksums are those of the file.
        .accept_encoding("identity")
        .allow_non_standard_methods(true)
        .max_idle_connections(IDLE)
        .max_idle_connections_per_host(IDLE)
        .timeout_connect(Some(connect))
        .timeout_recv_response(Some(timeout))
        .timeout_per_read(Some(timeout));
    if server == Whereabouts::Near {
        config = config.proxy(None);
    }
    if let Some(file) = env::var_os("SSL_CERT_FILE").filter(|v| !v.is_empty()) {
        let trusted = RootCerts::from(certificates(Path::new(&file))?);
        config = config.tls_config(TlsConfig::builder().root_certs(trusted).build());
    }
    Ok(config.build().new_agent())
}

fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>> {
    let text = fs::read(path).map_err(|e| DataError::read(path, e))?;
    let mut found = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(one) =
            item.map_err(|e| DataError::damaged(path, "certificate", e))?
        {
            found.push(one);
        }
    }
    Ok(found)
}
