//! Files and folders of a store that could not be looked at: each costs its own sessions, and none of them in silence.

use std::io;
use std::path::Path;

use super::file;
use crate::AgentError;

/// Files that could not be looked at, which are told after everything else was.
#[derive(Default)]
pub struct UnopenedFiles {
    first: Option<AgentError>,
    more: usize,
}

impl UnopenedFiles {
    /// The result of a look; a failure is kept. A file that is gone, or no folder, was never there to be seen.
    pub fn ok_or_note<T>(&mut self, looked: Result<T, impl Into<AgentError>>) -> Option<T> {
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
    pub fn can_read(&mut self, path: &Path) -> bool {
        self.ok_or_note(file::check_regular(path)).is_some()
    }

    /// How the listing of a store ends.
    pub fn into_result(self) -> Result<(), AgentError> {
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
        let mut unopened = UnopenedFiles::default();
        assert_eq!(unopened.ok_or_note(Ok::<_, io::Error>(7)), Some(7));
        unopened.ok_or_note(error(io::ErrorKind::NotFound));
        assert!(UnopenedFiles::default().into_result().is_ok());
        unopened.ok_or_note(error(io::ErrorKind::PermissionDenied));
        unopened.ok_or_note(error(io::ErrorKind::PermissionDenied));
        assert_eq!(unopened.into_result().unwrap_err().to_string(), "no, and 1 more could not be opened");
    }
}
