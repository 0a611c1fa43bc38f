//! Facts about the session as a whole, which every record of a log repeats.

use carryover_core::transcript::Fact;

/// The facts of the lines before, so that they are not reported again and again.
#[derive(Default)]
pub struct SeenFacts {
    folder: String,
    branch: String,
    version: String,
    model: String,
}

impl SeenFacts {
    /// Tells of the envelope of a record what is other than before.
    pub fn add_changed(
        &mut self,
        facts: &mut Vec<Fact>,
        folder: Option<&str>,
        branch: Option<&str>,
        version: Option<&str>,
    ) {
        if let Some(folder) = folder.filter(|folder| update_if_new(&mut self.folder, folder)) {
            facts.push(Fact::Project(folder.into()));
        }
        if let Some(branch) = branch.filter(|branch| update_if_new(&mut self.branch, branch)) {
            facts.push(Fact::Branch(branch.to_owned()));
        }
        if let Some(version) = version.filter(|version| update_if_new(&mut self.version, version)) {
            facts.push(Fact::ClientVersion(version.to_owned()));
        }
    }

    /// The model, where it is another one than before.
    pub fn changed_model(&mut self, model: Option<&str>) -> Option<Fact> {
        let model = model.filter(|model| update_if_new(&mut self.model, model))?;
        Some(Fact::Model(model.to_owned()))
    }
}

/// Keeps a value and tells whether it is another than before.
pub fn update_if_new(kept: &mut String, value: &str) -> bool {
    let news = kept != value;
    if news {
        value.clone_into(kept);
    }
    news
}
