//! Addresses of files and folders, as the editor writes them.

use std::path::PathBuf;

use super::wire::WireUri;

impl WireUri {
    /// The path on this machine; `None` where it is elsewhere.
    pub(super) fn local_path(&self) -> Option<String> {
        match self {
            Self::Text(text) => local_path(text),
            Self::Parts { scheme, path, authority } => {
                let is_here = scheme == "file" && authority.as_deref().unwrap_or_default().is_empty();
                is_here.then(|| system_path(path.clone()))
            }
        }
    }

    /// The path where it is here, else the address.
    pub(super) fn to_words(&self) -> String {
        self.local_path().unwrap_or_else(|| match self {
            Self::Text(text) => text.clone(),
            Self::Parts { scheme, path, authority } => {
                format!("{scheme}://{}{path}", authority.as_deref().unwrap_or_default())
            }
        })
    }
}

/// The path that an address names on this machine. A name on another one, by whatever scheme, is none.
pub(super) fn local_path(address: &str) -> Option<String> {
    let path = address.strip_prefix("file://")?;
    path.starts_with('/').then(|| system_path(decode_percents(path)))
}

/// The same as a path.
pub(super) fn local_path_buf(address: &str) -> Option<PathBuf> {
    local_path(address).map(PathBuf::from)
}

/// On Windows, a drive stands behind the first slash.
fn system_path(path: String) -> String {
    let bytes = path.as_bytes();
    if bytes.len() > 2 && bytes[1].is_ascii_alphabetic() && bytes[2] == b':' {
        return path[1..].replace('/', "\\");
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { path } else { trimmed.to_owned() }
}

/// Undoes the escapes of an address. What is no escape, or no text, stays.
fn decode_percents(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let code = others.get(..2).filter(|hex| *first == b'%' && hex.iter().all(u8::is_ascii_hexdigit));
        let decoded = code.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { &others[2..] } else { others };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_are_paths() {
        let path = |address| local_path(address).unwrap();
        assert_eq!(path("file:///home/dev/my%20app/%C3%BC/"), "/home/dev/my app/ü");
        assert_eq!(path("file:///c%3A/Users/dev"), "c:\\Users\\dev");
        assert_eq!(path("file:///a%zz%e4"), "/a%zz%e4");
        assert_eq!(path("file:///"), "/");
    }

    #[test]
    fn what_is_on_another_machine_is_no_path_here() {
        for address in ["vscode-remote://ssh-remote%2Bbox/home/dev", "file://server/share", "untitled:a", "", "/a"] {
            assert_eq!(local_path(address), None, "{address}");
        }
        let remote: WireUri =
            serde_json::from_str(r#"{"scheme":"vscode-remote","authority":"wsl+u","path":"/home/dev"}"#).unwrap();
        assert_eq!((remote.local_path(), remote.to_words()), (None, "vscode-remote://wsl+u/home/dev".to_owned()));
    }
}
