//! What a remote says to a push.

/// The answer to the one branch that was pushed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PushAnswer {
    Taken,
    /// It has something else than what the commit is on top of: somebody was quicker.
    MovedOn,
    Refused(String),
}

/// Reasons that mean the same as a branch that has moved on, in the words of git and of services.
const MOVED_ON: &[&str] = &[
    "fetch first",
    "non-fast-forward",
    "stale info",
    "cannot lock ref",
    "failed to update ref",
    "reference already exists",
    "incorrect old value",
    "failed to lock",
    "already exists",
    "needs force",
];

/// Reads what `push --porcelain` writes; none where it says nothing of the branch, as when nobody answered.
pub(super) fn parse_push(output: &str) -> Option<PushAnswer> {
    let line = output.lines().find(|line| line.contains(":refs/heads/"))?;
    if !line.starts_with('!') {
        return Some(PushAnswer::Taken);
    }
    let reason = line.rsplit('\t').next().unwrap_or_default();
    if MOVED_ON.iter().any(|words| reason.contains(words)) {
        return Some(PushAnswer::MovedOn);
    }
    Some(PushAnswer::Refused(carryover_core::plain::one_line(reason, 160)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quicker_writer_is_told_from_a_refusal() {
        let parse = |line: &str| parse_push(&format!("To ssh://example\n{line}\nDone\n"));
        assert_eq!(parse("*\t1234:refs/heads/carryover\t[new branch]"), Some(PushAnswer::Taken));
        assert_eq!(parse(" \t1234:refs/heads/carryover\t1..2"), Some(PushAnswer::Taken));
        for reason in [
            "[rejected] (fetch first)",
            "[rejected] (non-fast-forward)",
            "[remote rejected] (cannot lock ref 'refs/heads/carryover': is at 1 but expected 2)",
            "[remote rejected] (failed to update ref)",
        ] {
            assert_eq!(parse(&format!("!\t1234:refs/heads/carryover\t{reason}")), Some(PushAnswer::MovedOn));
        }
        let refused = parse("!\t1234:refs/heads/carryover\t[remote rejected] (pre-receive hook declined)");
        assert_eq!(refused, Some(PushAnswer::Refused("[remote rejected] (pre-receive hook declined)".to_owned())));
        assert_eq!(parse_push(""), None);
    }
}
