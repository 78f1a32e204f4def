//! The stores, each made once, from the environment.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use super::address::{Address, Scheme};
use super::connector::Connector;
use super::trouble::Trouble;

type Store = Arc<dyn ObjectStore>;

static STORES: LazyLock<Mutex<HashMap<String, Store>>> = LazyLock::new(Default::default);

thread_local! {
    /// What the pauses between attempts need. Requests block, so each thread has its own.
    static RUNTIME: std::io::Result<Runtime> = Builder::new_current_thread().enable_time().build();
}

/// Waits for an answer of a store.
pub(super) fn wait<T>(answer: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
    RUNTIME.with(|runtime| match runtime {
        Ok(runtime) => runtime.block_on(answer),
        Err(error) => Err(Trouble::Other(error.to_string())),
    })
}

/// Attempts of one request: pauses of 0.1, 0.2, 0.4, … seconds between them.
fn retry() -> RetryConfig {
    let (init_backoff, max_backoff) = (Duration::from_millis(100), Duration::from_secs(5));
    RetryConfig {
        backoff: BackoffConfig { init_backoff, max_backoff, base: 2.0 },
        max_retries: 5,
        retry_timeout: Duration::from_secs(60),
    }
}

/// The store of an address.
pub(super) fn store(address: &Address) -> Result<Store, Trouble> {
    let name = format!("{}?{}", address.root, address.query.as_deref().unwrap_or_default());
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(store) = stores.get(&name) {
        return Ok(store.clone());
    }
    let store = make(address)?;
    stores.insert(name, store.clone());
    Ok(store)
}

fn make(address: &Address) -> Result<Store, Trouble> {
    let bucket = address.bucket();
    let signed = Connector { redirects: false };
    Ok(match address.scheme {
        Scheme::S3 => {
            let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry());
            Arc::new(builder.with_http_connector(signed).build()?)
        }
        Scheme::Google => {
            let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
            Arc::new(builder.with_retry(retry()).with_http_connector(signed).build()?)
        }
        Scheme::Azure => {
            let builder = MicrosoftAzureBuilder::from_env().with_container_name(bucket);
            Arc::new(builder.with_retry(retry()).with_http_connector(signed).build()?)
        }
        Scheme::Web => {
            let query = address.query.as_ref().map(|q| format!("/?{q}")).unwrap_or_default();
            let builder = HttpBuilder::new().with_url(format!("{}{query}", address.root));
            let options = ClientOptions::new().with_allow_http(true);
            let builder = builder.with_client_options(options).with_retry(retry());
            Arc::new(builder.with_http_connector(Connector { redirects: true }).build()?)
        }
    })
}
