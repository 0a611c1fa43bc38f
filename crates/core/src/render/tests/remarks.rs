use super::options;
use super::samples::{brief, story, workspace};
use crate::distill::{Item, Voice};
use crate::render::resume_prompt;
use crate::tokens::Counter;

const HEADING: &str = "## What the agent said on the way";

fn rendered(remarks: usize, budget: u64) -> String {
    let mut brief = brief();
    let remark = |at: usize| Item {
        text: format!("Case {at} is slow, since it copies every line of the file twice before it looks at it."),
        voice: Voice::Agent,
        at: None,
        cites: Vec::new(),
    };
    brief.remarks = (0..remarks).map(remark).collect();
    resume_prompt(&brief, &story(200), &workspace(), &options(budget, Counter::Exact)).unwrap().text
}

#[test]
fn remarks_leave_most_of_the_room_to_the_conversation() {
    let text = rendered(40, 4_000);
    let told = text.lines().filter(|line| line.starts_with("- Case ")).count();
    assert!((1..40).contains(&told), "{told}");
    assert!(text.contains(&format!("{} words of the agent", 40 - told)), "{text}");
    assert!(text.contains("## Recent conversation"));
    // The newest first.
    assert!(text.find("Case 39").unwrap() < text.find("Case 38").unwrap());
}

#[test]
fn without_remarks_there_is_no_heading() {
    assert!(rendered(1, 32_000).contains(HEADING));
    assert!(!rendered(0, 32_000).contains(HEADING));
}
