//! How words are understood: what of a message was said, its sentences, their turns of phrase, and what they do.
//!
//! A sentence is split into words once (`wording`), and every word is looked up once (`lexicon`). Turns of phrase (`cues`)
//! and how it is built (`choice`) tell whether it settles something; how it stands to the task (`request`, `turn`) tells
//! whether it asks for something else.

pub(in crate::distill) mod choice;
pub(in crate::distill) mod cues;
pub(in crate::distill) mod dump;
pub(in crate::distill) mod heading;
mod leave;
mod letters;
mod lexicon;
mod marks;
mod needs;
mod phrasebook;
mod phrases;
pub(in crate::distill) mod prose;
pub(in crate::distill) mod request;
pub(in crate::distill) mod sayings;
mod sentences;
pub(in crate::distill) mod turn;
pub(in crate::distill) mod vocabulary;
pub(in crate::distill) mod wording;
pub(in crate::distill) mod words;

use self::choice::{pick, state, swap, verdict};
use super::{Voice, decisions, next, questions};
