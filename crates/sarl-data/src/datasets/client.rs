//! The HTTP client, and what its errors mean.

use std::env;
use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use ureq::http::Uri;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Error};

use crate::error::{DataError, Result};

/// What stopped a request.
pub(super) enum Trouble {
    /// It may go better the next time.
    Passing(String),
    /// It will not.
    Lasting(String),
}

/// A client for `url` that goes through the proxy of the environment (`ALL_PROXY`,
/// `HTTPS_PROXY`, `HTTP_PROXY`, but for the hosts of `NO_PROXY`), except to this machine
/// itself, and trusts the certificates in `SSL_CERT_FILE` or, without it, Mozilla's.
pub(super) fn agent(url: &str, timeout: Duration) -> Result<Agent> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .user_agent(concat!("sarl/", env!("CARGO_PKG_VERSION")))
        // The bytes as they are: lengths, ranges and checksums are those of the file.
        .accept_encoding("identity")
        .timeout_connect(Some(timeout))
        .timeout_recv_response(Some(timeout))
        .timeout_per_read(Some(timeout));
    if is_here(url) {
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

fn is_here(url: &str) -> bool {
    let uri = url.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|a| a.is_loopback())
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        match error {
            Error::Io(e) if e.to_string().contains("certificate") => Trouble::Lasting(format!(
                "{e}; if your network has certificates of its own, name their file in SSL_CERT_FILE"
            )),
            Error::Io(e) => Trouble::Passing(e.to_string()),
            Error::Timeout(_) => Trouble::Passing("the server does not answer".to_owned()),
            Error::Protocol(_) | Error::ConnectionFailed => Trouble::Passing(error.to_string()),
            Error::HostNotFound => {
                Trouble::Lasting("the host is not found; is there a network?".to_owned())
            }
            _ => Trouble::Lasting(error.to_string()),
        }
    }
}
