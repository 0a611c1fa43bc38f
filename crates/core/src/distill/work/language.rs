//! The languages whose functions and classes can be named.
//!
//! A grammar is a megabyte of tables and seconds of everybody's build, so one serves JavaScript and TypeScript alike,
//! and C++ has none: its tables alone would be a sixth of the program.

use tree_sitter::Node;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Python,
    Script,
    Go,
    Java,
    C,
}

impl Language {
    /// By the ending of a name.
    pub(super) fn from_path(path: &str) -> Option<Self> {
        let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
        Some(match ending {
            "rs" => Self::Rust,
            "py" | "pyi" => Self::Python,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "tsx" => Self::Script,
            "go" => Self::Go,
            "java" => Self::Java,
            "c" | "h" => Self::C,
            _ => return None,
        })
    }

    pub(super) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Rust => tree_sitter_rust::LANGUAGE,
            Self::Python => tree_sitter_python::LANGUAGE,
            Self::Script => tree_sitter_typescript::LANGUAGE_TSX,
            Self::Go => tree_sitter_go::LANGUAGE,
            Self::Java => tree_sitter_java::LANGUAGE,
            Self::C => tree_sitter_c::LANGUAGE,
        }
        .into()
    }

    /// The mark between a class and its method.
    pub(super) fn path_separator(self) -> &'static str {
        match self {
            Self::Rust | Self::C => "::",
            _ => ".",
        }
    }

    /// The name that a node defines; other nodes define none.
    pub(super) fn defined_name<'s>(self, node: &Node<'_>, source: &'s str) -> Option<&'s str> {
        let field = match (self, node.kind()) {
            (Self::Rust, "impl_item") => "type",
            (
                Self::Rust,
                "function_item" | "struct_item" | "enum_item" | "trait_item" | "mod_item" | "macro_definition",
            )
            | (Self::Python, "function_definition" | "class_definition")
            | (
                Self::Script,
                "function_declaration"
                | "generator_function_declaration"
                | "class_declaration"
                | "abstract_class_declaration"
                | "method_definition"
                | "interface_declaration"
                | "type_alias_declaration"
                | "enum_declaration",
            )
            | (Self::Go, "function_declaration" | "method_declaration" | "type_spec")
            | (
                Self::Java,
                "class_declaration"
                | "interface_declaration"
                | "enum_declaration"
                | "record_declaration"
                | "method_declaration"
                | "constructor_declaration",
            ) => "name",
            (Self::Script, "variable_declarator") if is_function(node) => "name",
            (Self::C, "struct_specifier" | "enum_specifier") if node.child_by_field_name("body").is_some() => "name",
            (Self::C, "function_definition") => return declared_name(node, source),
            _ => return None,
        };
        node_text(&node.child_by_field_name(field)?, source)
    }
}

fn is_function(node: &Node<'_>) -> bool {
    let value = node.child_by_field_name("value");
    value.is_some_and(|value| matches!(value.kind(), "arrow_function" | "function_expression" | "function"))
}

/// The name within a declarator: behind pointers, before the parameters.
fn declared_name<'s>(node: &Node<'_>, source: &'s str) -> Option<&'s str> {
    let mut inner = node.child_by_field_name("declarator")?;
    for _ in 0..16 {
        match inner.child_by_field_name("declarator") {
            Some(next) => inner = next,
            None => break,
        }
    }
    node_text(&inner, source)
}

fn node_text<'s>(node: &Node<'_>, source: &'s str) -> Option<&'s str> {
    source.get(node.start_byte()..node.end_byte())
}
