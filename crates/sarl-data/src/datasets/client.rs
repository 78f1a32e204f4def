//! The HTTP client of downloads, and what its errors mean.

use std::time::Duration;

use ureq::http::Uri;
use ureq::{Agent, Error};

use crate::error::Result;
use crate::web::{self, Whereabouts};

/// What stopped a request.
pub(super) enum Trouble {
    /// It may go better the next time.
    Passing(String),
    /// It will not.
    Lasting(String),
}

/// A client for `url`.
pub(super) fn agent(url: &str, timeout: Duration) -> Result<Agent> {
    let server = url.parse::<Uri>().map_or(Whereabouts::Far, |uri| Whereabouts::of(&uri));
    web::agent(server, timeout)
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
