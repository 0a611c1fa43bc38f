//! Sessions by words: what a person remembers of one.

use carryover_agents::FoundSession;

use crate::context::Context;
use crate::sessions::glance::GlanceCache;

/// Looks for words in what a listing tells of sessions, and in the prompts that are remembered of them.
pub(crate) struct WordMatcher {
    words: Vec<String>,
    glances: GlanceCache,
}

impl WordMatcher {
    pub(crate) fn new<'w>(context: &Context, words: impl IntoIterator<Item = &'w str>) -> Self {
        let words: Vec<String> = words.into_iter().map(str::to_lowercase).collect();
        let glances = if words.is_empty() { GlanceCache::default() } else { GlanceCache::load(context) };
        Self { words, glances }
    }

    /// Whether each word stands in its id, or in what `matches_text` looks at.
    pub(crate) fn matches(&self, found: &FoundSession) -> bool {
        let id = found.id.0.to_lowercase();
        self.words.iter().all(|word| id.contains(word)) || self.matches_text(found)
    }

    /// Whether each word stands in its title, project, branch, first or last prompt, in big letters or small ones.
    pub(crate) fn matches_text(&self, found: &FoundSession) -> bool {
        let project = found.project.as_ref().map(|project| project.display().to_string());
        let told = [found.title.clone(), project, found.branch.clone()];
        let mut fields: Vec<String> = told.into_iter().flatten().map(|field| field.to_lowercase()).collect();
        let holds = |fields: &[String]| self.words.iter().all(|word| fields.iter().any(|field| field.contains(word)));
        if holds(&fields) {
            return true;
        }
        // Last, for it costs a look at the session's file.
        let Some(glance) = self.glances.find(&found.source) else { return false };
        let prompts = [glance.first_prompt, glance.last_prompt];
        fields.extend(prompts.into_iter().flatten().map(|prompt| prompt.to_lowercase()));
        holds(&fields)
    }
}
