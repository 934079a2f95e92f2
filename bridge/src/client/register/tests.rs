use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::declaration::{MirroredParam, ParamKind};

fn register(message: &str) -> Result<Declaration, RegisterFault> {
    declaration(&Object::parse(message).unwrap_or_else(|fault| panic!("{message}: {fault}")))
}

fn register_tools(tools: &str) -> Result<Declaration, RegisterFault> {
    register(&format!(r#"{{"type":"register","tools":[{tools}]}}"#))
}

/// What the reason says about one definition.
fn refusal(definition: &str) -> String {
    register_tools(definition).map(|_| ()).expect_err(definition).to_string()
}

/// A sound definition, with members added or replaced.
fn with(members: &Value) -> String {
    let mut definition = json!({"name": "pay", "inputSchema": {"type": "object"}});
    for (name, value) in members.as_object().unwrap() {
        definition[name] = value.clone();
    }
    definition.to_string()
}

// holds: text-definition
#[test]
fn what_is_accepted_stays_as_it_was_written() {
    let pay = r#"{ "inputSchema":{"type":"object","maximum":1e400,
        "default":[0.10,"\ud800",-0]},"name":"p\u0061y", "outputSchema":{}}"#;
    let message = format!(r#"{{"tools":[{pay},{}],"instructions":"a\u0062"}}"#, with(&json!({"name": "b"})));
    let declared = register(&message).unwrap();
    assert_eq!(declared.tools().iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["pay", "b"]);
    let tool = declared.tool("pay").unwrap();
    assert_eq!(tool.text.as_str(), pay.replace('\n', " "));
    assert!(tool.has_output_schema && !declared.tools()[1].has_output_schema);
    assert_eq!(declared.instructions().map(Text::as_str), Some(r#""a\u0062""#));
}

// holds: text-definition
#[test]
fn no_tools_and_no_instructions_can_be_declared() {
    let declared = register_tools("").unwrap();
    assert!(declared.tools().is_empty() && declared.instructions().is_none());
}

// holds: channel-mistyped-member
#[test]
fn a_missing_or_mistyped_envelope_member_is_refused() {
    for message in [r"{}", r#"{"tools":{}}"#, r#"{"tools":null}"#, r#"{"tools":"[]"}"#, r#"{"instructions":"a"}"#] {
        assert_eq!(register(message), Err(RegisterFault::Tools), "{message}");
    }
    for words in ["null", "1", "[]", "{}", "true"] {
        let message = format!(r#"{{"tools":[],"instructions":{words}}}"#);
        assert_eq!(register(&message), Err(RegisterFault::Instructions), "{message}");
    }
}

// holds: limit-tools, limit-instructions
#[test]
fn tools_are_limited() {
    let tools = |count| (0..count).map(|n| with(&json!({"name": format!("t{n}")}))).collect::<Vec<_>>().join(",");
    for (count, fits) in [(TOOLS - 1, true), (TOOLS, true), (TOOLS + 1, false)] {
        let result = register_tools(&tools(count));
        assert_eq!(result.is_ok(), fits, "{count}");
        assert!(fits || result == Err(RegisterFault::TooManyTools));
    }
}

// holds: limit-tools, limit-instructions
#[test]
fn instructions_are_limited_in_decoded_bytes() {
    for (words, count, fits) in [
        ("a", INSTRUCTIONS_BYTES - 1, true),
        ("a", INSTRUCTIONS_BYTES, true),
        ("a", INSTRUCTIONS_BYTES + 1, false),
        (r"\u0061", INSTRUCTIONS_BYTES, true),
        (r"\u0061", INSTRUCTIONS_BYTES + 1, false),
        ("é", INSTRUCTIONS_BYTES / 2, true),
        ("é", INSTRUCTIONS_BYTES / 2 + 1, false),
        (r"\ud83d\ude00", INSTRUCTIONS_BYTES / 4, true),
        (r"\ud83d\ude00", INSTRUCTIONS_BYTES / 4 + 1, false),
        (r"\ud800", 1, true),
        (r"\ud800", INSTRUCTIONS_BYTES, false),
    ] {
        let result = register(&format!(r#"{{"tools":[],"instructions":"{}"}}"#, words.repeat(count)));
        assert_eq!(result.is_ok(), fits, "{count} of {words}");
        assert!(fits || result == Err(RegisterFault::InstructionsTooLong));
    }
}

// holds: register-name, register-name-twice
#[test]
fn a_bad_name_is_refused_by_its_place() {
    for definition in [
        with(&json!({"name": ""})),
        with(&json!({"name": "a b"})),
        with(&json!({"name": "x".repeat(129)})),
        with(&json!({"name": null})),
        r#"{"inputSchema":{"type":"object"}}"#.into(),
        r#"{"name":"\ud800"}"#.into(),
    ] {
        let fault = register_tools(&format!("{},{definition}", with(&json!({}))));
        assert_eq!(fault, Err(RegisterFault::Tool { tool: "tool 2".into(), fault: ToolFault::Name }), "{definition}");
    }
}

// holds: register-name, register-name-twice
#[test]
fn a_repeated_name_is_refused_however_it_is_written() {
    let fault = register_tools(&with(&json!({})).replace("pay", r"p\u0061y").repeat(2).replace("}{", "},{"));
    assert_eq!(fault.unwrap_err().to_string(), "pay: the name is declared twice");
}

// holds: register-input-schema, register-known-members
#[test]
fn a_definition_that_breaks_a_rule_is_refused() {
    for definition in ["1", "null", "[]", "\"a\""] {
        assert_eq!(refusal(definition), "tool 1: the definition is no object");
    }
    assert_eq!(refusal(r#"{"name":"a"}"#), "a: inputSchema is missing");
    for (members, reason) in [
        (json!({"inputSchema": []}), "pay: inputSchema is no object"),
        (json!({"inputSchema": null}), "pay: inputSchema is no object"),
        (json!({"inputSchema": {}}), r#"pay: the type of inputSchema is not "object""#),
        (json!({"inputSchema": {"type": "Object"}}), r#"pay: the type of inputSchema is not "object""#),
        (json!({"inputSchema": {"type": ["object"]}}), r#"pay: the type of inputSchema is not "object""#),
        (json!({"inputSchema": {"type": "object", "properties": []}}), "pay: inputSchema.properties is no object"),
        (json!({"inputSchema": {"type": "object", "properties": null}}), "pay: inputSchema.properties is no object"),
        (json!({"title": 1}), "pay: title is no string"),
        (json!({"description": null}), "pay: description is no string"),
        (json!({"outputSchema": true}), "pay: outputSchema is no object"),
        (json!({"annotations": []}), "pay: annotations is no object"),
        (json!({"_meta": "a"}), "pay: _meta is no object"),
        (json!({"annotations": {"title": {}}}), "pay: annotations.title is no string"),
        (json!({"annotations": {"readOnlyHint": "true"}}), "pay: annotations.readOnlyHint is no boolean"),
        (json!({"annotations": {"destructiveHint": 1}}), "pay: annotations.destructiveHint is no boolean"),
        (json!({"annotations": {"idempotentHint": null}}), "pay: annotations.idempotentHint is no boolean"),
        (json!({"annotations": {"openWorldHint": []}}), "pay: annotations.openWorldHint is no boolean"),
        (json!({"icons": {}}), "pay: icons is no array of objects with a string src"),
        (json!({"icons": [{"src": "a"}, 1]}), "pay: icons is no array of objects with a string src"),
        (json!({"icons": [{"src": 1}]}), "pay: icons is no array of objects with a string src"),
        (json!({"icons": [{}]}), "pay: icons is no array of objects with a string src"),
    ] {
        assert_eq!(refusal(&with(&members)), reason, "{members}");
    }
}

// holds: register-known-members
#[test]
fn members_of_the_right_type_and_unknown_ones_pass() {
    let members = json!({
        "title": "Pay", "description": "", "outputSchema": {"type": "array"}, "_meta": {"a": null}, "execution": 1,
        "annotations": {"title": "", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
            "openWorldHint": false, "other": null},
        "icons": [{"src": "data:,", "mimeType": 1}], "x-mcp-header": 1,
        "inputSchema": {"type": "object", "properties": {"x-mcp-header": {"type": "null"}, "a": true}},
    });
    assert_eq!(register_tools(&with(&members)).map(|declared| declared.tools().len()), Ok(1));
    let odd = r#"{"name":"a","title":"\ud800","inputSchema":{"ty\u0070e":"\u006fbject"}}"#;
    assert_eq!(register_tools(odd).map(|declared| declared.tools().len()), Ok(1));
}

// holds: register-repeated-member
#[test]
fn a_repeated_member_is_refused_wherever_it_stands() {
    for (definition, reason) in [
        (r#"{"name":"a","name":"b"}"#, r#"b: member "name" stands twice in one object"#),
        (r#"{"name":"a","x":[{"b":1,"\u0062":2}]}"#, r#"a: member "b" stands twice in one object"#),
        (r#"{"x":{"\n\u202e":1,"\n\u202e":2}}"#, r#"tool 1: member "\n\u{202e}" stands twice in one object"#),
    ] {
        assert_eq!(refusal(definition), reason);
    }
}

// holds: register-header-value, register-header-type, register-header-place, register-header-lookalike
#[test]
fn mirrored_parameters_are_found_and_bad_ones_refused() {
    let members = json!({"inputSchema": {"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"}}}});
    let declared = register_tools(&with(&members)).unwrap();
    let region =
        MirroredParam { header: "mcp-param-region".into(), path: vec!["region".into()], kind: ParamKind::String };
    assert_eq!(declared.tools()[0].mirrored, [region]);
    let members = json!({"inputSchema": {"type": "object", "x-mcp-header": "Region"}});
    assert_eq!(refusal(&with(&members)), "pay: x-mcp-header stands where properties alone do not lead");
}

// holds: register-header-value, register-header-type, register-header-place, register-header-lookalike
#[test]
fn only_the_input_schema_is_looked_at_for_mirrored_parameters() {
    let members = json!({"x-mcp-header": 1, "outputSchema": {"x-mcp-header": 1}, "_meta": {"x-mcp-header": ""}});
    assert!(register_tools(&with(&members)).is_ok());
}

// holds: register-header-value, register-header-type, register-header-place, register-header-lookalike
#[test]
fn paths_to_mirrored_parameters_cannot_multiply_a_long_name() {
    let leaf = |n: usize| format!(r#""{n}":{{"type":"string","x-mcp-header":"h{n}"}}"#);
    let tool = |n: usize, leaves: usize| {
        let leaves: Vec<_> = (0..leaves).map(leaf).collect();
        let long = "a".repeat(100_000);
        let nested = format!(r#"{{"{long}":{{"properties":{{{}}}}}}}"#, leaves.join(","));
        format!(r#"{{"name":"t{n}","inputSchema":{{"type":"object","properties":{nested}}}}}"#)
    };
    assert!(register_tools(&tool(1, 40)).is_ok());
    for tools in [tool(1, 50), [tool(1, 25), tool(2, 25)].join(",")] {
        assert!(register_tools(&tools).unwrap_err().to_string().ends_with("x-mcp-header is used too often, too deep"));
    }
}

// holds: register-reason
#[test]
fn a_long_name_gives_way_to_the_fault() {
    let name = "n".repeat(128);
    let reason = refusal(&with(&json!({"name": name, "title": 1})));
    assert_eq!(reason, format!("{}...: title is no string", &name[..CLOSE_REASON_BYTES - 23]));
    assert_eq!(reason.len(), CLOSE_REASON_BYTES);
}

#[test]
fn a_cut_stands_between_characters() {
    for (bytes, left) in [(0, ""), (1, ""), (2, "é"), (3, "é"), (9, "éé")] {
        assert_eq!(start("éé", bytes), left);
    }
}

/// Any JSON, with many of the words that mean something in a definition.
fn any_json() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "name",
        "title",
        "annotations",
        "icons",
        "src",
        "_meta",
        "inputSchema",
        "type",
        "object",
        "string",
        "properties",
        "x-mcp-header",
        "items",
        "default",
        "$defs",
        "readOnlyHint",
        r"\ud800",
        r"\n\u202e",
        "é",
        "outputSchema",
        "",
    ]);
    let name = prop_oneof![4 => word.prop_map(str::to_owned), 1 => "[a-c]{1,3}"];
    let quoted = name.prop_map(|name| format!("\"{name}\""));
    let plain = prop::sample::select(vec!["1e400", "-0", "true", "null", "0.10", "[]", "{}", r#"{"type":"object"}"#]);
    let leaf = prop_oneof![quoted.clone(), plain.prop_map(str::to_owned)];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        let member = (quoted.clone(), inner.clone()).prop_map(|(name, value)| format!("{name}\r: {value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}\n}}", members.join(","))),
        ]
    })
}

proptest! {
    // holds: register-total, register-reason
    #[test]
    fn any_message_is_answered_with_a_short_harmless_reason(tools in any_json(), words in any_json(), tool in any_json()) {
        let bare = format!(r#"{{"tools":{tools},"instructions":{words}}}"#);
        for message in [bare, format!(r#"{{"tools":[{tool},{tools}]}}"#)] {
            if let Err(fault) = register(&message) {
                let reason = fault.to_string();
                prop_assert!(reason.len() <= CLOSE_REASON_BYTES, "{reason}");
                prop_assert!(!reason.chars().any(|c| c.is_control() || c == '\u{202e}'), "{reason:?}");
            }
        }
    }

    // holds: text-definition
    #[test]
    fn an_accepted_definition_differs_in_line_ends_alone(junk in any_json(), title in "[ -~é]{0,20}") {
        let title = serde_json::to_string(&title).unwrap();
        let definition = format!(r#"{{"name":"a","junk":{junk},"title":{title},"inputSchema":{{"type":"object"}}}}"#);
        if let Ok(declared) = register_tools(&definition) {
            prop_assert_eq!(declared.tools()[0].text.as_str(), definition.replace(['\r', '\n'], " "));
        } else {
            prop_assert!(text::repeated_member(&definition).is_some());
        }
    }

    // holds: register-reason
    #[test]
    fn every_fault_with_foreign_text_fits(name in "\\PC{0,200}|[\u{0}-\u{ff}]{0,200}", tool in "[a-zA-Z0-9_.-]{1,128}") {
        for fault in [
            ToolFault::Repeated(schema::shown(&name)),
            ToolFault::Header(HeaderFault::NotToken(schema::shown(&name))),
            ToolFault::Header(HeaderFault::Type(schema::shown(&name))),
        ] {
            let reason = RegisterFault::Tool { tool: tool.clone(), fault }.to_string();
            prop_assert!(reason.len() <= CLOSE_REASON_BYTES && reason.starts_with(start(&tool, 30)), "{reason}");
            prop_assert!(!reason.contains(char::is_control), "{reason:?}");
        }
    }
}
