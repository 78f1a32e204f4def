//! Addresses of objects.

use std::path::{Path, PathBuf};

use object_store::path::Path as Key;

use crate::error::{DataError, Result};

/// The kinds of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Amazon S3, and what speaks its protocol.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
    /// A web server.
    Web,
}

/// Where an object or a folder of objects is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) scheme: Scheme,
    /// The scheme and the bucket: `s3://bucket`; of a web server its scheme and name.
    pub(crate) root: String,
    /// What follows it, without the slash between them.
    pub(crate) key: String,
    /// The query of a web address, which may be a signature.
    pub(crate) query: Option<String>,
}

/// Whether a path is the address of an object: `SCHEME://…`.
pub(crate) fn is_address(path: &Path) -> bool {
    let scheme = |text: &str| text.split_once("://").map(|(scheme, _)| scheme.to_owned());
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    path.to_str().and_then(scheme).is_some_and(|s| !s.is_empty() && s.chars().all(word))
}

/// The address without its query, for names and messages.
pub(crate) fn without_query(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) if text.starts_with("http") && is_address(path) => {
            PathBuf::from(text.split(['?', '#']).next().unwrap_or(text))
        }
        _ => path.to_owned(),
    }
}

impl Address {
    /// Reads an address.
    pub(crate) fn parse(path: &Path) -> Result<Self> {
        let wrong = |problem| DataError::BadAddress { path: without_query(path), problem };
        let text = path.to_str().unwrap_or_default();
        let (name, rest) = text.split_once("://").unwrap_or_default();
        let scheme = match name {
            "s3" => Scheme::S3,
            "gs" => Scheme::Google,
            "az" => Scheme::Azure,
            "http" | "https" => Scheme::Web,
            _ => return Err(wrong("expected s3://, gs://, az://, https:// or http://")),
        };
        let (rest, query) = match (scheme, rest.split('#').next().unwrap_or(rest)) {
            (Scheme::Web, rest) => match rest.split_once('?') {
                Some((rest, query)) => (rest, Some(query.to_owned())),
                None => (rest, None),
            },
            _ => (rest, None),
        };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        match bucket.is_empty() {
            true => Err(wrong("expected a bucket or a host after `://`")),
            false => {
                let root = format!("{name}://{bucket}");
                Ok(Address { scheme, root, key: key.to_owned(), query })
            }
        }
    }

    /// The bucket or the container.
    pub(crate) fn bucket(&self) -> &str {
        self.root.split_once("://").map_or("", |(_, bucket)| bucket)
    }

    /// The address of another key of the same store.
    pub(crate) fn at(&self, key: &str) -> PathBuf {
        PathBuf::from(format!("{}/{key}", self.root))
    }

    /// The address without its query.
    pub(crate) fn path(&self) -> PathBuf {
        self.at(&self.key)
    }

    /// The name of the object in its store. Keys are taken as they are written, web addresses have
    /// their escapes.
    pub(crate) fn location(&self) -> Result<Key> {
        let key = match self.scheme {
            Scheme::Web => Key::from_url_path(&self.key),
            _ => Key::parse(&self.key),
        };
        // `parse` takes off slashes at both ends: that would be another object.
        let same = |key: &Key| self.scheme == Scheme::Web || key.as_ref() == self.key;
        let key = key.ok().filter(|key| !key.as_ref().is_empty() && same(key));
        let problem = "expected the name of an object, without empty parts, `.` and `..`";
        key.ok_or_else(|| DataError::BadAddress { path: self.path(), problem })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Address {
        Address::parse(Path::new(text)).unwrap()
    }

    #[test]
    fn parts() {
        let s3 = parsed("s3://bucket/a=x%20y/b?.csv");
        assert_eq!(
            (s3.scheme, s3.bucket(), s3.key.as_str()),
            (Scheme::S3, "bucket", "a=x%20y/b?.csv")
        );
        assert_eq!(s3.location().unwrap().as_ref(), "a=x%20y/b?.csv");
        let web = parsed("https://host:80/x%20y.csv?sig=1#z");
        assert_eq!((web.root.as_str(), web.query.as_deref()), ("https://host:80", Some("sig=1")));
        assert_eq!(web.path(), Path::new("https://host:80/x%20y.csv"));
        assert_eq!(web.location().unwrap().as_ref(), "x y.csv");
        assert_eq!(parsed("gs://bucket").key, "");
    }

    #[test]
    fn what_is_no_address() {
        for text in ["a.csv", "/a://b", "://a", "a b://c"] {
            assert!(!is_address(Path::new(text)), "{text}");
        }
        for text in ["ftp://a/b", "s3:///key", "https://"] {
            assert!(is_address(Path::new(text)), "{text}");
            assert!(Address::parse(Path::new(text)).is_err(), "{text}");
        }
        for text in ["s3://bucket/", "s3://bucket/a/../b", "s3://bucket//a"] {
            assert!(parsed(text).location().is_err(), "{text}");
        }
        assert_eq!(without_query(Path::new("http://h/a.csv?k")), Path::new("http://h/a.csv"));
        assert_eq!(without_query(Path::new("a?b.csv")), Path::new("a?b.csv"));
    }
}
