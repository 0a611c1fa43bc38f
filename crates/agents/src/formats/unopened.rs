//! Files and folders of a store that could not be looked at: each costs its own sessions, and none of them in silence.

use std::io;
use std::path::Path;

use super::file;
use crate::AgentError;

/// What could not be looked at, which is told after everything else was.
#[derive(Default)]
pub struct Unopened {
    first: Option<AgentError>,
    more: usize,
}

impl Unopened {
    /// What a look found; what failed is kept. A file that is gone, or no folder, was never there to be seen.
    pub fn take<T>(&mut self, looked: Result<T, impl Into<AgentError>>) -> Option<T> {
        let error: AgentError = match looked {
            Ok(found) => return Some(found),
            Err(error) => error.into(),
        };
        let is_gone =
            |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        match error {
            AgentError::Io(error) if is_gone(&error) => {}
            _ if self.first.is_some() => self.more += 1,
            error => self.first = Some(error),
        }
        None
    }

    /// Whether a file can be read; what stands there otherwise is kept.
    pub fn passes(&mut self, path: &Path) -> bool {
        self.take(file::check(path)).is_some()
    }

    /// How the listing of a store ends.
    pub fn end(self) -> Result<(), AgentError> {
        match self {
            Self { first: None, .. } => Ok(()),
            Self { first: Some(first), more: 0 } => Err(first),
            Self { first: Some(first), more } => Err(AgentError::Several { first: Box::new(first), more }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_is_no_failure_and_the_rest_is_counted() {
        let error = |kind| Err::<(), _>(io::Error::new(kind, "no"));
        let mut unopened = Unopened::default();
        assert_eq!(unopened.take(Ok::<_, io::Error>(7)), Some(7));
        unopened.take(error(io::ErrorKind::NotFound));
        assert!(Unopened::default().end().is_ok());
        unopened.take(error(io::ErrorKind::PermissionDenied));
        unopened.take(error(io::ErrorKind::PermissionDenied));
        assert_eq!(unopened.end().unwrap_err().to_string(), "no, and 1 more could not be opened");
    }
}
