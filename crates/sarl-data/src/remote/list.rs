//! Folders of objects.

use std::sync::Arc;

use futures_util::TryStreamExt;
use object_store::path::Path as Key;

use super::address::{Address, Scheme};
use super::object::Object;
use super::store::{store, wait};
use super::trouble::Trouble;
use crate::error::{DataError, Result};

/// All objects whose names begin with a folder (`a/b`; nothing for all of the bucket), with what
/// follows it in their names.
pub(crate) fn list(address: &Address, folder: &str) -> Result<Vec<(String, Arc<Object>)>> {
    let path = address.at(folder);
    if address.scheme == Scheme::Web {
        let problem = "a web server has no folders to list; give the address of a file";
        return Err(DataError::BadAddress { path, problem });
    }
    let problem = "expected a folder without empty parts, `.` and `..`";
    let prefix =
        Key::parse(folder).map_err(|_| DataError::BadAddress { path: path.clone(), problem })?;
    let found = || -> Result<Vec<_>, Trouble> {
        let store = store(address)?;
        let within = Some(&prefix).filter(|prefix| !prefix.as_ref().is_empty());
        let metas: Vec<_> = wait(async { Ok(store.list(within).try_collect().await?) })?;
        let start = within.map_or(0, |prefix| prefix.as_ref().len() + 1);
        let object = |meta: object_store::ObjectMeta| {
            let name = meta.location.as_ref().get(start..)?.to_owned();
            Some((name, Object::new(address, store.clone(), meta)))
        };
        Ok(metas.into_iter().filter_map(object).collect())
    };
    found().map_err(|trouble| trouble.reading(&path))
}
