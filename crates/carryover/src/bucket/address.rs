//! Addresses of places, as users write them and as objects in them are named.

use std::path::PathBuf;

use carryover_core::plain::one_line;
use carryover_engine::context::Context;
use carryover_engine::share::bucket::Bucket;
use object_store::ObjectStoreScheme;
use object_store::path::Path;
use url::Url;

const MAX_SHOWN_CHARS: usize = 160;
/// What stands before an address that git takes.
const GIT_PREFIX: &str = "git+";

/// A place for objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Folder(PathBuf),
    Service(ServiceAddress),
    /// An address that git takes.
    Git(String),
}

/// A service, and the part of it that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServiceAddress {
    pub(super) service: Service,
    /// Names the bucket, and more than that where it is one of the web.
    pub(super) url: String,
    pub(super) prefix: Path,
    /// The address as it may be shown.
    pub(super) place: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    S3,
    Gcs,
    Azure,
}

/// An address that names no place.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address} is no address of a place: {reason}")]
pub(crate) struct AddressError {
    address: String,
    reason: &'static str,
}

impl Address {
    pub(crate) fn parse(context: &Context, text: &str) -> Result<Self, AddressError> {
        let error = |reason| AddressError { address: hide_secrets(text), reason };
        if let Some(remote) = text.strip_prefix(GIT_PREFIX) {
            return parse_git(context, remote).map_err(error);
        }
        if let Some(rest) = text.strip_prefix("file://") {
            return parse_file(rest).map_err(error);
        }
        if text.contains("://") {
            return parse_service(text).map(Self::Service).map_err(error);
        }
        if text.is_empty() {
            return Err(error("it is empty"));
        }
        Ok(Self::Folder(match text.strip_prefix("~/") {
            Some(below) => context.env.home.join(below),
            None => context.cwd.join(text),
        }))
    }

    /// Whether a text is an address of a place, and no path.
    pub(crate) fn is_address(text: &str) -> bool {
        text.contains("://") || text.starts_with(GIT_PREFIX)
    }
}

/// The address of an object, which `split_object` takes apart.
pub(crate) fn join_object(bucket: &dyn Bucket, key: &str) -> String {
    format!("{}/{key}", bucket.place())
}

/// The place that an object's address names, and the object in it.
pub(crate) fn split_object(address: &str) -> Result<(&str, &str), AddressError> {
    let error = || AddressError { address: hide_secrets(address), reason: "it names no object" };
    let (place, key) = address.rsplit_once('/').ok_or_else(error)?;
    if key.is_empty() || place.ends_with('/') || place.ends_with(':') { Err(error()) } else { Ok((place, key)) }
}

/// An address as it may be shown: without a query and without a password, either of which may be a secret.
pub(crate) fn hide_secrets(address: &str) -> String {
    let shown = address.split(['?', '#']).next().unwrap_or_default();
    let shown = shown.split_once("://").and_then(|(scheme, rest)| {
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = authority.rsplit_once('@')?;
        user.contains(':').then(|| format!("{scheme}://{host}{path}"))
    });
    let plain = address.split(['?', '#']).next().unwrap_or_default();
    one_line(shown.as_deref().unwrap_or(plain), MAX_SHOWN_CHARS)
}

fn parse_git(context: &Context, remote: &str) -> Result<Address, &'static str> {
    // Behind a dash, git would look for an option; with `::`, for a program of that name.
    if remote.is_empty() || remote.starts_with('-') || remote.contains("::") {
        return Err("git takes no such address");
    }
    if remote.contains(['?', '#']) || hide_secrets(remote) != one_line(remote, MAX_SHOWN_CHARS) {
        return Err("it has a password in it, which belongs into a credential helper of git");
    }
    let remote = remote.trim_end_matches('/');
    // Git takes a path from where it runs, which is not where the user is.
    let is_path = !remote.contains(':');
    Ok(Address::Git(if is_path { context.cwd.join(remote).display().to_string() } else { remote.to_owned() }))
}

fn parse_file(rest: &str) -> Result<Address, &'static str> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = decode_percents(path).ok_or("it is not encoded as addresses are")?;
    // `file:///C:/team` names a drive.
    let is_drive = path.as_bytes().get(2) == Some(&b':');
    let path = PathBuf::from(if is_drive { &path[1..] } else { &path });
    if path.is_absolute() { Ok(Address::Folder(path)) } else { Err("it names no folder") }
}

fn parse_service(text: &str) -> Result<ServiceAddress, &'static str> {
    let url = Url::parse(text).map_err(|_| "it is not written as addresses are")?;
    if url.password().is_some() {
        return Err("it has a password in it, which belongs into the environment");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it has a query, and what is a key belongs into the environment");
    }
    let (scheme, prefix) = ObjectStoreScheme::parse(&url).map_err(|_| "carryover knows no such service")?;
    let service = match scheme {
        ObjectStoreScheme::AmazonS3 => Service::S3,
        ObjectStoreScheme::GoogleCloudStorage => Service::Gcs,
        ObjectStoreScheme::MicrosoftAzure => Service::Azure,
        _ => return Err("carryover knows no such service"),
    };
    let place = text.trim_end_matches('/').to_owned();
    Ok(ServiceAddress { service, url: url.to_string(), prefix, place })
}

fn decode_percents(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
