//! The requests of `object_store`, made by the HTTP client of this crate.
//!
//! A request blocks its thread, and so does each piece of a body: [`super::store::wait`] runs one
//! request at a time on a thread.

use std::future;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions};
use ureq::http::{Request, Response};
use ureq::{Agent, AsSendBody, BodyReader, Error};

use crate::web::{self, Whereabouts};

/// How long a server may be silent.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of a body that are read at a time.
const PIECE: usize = 256 * 1024;

/// Makes the clients of stores. Only those of web servers go where a server sends them: requests to
/// other stores have signatures and tokens.
#[derive(Debug)]
pub(super) struct Connector {
    pub(super) redirects: bool,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let agent = |server| web::agent(server, TIMEOUT).map_err(|e| failed(e.to_string()));
        let plain = options.get_config_value(&ClientConfigKey::AllowHttp);
        Ok(HttpClient::new(Service {
            near: agent(Whereabouts::Near)?,
            far: agent(Whereabouts::Far)?,
            plain: plain.as_deref() == Some("true"),
            redirects: self.redirects,
        }))
    }
}

fn failed(reason: String) -> object_store::Error {
    object_store::Error::Generic { store: "web", source: reason.into() }
}

#[derive(Debug)]
struct Service {
    near: Agent,
    far: Agent,
    /// Whether requests without encryption are allowed.
    plain: bool,
    redirects: bool,
}

impl Service {
    fn answer(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let server = Whereabouts::of(&parts.uri);
        let link_local = parts.uri.host().is_some_and(|host| host.starts_with("169.254."));
        if parts.uri.scheme_str() == Some("http") && !self.plain && !link_local {
            let text = "the endpoint is http://, which is allowed by AWS_ALLOW_HTTP=true \
                        (AZURE_ALLOW_HTTP, GOOGLE_ALLOW_HTTP)";
            return Err(HttpError::new(HttpErrorKind::Unknown, io::Error::other(text)));
        }
        let agent = if server == Whereabouts::Near { &self.near } else { &self.far };
        let body = collected(body)?;
        let without = body.is_empty() && !matches!(parts.method.as_str(), "PUT" | "POST");
        let response = match without {
            true => self.sent(agent, Request::from_parts(parts, ())),
            false => self.sent(agent, Request::from_parts(parts, body)),
        };
        let (parts, body) = response.map_err(unanswered)?.into_parts();
        let left = body.content_length();
        let body = Incoming { reader: Mutex::new(body.into_reader()), left };
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
    }
}

impl Service {
    fn sent(
        &self,
        agent: &Agent,
        request: Request<impl AsSendBody>,
    ) -> Result<Response<ureq::Body>, Error> {
        match self.redirects {
            true => agent.run(request),
            false => {
                let request = agent.configure_request(request).max_redirects(0);
                agent.run(request.max_redirects_will_error(false).build())
            }
        }
    }
}

impl HttpService for Service {
    // What the attribute of `async_trait` would write.
    fn call<'a: 'f, 'f>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        Self: 'f,
    {
        Box::pin(future::ready(self.answer(request)))
    }
}

/// The bytes of a request, which are all there.
fn collected(mut body: HttpRequestBody) -> Result<Vec<u8>, HttpError> {
    let mut bytes = Vec::with_capacity(body.content_length());
    let mut context = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(frame)) = Pin::new(&mut body).poll_frame(&mut context) {
        if let Ok(data) = frame?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes)
}

fn unanswered(error: Error) -> HttpError {
    use HttpErrorKind::{Connect, Interrupted, Request, Timeout, Unknown};
    let kind = match &error {
        Error::Io(e) if e.to_string().contains("certificate") => Unknown,
        Error::Io(e) if e.kind() == io::ErrorKind::ConnectionRefused => Connect,
        Error::Io(_) => Interrupted,
        Error::Timeout(_) => Timeout,
        Error::HostNotFound | Error::ConnectionFailed => Connect,
        Error::Protocol(_) | Error::BodyStalled => Request,
        _ => Unknown,
    };
    HttpError::new(kind, error)
}

/// A body as it comes.
struct Incoming {
    reader: Mutex<BodyReader<'static>>,
    /// Bytes that are still to come, where the server has said how many.
    left: Option<u64>,
}

impl Incoming {
    fn piece(&mut self) -> io::Result<Bytes> {
        let most = self.left.map_or(PIECE, |left| PIECE.min(left.max(1) as usize));
        let mut piece = vec![0; most];
        let reader = self.reader.get_mut().unwrap_or_else(PoisonError::into_inner);
        let length = reader.read(&mut piece)?;
        piece.truncate(length);
        match &mut self.left {
            Some(1..) if length == 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            Some(left) => {
                *left = left.saturating_sub(length as u64);
                Ok(piece.into())
            }
            None => Ok(piece.into()),
        }
    }
}

impl Body for Incoming {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        Poll::Ready(match self.piece() {
            Ok(piece) if piece.is_empty() => None,
            Ok(piece) => Some(Ok(Frame::data(piece))),
            Err(error) => Some(Err(HttpError::new(HttpErrorKind::Interrupted, error))),
        })
    }
}
