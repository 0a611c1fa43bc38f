//! Fields that the editor wants to find in its records, whatever is in them: the names of collections that are empty, and of
//! flags that are off. A record without them is not opened.

use serde_json::{Map, Value, json};

/// The version of a conversation's document: that of the editor 3.12 to 3.17.
const DOCUMENT_VERSION: u64 = 17;
/// The version of a bubble, which has been the same since 2.x.
pub(super) const BUBBLE_VERSION: u64 = 3;

/// What a conversation can have of each, and does not.
const DOCUMENT_LISTS: &[&str] = &[
    "allAttachedFileCodeChunksUris",
    "capabilityContexts",
    "generatingBubbleIds",
    "newlyCreatedFiles",
    "newlyCreatedFolders",
    "queueItems",
    "subComposerIds",
    "subagentComposerIds",
    "todos",
    "trackedGitRepos",
];
const DOCUMENT_OBJECTS: &[&str] = &["codeBlockData", "conversationMap", "originalFileStates", "usageData"];
const DOCUMENT_FLAGS: &[&str] = &[
    "applied",
    "applyAgentBackendTypeRestrictions",
    "browserChipManuallyDisabled",
    "browserChipManuallyEnabled",
    "canvasPillCollapsed",
    "debugModeSuggestionUsed",
    "gitHubPromptDismissed",
    "hasUnreadMessages",
    "isApplyingWorktree",
    "isArchived",
    "isBestOfNParent",
    "isBestOfNSubcomposer",
    "isContinuationInProgress",
    "isCreatingWorktree",
    "isDraft",
    "isFileListExpanded",
    "isProject",
    "isReadingLongFile",
    "isSpec",
    "isSpecSubagentDone",
    "isUndoingWorktree",
    "pendingCreateWorktree",
    "planModeSuggestionUsed",
    "worktreeStartedReadOnly",
];
const DOCUMENT_COUNTS: &[&str] = &[
    "addedFiles",
    "contextUsagePercent",
    "filesChangedCount",
    "removedFiles",
    "stopHookLoopCount",
    "totalLinesAdded",
    "totalLinesRemoved",
];

/// The kinds of capabilities that a new conversation begins with; the first one is of tools.
const CAPABILITIES: &[u64] = &[15, 19, 33, 32, 23, 16, 24];

const HEAD_LISTS: &[&str] = &["referencedPlans", "trackedGitRepos"];
const HEAD_FLAGS: &[&str] = &[
    "hasBlockingPendingActions",
    "hasPendingPlan",
    "hasUnreadMessages",
    "isArchived",
    "isBestOfNSubcomposer",
    "isDraft",
    "isProject",
    "isSpec",
    "isWorktree",
    "worktreeStartedReadOnly",
];
const HEAD_COUNTS: &[&str] = &["filesChangedCount", "numSubComposers", "totalLinesAdded", "totalLinesRemoved"];

const BUBBLE_LISTS: &[&str] = &[
    "aiWebSearchResults",
    "allThinkingBlocks",
    "approximateLintErrors",
    "assistantSuggestedDiffs",
    "attachedCodeChunks",
    "attachedFileCodeChunksMetadataOnly",
    "attachedFolders",
    "attachedFoldersListDirResults",
    "attachedFoldersNew",
    "capabilities",
    "capabilityContexts",
    "codebaseContextChunks",
    "commits",
    "consoleLogs",
    "contextPieces",
    "cursorRules",
    "deletedFiles",
    "diffHistories",
    "diffsForCompressingFiles",
    "diffsSinceLastApply",
    "docsReferences",
    "documentationSelections",
    "editTrailContexts",
    "externalLinks",
    "fileDiffTrajectories",
    "gitDiffs",
    "humanChanges",
    "images",
    "interpreterResults",
    "knowledgeItems",
    "lints",
    "multiFileLinterErrors",
    "notepads",
    "projectLayouts",
    "pullRequests",
    "recentLocationsHistory",
    "recentlyViewedFiles",
    "relevantFiles",
    "suggestedCodeBlocks",
    "summarizedComposers",
    "todos",
    "toolResults",
    "uiElementPicked",
    "userResponsesToSuggestedCodeBlocks",
    "webReferences",
];
const BUBBLE_FLAGS: &[&str] = &[
    "attachedHumanChanges",
    "existedPreviousTerminalCommand",
    "existedSubsequentTerminalCommand",
    "isRefunded",
    "useWeb",
];

/// What can be chosen besides the words of a prompt.
const CHOSEN: &[&str] = &[
    "browserSelections",
    "composers",
    "cursorCommands",
    "cursorRules",
    "externalLinks",
    "fileSelections",
    "folderSelections",
    "gitPRDiffSelections",
    "selectedCommits",
    "selectedDocs",
    "selectedDocuments",
    "selectedImages",
    "selectedPullRequests",
    "selectedVideos",
    "selections",
    "subagentSelections",
    "terminalSelections",
];
/// What can be chosen, and is told as a list where the words mention it.
const MENTIONED_LISTS: &[&str] =
    &["consoleLogs", "diffHistory", "gitDiff", "gitDiffFromBranchToMain", "ideEditorsState", "uiElementSelections"];

fn fill(fields: &mut Map<String, Value>, names: &[&str], value: &Value) {
    fields.extend(names.iter().map(|name| ((*name).to_owned(), value.clone())));
}

/// A conversation's document with nothing in it.
pub(super) fn empty_document() -> Value {
    let mut fields = Map::new();
    fill(&mut fields, DOCUMENT_LISTS, &json!([]));
    fill(&mut fields, DOCUMENT_OBJECTS, &json!({}));
    fill(&mut fields, DOCUMENT_FLAGS, &json!(false));
    fill(&mut fields, DOCUMENT_COUNTS, &json!(0));
    let capability = |kind: &u64| {
        let data = if *kind == CAPABILITIES[0] { json!({ "bubbleDataMap": "{}" }) } else { json!({}) };
        json!({ "type": kind, "data": data })
    };
    let capabilities: Vec<Value> = CAPABILITIES.iter().map(capability).collect();
    fields.extend([
        ("_v".to_owned(), json!(DOCUMENT_VERSION)),
        ("activeCustomMode".to_owned(), Value::Null),
        ("activeTabsShouldBeReactive".to_owned(), json!(true)),
        ("agentBackend".to_owned(), json!("cursor-agent")),
        ("capabilities".to_owned(), json!(capabilities)),
        ("context".to_owned(), empty_context()),
        ("conversationState".to_owned(), json!("~")),
        ("forceMode".to_owned(), json!("edit")),
        ("hasChangedContext".to_owned(), json!(true)),
        ("hasLoaded".to_owned(), json!(true)),
        ("isAgentic".to_owned(), json!(true)),
        ("isNAL".to_owned(), json!(true)),
        ("isQueueExpanded".to_owned(), json!(true)),
        ("pendingExitedCustomMode".to_owned(), Value::Null),
        ("richText".to_owned(), json!("")),
        ("status".to_owned(), json!("completed")),
        ("subtitle".to_owned(), json!("")),
        ("text".to_owned(), json!("")),
    ]);
    Value::Object(fields)
}

/// An entry in a list of conversations, of which nothing is told yet.
pub(super) fn empty_head() -> Value {
    let mut fields = Map::new();
    fill(&mut fields, HEAD_LISTS, &json!([]));
    fill(&mut fields, HEAD_FLAGS, &json!(false));
    fill(&mut fields, HEAD_COUNTS, &json!(0));
    fields.extend([
        ("type".to_owned(), json!("head")),
        ("forceMode".to_owned(), json!("edit")),
        ("subtitle".to_owned(), json!("")),
    ]);
    Value::Object(fields)
}

/// A bubble that says nothing.
pub(super) fn empty_bubble() -> Map<String, Value> {
    let mut fields = Map::new();
    fill(&mut fields, BUBBLE_LISTS, &json!([]));
    fill(&mut fields, BUBBLE_FLAGS, &json!(false));
    fields.extend([
        ("_v".to_owned(), json!(BUBBLE_VERSION)),
        ("conversationState".to_owned(), json!("~")),
        ("requestId".to_owned(), json!("")),
        ("richText".to_owned(), json!("")),
        // It is taken for granted, also beside a thought or a call.
        ("text".to_owned(), json!("")),
        ("tokenCount".to_owned(), json!({ "inputTokens": 0, "outputTokens": 0 })),
    ]);
    fields
}

/// What was chosen beside words: nothing.
pub(super) fn empty_context() -> Value {
    let mut fields = Map::new();
    fill(&mut fields, CHOSEN, &json!([]));
    fill(&mut fields, &["extraContext", "terminalFiles"], &json!([]));
    let mut mentions = Map::new();
    fill(&mut mentions, CHOSEN, &json!({}));
    fill(&mut mentions, &["terminalFiles"], &json!({}));
    fill(&mut mentions, MENTIONED_LISTS, &json!([]));
    fields.insert("mentions".to_owned(), Value::Object(mentions));
    Value::Object(fields)
}
