//! Objects of stores, by addresses: `s3://`, `gs://`, `az://`, `https://` and `http://`.
//!
//! The `object_store` crate speaks with the stores; the HTTP client is that of downloads. All of it is
//! blocking: a request runs on the thread that asks ([`store::wait`]), and what is fetched ahead on
//! threads of its own ([`fetch`]).
//!
//! An object is read in blocks of 256 KiB, in requests of at most 8 MiB. What has come is kept in one
//! temporary file for all objects ([`cache`]), so that a second pass fetches nothing, as long as it
//! fits. A [`Plan`] says which parts of an object will be read and in which order.

mod address;
mod cache;
mod connector;
mod fetch;
mod list;
mod object;
mod plan;
mod store;
mod trouble;
mod upload;

pub(crate) use address::{Address, Scheme, is_address, without_query};
pub(crate) use fetch::{AHEAD, each};
pub(crate) use list::list;
pub(crate) use object::{Found, Object, ObjectReader, find};
pub(crate) use plan::Plan;
pub(crate) use upload::{abandon, check as check_upload, upload};
