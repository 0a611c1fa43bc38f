//! What every record of a log repeats of the session as a whole.

use carryover_core::transcript::Fact;

/// What the lines before said, so that it is not said again and again.
#[derive(Default)]
pub struct Repeated {
    folder: String,
    branch: String,
    version: String,
    model: String,
}

impl Repeated {
    /// Tells of the envelope of a record what is other than before.
    pub fn tell(&mut self, facts: &mut Vec<Fact>, folder: Option<&str>, branch: Option<&str>, version: Option<&str>) {
        if let Some(folder) = folder.filter(|folder| is_news(&mut self.folder, folder)) {
            facts.push(Fact::Project(folder.into()));
        }
        if let Some(branch) = branch.filter(|branch| is_news(&mut self.branch, branch)) {
            facts.push(Fact::Branch(branch.to_owned()));
        }
        if let Some(version) = version.filter(|version| is_news(&mut self.version, version)) {
            facts.push(Fact::ClientVersion(version.to_owned()));
        }
    }

    /// The model, where it is another one than before.
    pub fn model(&mut self, model: Option<&str>) -> Option<Fact> {
        let model = model.filter(|model| is_news(&mut self.model, model))?;
        Some(Fact::Model(model.to_owned()))
    }
}

/// Keeps a value and tells whether it is another than before.
pub fn is_news(kept: &mut String, value: &str) -> bool {
    let news = kept != value;
    if news {
        value.clone_into(kept);
    }
    news
}
