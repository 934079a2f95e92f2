use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::*;

const ROOM: usize = 1 << 20;

fn read(schema: &str) -> Result<Vec<MirroredParam>, HeaderFault> {
    mirrored(schema, &mut { ROOM })
}

/// A schema with these properties.
fn properties(properties: &Json) -> String {
    json!({"type": "object", "properties": properties}).to_string()
}

fn param(header: &str, path: &[&str], kind: ParamKind) -> MirroredParam {
    let path = path.iter().map(|name| (*name).to_owned()).collect();
    MirroredParam { header: format!("mcp-param-{header}"), path, kind }
}

// holds: register-header-value, register-header-type, register-header-place, register-header-lookalike
#[test]
fn annotations_reached_through_properties_are_found() {
    let schema = r#"{"type":"object","properties":{
        "region":{"x-mcp-header":"Region","type":"string"},
        "where":{"type":"object","properties":{
            "d\u0061y":{"type":"integer","x-mcp-header":"X-Day"},
            "deep":{"properties":{"on":{"ty\u0070e":"bool\u0065an","x-mcp-header":"on"}}}}},
        "both":{"properties":{"x":{"type":"string"}},"type":"string","x-mcp-header":"both"},
        "none":true}}"#;
    let found = [
        param("region", &["region"], ParamKind::String),
        param("x-day", &["where", "day"], ParamKind::Integer),
        param("on", &["where", "deep", "on"], ParamKind::Boolean),
        param("both", &["both"], ParamKind::String),
    ];
    assert_eq!(read(schema), Ok(found.into()));
}

// holds: register-header-value, register-header-type, register-header-place, register-header-lookalike
#[test]
fn an_annotation_has_to_be_a_token_of_its_own_on_a_primitive_type() {
    let one = |header: Json, kind: Json| read(&properties(&json!({"a": {"type": kind, "x-mcp-header": header}})));
    for header in [json!(1), json!(null), json!(true), json!([]), json!(["A"]), json!({}), json!({"a": "b"})] {
        assert_eq!(one(header.clone(), json!("string")), Err(HeaderFault::NotString), "{header}");
    }
    assert_eq!(one(json!(""), json!("string")), Err(HeaderFault::Empty));
    for name in ["a b", "a:b", "é", "a\r\n", "a\u{0}", "(a)", "a/b", "\"", "@"] {
        assert_eq!(one(json!(name), json!("string")), Err(HeaderFault::NotToken(shown(name))), "{name}");
    }
    assert_eq!(one(json!("!#$%&'*+-.^_`|~09azAZ"), json!("string")).map(|found| found.len()), Ok(1));
    for kind in [json!("number"), json!("object"), json!("String"), json!(null), json!(["string"]), json!({}), json!(1)]
    {
        assert_eq!(one(json!("A"), kind.clone()), Err(HeaderFault::Type("\"A\"".into())), "{kind}");
    }
    let untyped = properties(&json!({"a": {"x-mcp-header": "A"}}));
    assert_eq!(read(&untyped), Err(HeaderFault::Type("\"A\"".into())));
    let surrogate = r#"{"properties":{"a":{"type":"string","x-mcp-header":"\ud800"}}}"#;
    assert!(matches!(read(surrogate), Err(HeaderFault::NotToken(_))));
}

// holds: register-header-value, register-header-type, register-header-place, register-header-lookalike
#[test]
fn annotations_differ_in_more_than_letter_case() {
    let two = |one, two| {
        read(&properties(&json!({
            "a": {"type": "string", "x-mcp-header": one},
            "b": {"properties": {"c": {"type": "string", "x-mcp-header": two}}},
        })))
    };
    assert_eq!(two("Region", "rEGION"), Err(HeaderFault::Twice("\"rEGION\"".into())));
    assert_eq!(two("Region", "Regions").map(|found| found.len()), Ok(2));
}

// holds: register-header-value, register-header-type, register-header-place, register-header-lookalike
#[test]
fn an_annotation_elsewhere_is_refused() {
    let leaf = json!({"type": "string", "x-mcp-header": "A"});
    let under = json!({"properties": {"a": leaf}});
    for place in [
        "items",
        "prefixItems",
        "additionalProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
        "unevaluatedProperties",
        "contentSchema",
        "unknown",
        "type",
    ] {
        for value in [&leaf, &under, &json!([leaf]), &json!([[under]]), &json!({"default": 1, "x": leaf})] {
            let inside = json!({"a": {"type": "string", (place): value}});
            for schema in [json!({(place): value}).to_string(), properties(&inside)] {
                assert_eq!(read(&schema), Err(HeaderFault::Unreached), "{schema}");
            }
        }
    }
    for map in ["patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"] {
        let schema = json!({(map): {"a": leaf}}).to_string();
        assert_eq!(read(&schema), Err(HeaderFault::Unreached), "{schema}");
    }
    for schema in [leaf.to_string(), json!({"properties": [leaf]}).to_string(), properties(&json!({"a": [leaf]}))] {
        assert_eq!(read(&schema), Err(HeaderFault::Unreached), "{schema}");
    }
}

// holds: register-header-value, register-header-type, register-header-place, register-header-lookalike
#[test]
fn names_and_data_are_no_annotations() {
    let leaf = json!({"x-mcp-header": 1, "properties": {"x-mcp-header": {"x-mcp-header": ""}}});
    for data in ["default", "const", "enum", "examples"] {
        for value in [&leaf, &json!([[leaf]]), &json!("x-mcp-header")] {
            let schema = json!({(data): value, "properties": {"a": {(data): value, "type": "string"}}});
            assert_eq!(read(&schema.to_string()), Ok(vec![]), "{schema}");
        }
    }
    for map in ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired"] {
        let schema = json!({(map): {"x-mcp-header": {"type": "string"}}}).to_string();
        assert_eq!(read(&schema), Ok(vec![]), "{schema}");
    }
    assert_eq!(read(r#"{"required":["x-mcp-header"],"title":"x-mcp-header"}"#), Ok(vec![]));
    // A property may have a keyword's name, and this one's annotation counts.
    let schema = properties(&json!({"default": {"type": "string", "x-mcp-header": "A"},
        "x-mcp-header": {"type": "string", "x-mcp-header": "B"}}));
    let found = [param("a", &["default"], ParamKind::String), param("b", &["x-mcp-header"], ParamKind::String)];
    assert_eq!(read(&schema), Ok(found.into()));
}

// holds: register-header-value, register-header-type, register-header-place, register-header-lookalike
#[test]
fn all_paths_together_cost_no_more_than_there_is_room() {
    let schema = properties(&json!({"abc": {"type": "string", "x-mcp-header": "A"}}));
    let cost = "abc".len() + size_of::<String>();
    let mut room = cost;
    assert!(mirrored(&schema, &mut room).is_ok());
    assert_eq!(room, 0);
    assert_eq!(mirrored(&schema, &mut { cost - 1 }), Err(HeaderFault::TooMuch));
}

// holds: register-total
#[test]
fn depth_and_size_are_no_danger() {
    let deep = |open: &str, close: &str| [open.repeat(100_000), "1".into(), close.repeat(100_000)].concat();
    for schema in [deep(r#"{"properties":{"a":"#, "}}"), deep("[", "]"), deep(r#"{"default":"#, "}")] {
        assert_eq!(read(&schema), Ok(vec![]));
    }
}

// holds: register-reason
#[test]
fn foreign_names_are_shown_short_and_harmless() {
    for (name, shown_as) in [
        ("Region", r#""Region""#),
        ("a\"\r\n\u{1b}\u{202e}\u{200b}", r#""a\"\r\n\u{1b}\u{202e}\u{200b}""#),
        (&"é".repeat(40), &format!("\"{}...\"", "é".repeat(15))),
    ] {
        assert_eq!(shown(name), shown_as);
    }
}

/// The same rules, written as a reader of MCP would, on a parsed value. Nothing when a constraint is broken.
fn reference(schema: &Json, path: Option<&[String]>, found: &mut Vec<MirroredParam>) -> Option<()> {
    let Json::Object(members) = schema else {
        let Json::Array(items) = schema else { return Some(()) };
        return items.iter().try_for_each(|item| reference(item, None, found));
    };
    if let Some(header) = members.get("x-mcp-header") {
        found.push(reference_param(header.as_str()?, members, path.filter(|path| !path.is_empty())?)?);
    }
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("x-mcp-header" | "default" | "const" | "enum" | "examples", _) => {}
            ("properties" | "$defs", Json::Object(map)) => {
                for (name, schema) in map {
                    let longer = path
                        .filter(|_| keyword == "properties")
                        .map(|path| [path, std::slice::from_ref(name)].concat());
                    reference(schema, longer.as_deref(), found)?;
                }
            }
            _ => reference(value, None, found)?,
        }
    }
    Some(())
}

fn reference_param(header: &str, members: &Map<String, Json>, path: &[String]) -> Option<MirroredParam> {
    let kind = match members.get("type")?.as_str()? {
        "string" => ParamKind::String,
        "integer" => ParamKind::Integer,
        "boolean" => ParamKind::Boolean,
        _ => return None,
    };
    let token = !header.is_empty() && header.chars().all(|c| c.is_ascii_alphanumeric());
    token.then(|| MirroredParam { header: format!("mcp-param-{}", header.to_lowercase()), path: path.into(), kind })
}

fn any_schema() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        1 => prop::sample::select(vec![json!(true), json!("string"), json!("A"), json!("a b"), json!({}), json!([])]),
        3 => ("[a-zA-Z]{1,2}", prop::sample::select(vec!["string", "integer", "boolean", "boolean", "number"]))
            .prop_map(|(header, kind)| json!({"x-mcp-header": header, "type": kind})),
    ];
    leaf.prop_recursive(6, 40, 4, |inner| {
        let keywords = vec!["properties", "items", "default", "$defs", "unknown", "x-mcp-header", "type", "a"];
        let map = prop::collection::hash_map(prop::sample::select(keywords), inner.clone(), 0..3);
        prop_oneof![
            4 => prop::collection::hash_map("[a-d]|x-mcp-header|default", inner.clone(), 1..4)
                .prop_map(|properties| json!({"properties": properties})),
            1 => ("[a-zA-Z]", prop::collection::hash_map("[a-d]", inner.clone(), 1..3))
                .prop_map(|(header, map)| json!({"properties": map, "type": "string", "x-mcp-header": header})),
            1 => map.prop_map(|members| json!(members)),
            1 => prop::collection::vec(inner, 0..3).prop_map(|items| json!(items)),
        ]
    })
}

proptest! {
    // holds: register-header-value, register-header-type, register-header-place, register-header-lookalike
    #[test]
    fn the_walk_finds_what_a_plain_reading_finds(schema in any_schema()) {
        let mut expected = Vec::new();
        let sound = reference(&schema, Some(&[]), &mut expected).is_some();
        let by_header = |params: &mut Vec<MirroredParam>| params.sort_by(|a, b| a.header.cmp(&b.header));
        by_header(&mut expected);
        let distinct = expected.windows(2).all(|pair| pair[0].header != pair[1].header);
        let mut found = read(&schema.to_string());
        if let Ok(params) = &mut found {
            by_header(params);
        }
        prop_assert_eq!(found.ok(), (sound && distinct).then_some(expected), "{}", schema);
    }
}
