//! A scenario as a list of steps, and the facts that they plant.

use super::{Action, ActionKind, Expect, Fact, Nature};

/// A prompt as the user types it.
#[derive(Clone, Debug)]
pub struct Prompt {
    pub text: String,
    pub image: bool,
}

#[derive(Clone, Debug)]
pub enum Step {
    /// A prompt and the model's answers, each a list of actions.
    Turn { prompt: Prompt, answers: Vec<Vec<Action>> },
    /// The user compacts; the model answers with this summary.
    Compact { summary: String },
    /// The user takes the latest turn back.
    Rewind,
    /// The user interrupts a command while it runs.
    Interrupt { prompt: Prompt, action: Action },
    /// The client dies while a command runs; nothing comes after it.
    Crash { prompt: Prompt, action: Action },
    /// The model's service refuses the turn for a usage limit.
    Limit { prompt: Prompt },
}

/// A whole session.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: &'static str,
    pub about: &'static str,
    pub steps: Vec<Step>,
    pub facts: Vec<Fact>,
    expect: Expect,
    keys: usize,
}

impl Scenario {
    pub fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, steps: Vec::new(), facts: Vec::new(), expect: Expect::Live, keys: 0 }
    }

    /// Says what becomes of what follows.
    #[must_use]
    pub fn expecting(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }

    #[must_use]
    pub fn with_turn(self, answers: &[&[ActionKind]]) -> Self {
        self.push_turn(false, answers)
    }

    #[must_use]
    pub fn with_image_turn(self, answers: &[&[ActionKind]]) -> Self {
        self.push_turn(true, answers)
    }

    fn push_turn(mut self, image: bool, answers: &[&[ActionKind]]) -> Self {
        let prompt = self.make_prompt(image);
        let mut made = Vec::new();
        for answer in answers {
            let before = self.expect;
            if answer.iter().filter(|what| what.is_call()).count() > 1 && before == Expect::Live {
                self.expect = Expect::Tolerated;
            }
            let actions = answer.iter().map(|what| self.make_action(*what)).collect();
            made.push(actions);
            self.expect = before;
        }
        self.steps.push(Step::Turn { prompt, answers: made });
        self
    }

    #[must_use]
    pub fn with_compaction(mut self) -> Self {
        let summary = self.plant_fact("compaction: summary", Nature::Summary, Expect::Live);
        self.steps.push(Step::Compact { summary });
        self
    }

    /// A turn that is taken back again.
    #[must_use]
    pub fn with_rewound_turn(mut self, answers: &[&[ActionKind]]) -> Self {
        let before = std::mem::replace(&mut self.expect, Expect::Ghost);
        let mut scenario = self.with_turn(answers);
        scenario.expect = before;
        scenario.steps.push(Step::Rewind);
        scenario
    }

    #[must_use]
    pub fn with_interrupt(mut self) -> Self {
        let prompt = self.make_prompt(false);
        let action = self.endless_action("interrupted run: command", self.expect);
        self.steps.push(Step::Interrupt { prompt, action });
        self
    }

    #[must_use]
    pub fn with_crash(mut self) -> Self {
        let prompt = self.make_prompt(false);
        // Some clients drop a call that never got an outcome, others answer it themselves.
        let action = self.endless_action("run at the crash: command", Expect::Tolerated);
        self.steps.push(Step::Crash { prompt, action });
        self
    }

    fn endless_action(&mut self, about: &str, expect: Expect) -> Action {
        let key = self.next_key();
        let word = self.plant_fact(about, Nature::Call, expect);
        Action { what: ActionKind::Run, key, words: vec![word] }
    }

    #[must_use]
    pub fn with_usage_limit(mut self) -> Self {
        let prompt = self.make_prompt(false);
        self.steps.push(Step::Limit { prompt });
        self
    }

    fn make_prompt(&mut self, image: bool) -> Prompt {
        let word = self.plant_fact("prompt", Nature::Prompt, self.expect);
        Prompt { text: format!("Please look into {word} next."), image }
    }

    fn make_action(&mut self, what: ActionKind) -> Action {
        // An edit changes what the read before it showed.
        let key = if what == ActionKind::Edit { format!("k{:02}", self.keys) } else { self.next_key() };
        let expect = self.expect;
        let facts = what.planted_facts().iter();
        let words =
            facts.map(|(about, nature)| self.plant_fact(about, *nature, what.expect_fact(*nature, expect))).collect();
        Action { what, key, words }
    }

    fn next_key(&mut self) -> String {
        self.keys += 1;
        format!("k{:02}", self.keys)
    }

    fn plant_fact(&mut self, about: &str, nature: Nature, expect: Expect) -> String {
        // Of fixed width, so that no word is the beginning of another.
        let mut word = format!("Fact{:03}Word", self.facts.len() + 1);
        if about == ActionKind::SayUnicode.planted_facts()[0].0 {
            word.push_str("·naïve·«日本語»·🦀·\"it’s\"");
        }
        self.facts.push(Fact { word: word.clone(), about: about.to_owned(), nature, expect });
        word
    }

    /// All actions, with those of interrupted turns.
    pub(super) fn actions(&self) -> impl Iterator<Item = &Action> {
        self.steps.iter().flat_map(|step| match step {
            Step::Turn { answers, .. } => answers.iter().flatten().collect::<Vec<_>>(),
            Step::Interrupt { action, .. } | Step::Crash { action, .. } => vec![action],
            _ => Vec::new(),
        })
    }
}
