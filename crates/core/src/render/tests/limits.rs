use proptest::prelude::*;

use super::samples::{brief_of, hostile_text};
use super::{SHOW, handoff_of, unbroken, within_limits};
use crate::render::{CONTEXT_CHARS, ContextOptions, Protocol, block, context_block};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn limits_hold_on_hostile_input(texts in proptest::collection::vec(hostile_text(), 1..40)) {
        let brief = brief_of(&texts);
        for protocol in [Protocol::Ask, Protocol::Brief, Protocol::Silent] {
            let text = handoff_of(&brief, protocol);
            within_limits(&text);
            unbroken(&text);
            prop_assert_eq!(handoff_of(&brief, protocol), text);
        }
        let block = context_block(&brief, &ContextOptions { agent_name: &texts[0], show_command: SHOW });
        prop_assert!(block.chars().count() <= CONTEXT_CHARS);
        prop_assert!(block::find(&block::insert("x", &block).unwrap()).unwrap().is_some());
    }
}
