//! What an application may declare, and what it is told when it may not.

use tokio_tungstenite::tungstenite::Message;

use crate::support::{
    application::Application,
    post::{Agent, member},
    serve::Serve,
};

/// Registers these tools on a new connection, which is refused; the reason holds each of these words.
async fn refused(serve: &Serve, tools: &str, words: &[&str]) {
    let mut application = Application::connect(serve, "app").await;
    application.send(format!(r#"{{"type":"register","tools":{tools}}}"#)).await;
    let answer = application.recv().await;
    let Message::Close(Some(frame)) = answer else { panic!("{tools}: not refused: {answer:?}") };
    let (code, reason) = (u16::from(frame.code), frame.reason);
    assert_eq!(code, 4400, "{tools}: {reason}");
    assert!(reason.len() <= 123, "{tools}: {reason}");
    for word in words {
        assert!(reason.contains(word), "{tools}: no {word:?} in the reason {reason:?}");
    }
}

/// A tool `mine` whose `inputSchema` has these further members.
fn schema(members: &str) -> String {
    format!(r#"[{{"name":"mine","inputSchema":{{"type":"object",{members}}}}}]"#)
}

/// A tool `mine` with these further members.
fn tool(members: &str) -> String {
    format!(r#"[{{"name":"mine","inputSchema":{{"type":"object"}},{members}}}]"#)
}

async fn all_refused(cases: impl IntoIterator<Item = String>, words: &[&str]) {
    let serve = Serve::start().await;
    for tools in cases {
        refused(&serve, &tools, words).await;
    }
}

async fn all_accepted(cases: impl IntoIterator<Item = String>) {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app").unchecked("some of the schemas declared are not MCP's");
    let mut application = Application::connect(&serve, "app").await;
    for tools in cases {
        application.register(&tools).await;
        assert_eq!(agent.list().await, tools);
    }
}

// holds: register-replaces
#[tokio::test]
async fn a_register_replaces_everything_declared_before() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let mut application = Application::connect(&serve, "app").await;
    let tools = |names: &[&str]| {
        let tools = names.iter().map(|name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#));
        format!("[{}]", tools.collect::<Vec<_>>().join(","))
    };
    let first = tools(&["z", "a", "M", "0"]);
    application.send(format!(r#"{{"type":"register","tools":{first},"instructions":"Be \u0071uick."}}"#)).await;
    assert_eq!(application.text().await, r#"{"type":"registered"}"#);
    assert_eq!(agent.list().await, first);
    assert_eq!(agent.instructions().await.as_deref(), Some("Be quick."));
    let second = tools(&["new", "a"]);
    application.register(&second).await;
    assert_eq!(agent.list().await, second);
    assert_eq!(agent.instructions().await, None);
    application.register("[]").await;
    assert_eq!(agent.list().await, "[]");
}

// holds: register-name
#[tokio::test]
async fn a_tool_without_a_usable_name_is_refused_by_its_number() {
    let serve = Serve::start().await;
    for tool in ["null", "1", r#""t""#, "[]"] {
        refused(&serve, &format!(r#"[{{"name":"a","inputSchema":{{"type":"object"}}}},{tool}]"#), &["tool 2"]).await;
    }
    let long = format!(r#""{}""#, "x".repeat(129));
    for name in ["null", "1", r#""""#, r#""a b""#, r#""a/b""#, r#""ä""#, r#""a\n""#, &long] {
        let tools = format!(r#"[{{"name":{name},"inputSchema":{{"type":"object"}}}}]"#);
        refused(&serve, &tools, &["tool 1", "name"]).await;
    }
    refused(&serve, r#"[{"inputSchema":{"type":"object"}}]"#, &["tool 1", "name"]).await;
}

// holds: register-name, register-known-members
#[tokio::test]
async fn every_allowed_name_and_member_is_accepted() {
    let longest = format!(r#"[{{"name":"{}","inputSchema":{{"type":"object"}}}}]"#, "x".repeat(128));
    let members = [
        r#""title":"","description":"","annotations":{},"_meta":{},"icons":[]"#,
        r#""icons":[{"src":"data:","sizes":1}],"outputSchema":{"type":"object","properties":{}}"#,
        r#""annotations":{"title":"T","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":true,"x":0}"#,
        r#""execution":null,"x":1e400,"Title":1,"properties":1"#,
    ];
    let schemas = [
        r#""properties":{}"#,
        r#""properties":{"properties":1,"a":{"properties":[]}}"#,
        r#""required":1,"additionalProperties":null"#,
    ];
    let names = [longest, r#"[{"name":"A.b_c-9","inputSchema":{"type":"object"}}]"#.to_owned()];
    all_accepted(names.into_iter().chain(members.map(tool)).chain(schemas.map(schema))).await;
}

// holds: register-name-twice
#[tokio::test]
async fn two_tools_of_one_name_are_refused() {
    let serve = Serve::start().await;
    let twice = r#"[{"name":"twin","inputSchema":{"type":"object"}},{"name":"a","inputSchema":{"type":"object"}},{"name":"NAME","inputSchema":{"type":"object"}}]"#;
    for name in ["twin", r"tw\u0069n"] {
        refused(&serve, &twice.replace("NAME", name), &["twin"]).await;
    }
    Application::connect(&serve, "app").await.register(&twice.replace("NAME", "Twin")).await;
}

// holds: register-repeated-member
#[tokio::test]
async fn a_member_repeated_at_any_depth_of_a_definition_is_refused() {
    let members = [
        r#""x":1,"x":1"#,
        r#""x":1,"\u0078":1"#,
        r#""name":"mine""#,
        r#""inputSchema":{"type":"object"}"#,
        r#""x":{"a":1,"a":1}"#,
        r#""x":[[{"b":{"a":1,"\u0061":1}}]]"#,
        r#""_meta":{"a":{},"a":{}}"#,
        r#""outputSchema":{"default":{"a":1,"a":1}}"#,
    ];
    all_refused(members.map(tool), &["mine"]).await;
    all_refused([schema(r#""type":"object""#), schema(r#""properties":{"a":{},"a":{}}"#)], &["mine"]).await;
}

// holds: register-input-schema
#[tokio::test]
async fn an_input_schema_that_is_not_of_type_object_is_refused() {
    let schemas = ["null", "true", "[]", r#""object""#, "{}", r#"{"type":null}"#, r#"{"type":["object"]}"#];
    let more = [r#"{"type":"Object"}"#, r#"{"type":"string"}"#, r#"{"properties":{}}"#];
    let tools = schemas.iter().chain(&more).map(|schema| format!(r#"[{{"name":"mine","inputSchema":{schema}}}]"#));
    all_refused(tools.chain([r#"[{"name":"mine"}]"#.to_owned()]), &["mine", "inputSchema"]).await;
}

// holds: register-input-schema
#[tokio::test]
async fn root_properties_that_are_no_object_are_refused() {
    for properties in ["null", "[]", "true", "1"] {
        let input = schema(&format!(r#""properties":{properties}"#));
        let output = tool(&format!(r#""outputSchema":{{"type":"object","properties":{properties}}}"#));
        all_refused([input, output], &["mine", "properties"]).await;
    }
}

// holds: register-known-members, register-reason
#[tokio::test]
async fn a_known_member_of_the_wrong_type_is_refused_by_its_name() {
    let serve = Serve::start().await;
    let wrong = [
        ("title", r#""title":"#, &["null", "1", "[]"][..]),
        ("description", r#""description":"#, &["null", "{}"]),
        ("outputSchema", r#""outputSchema":"#, &["null", "true", "[]"]),
        ("annotations", r#""annotations":"#, &["null", "[]", "true"]),
        ("_meta", r#""_meta":"#, &["null", "[]", "1"]),
        ("icons", r#""icons":"#, &["null", "{}", "[null]", "[[]]", "[{}]", r#"[{"src":null}]"#, r#"[{"src":1}]"#]),
    ];
    for (member, text, values) in wrong {
        for value in values {
            refused(&serve, &tool(&format!("{text}{value}")), &["mine", member]).await;
        }
    }
    refused(&serve, &tool(r#""icons":[{"src":"a"},{"src":2}]"#), &["mine", "icons"]).await;
    refused(&serve, &tool(r#""annotations":{"title":null}"#), &["mine", "title"]).await;
    for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
        for value in ["null", "0", r#""true""#] {
            refused(&serve, &tool(&format!(r#""annotations":{{"{hint}":{value}}}"#)), &["mine", hint]).await;
        }
    }
}

// holds: register-header-value
#[tokio::test]
async fn a_header_annotation_that_is_no_token_or_stands_twice_is_refused() {
    let property = |value: &str| format!(r#"{{"type":"string","x-mcp-header":{value}}}"#);
    let values = ["null", "1", "[]", r#""""#, r#""a b""#, r#""a:b""#, r#""ä""#, r#""a\n""#, r#""a(b)""#, r#""a/b""#];
    let bad = values.map(|value| schema(&format!(r#""properties":{{"p":{}}}"#, property(value))));
    all_refused(bad, &["mine", "x-mcp-header"]).await;
    let deep = format!(r#"{{"type":"object","properties":{{"q":{}}}}}"#, property(r#""region""#));
    let equal = [property(r#""Region""#), property(r#""REGION""#), deep];
    let twice =
        equal.map(|other| schema(&format!(r#""properties":{{"p":{},"o":{other}}}"#, property(r#""Region""#)))).to_vec();
    all_refused(twice, &["mine", "x-mcp-header"]).await;
}

// holds: register-header-type
#[tokio::test]
async fn a_header_annotation_on_another_type_is_refused() {
    let serve = Serve::start().await;
    for r#type in ["", r#""type":"number","#, r#""type":"object","#, r#""type":["string"],"#, r#""type":"String","#] {
        let tools = schema(&format!(r#""properties":{{"p":{{{type}"x-mcp-header":"P"}}}}"#));
        refused(&serve, &tools, &["mine", "x-mcp-header"]).await;
    }
}

// holds: register-header-place
#[tokio::test]
async fn a_header_annotation_off_the_path_of_properties_is_refused() {
    let here = r#"{"type":"string","x-mcp-header":"P"}"#;
    let below = |keyword: &str, value: String| schema(&format!(r#""{keyword}":{value}"#));
    let in_properties = format!(r#"{{"type":"object","properties":{{"p":{here}}}}}"#);
    let mut cases = vec![schema(r#""x-mcp-header":"P""#)];
    let plain = [
        "items",
        "not",
        "if",
        "then",
        "else",
        "additionalProperties",
        "contains",
        "propertyNames",
        "unevaluatedProperties",
        "foo",
    ];
    for keyword in plain {
        cases.push(below(keyword, here.to_owned()));
        cases.push(below(keyword, in_properties.clone()));
    }
    for keyword in ["oneOf", "anyOf", "allOf", "prefixItems"] {
        cases.push(below(keyword, format!("[true,{here}]")));
    }
    for keyword in ["$defs", "definitions", "patternProperties", "dependentSchemas"] {
        cases.push(below(keyword, format!(r#"{{"n":{here}}}"#)));
    }
    cases.push(below("properties", format!(r#"{{"list":{{"type":"array","items":{in_properties}}}}}"#)));
    cases.push(below("properties", format!(r#"{{"o":{{"anyOf":[{in_properties}]}}}}"#)));
    all_refused(cases, &["mine", "x-mcp-header"]).await;
}

// holds: register-header-lookalike, register-header-place, register-header-type
#[tokio::test]
async fn right_annotations_and_what_only_looks_like_one_are_accepted() {
    let output = r#""outputSchema":{"type":"object","x-mcp-header":1,"properties":{"p":{"x-mcp-header":"a b"}}}"#;
    let schemas = [
        r#""properties":{"p":{"type":"string","x-mcp-header":"P"}}"#,
        r#""properties":{"p":{"type":"integer","x-mcp-header":"!#$%&'*+-.^_`|~9aZ"}}"#,
        r#""properties":{"a":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"B"}}}}"#,
        r#""properties":{"a":{"properties":{"properties":{"type":"string","x-mcp-header":"B"}}}}"#,
        r#""properties":{"p":{"type":"string","x-mcp-header":"A"},"q":{"type":"string","x-mcp-header":"B"}}"#,
        r#""properties":{"x-mcp-header":{"type":"string"}}"#,
        r#""patternProperties":{"x-mcp-header":{"type":"number"}}"#,
        r#""$defs":{"x-mcp-header":{}},"definitions":{"x-mcp-header":{}},"dependentSchemas":{"x-mcp-header":{}}"#,
        r#""default":{"x-mcp-header":1},"const":{"x-mcp-header":1},"enum":[{"x-mcp-header":1}],"examples":[{"x-mcp-header":1}]"#,
        r#""properties":{"p":{"default":{"properties":{"a":{"x-mcp-header":""}}}}}"#,
    ];
    all_accepted(schemas.map(schema).into_iter().chain([tool(output)])).await;
}

// holds: register-reason
#[tokio::test]
async fn a_refused_register_is_refused_whole_with_a_reason_that_fits() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let good = r#"{"name":"good","inputSchema":{"type":"object"}}"#;
    let mut application = Application::serving(&serve, "app", &format!("[{good}]")).await;
    application.send(format!(r#"{{"type":"register","tools":[{good},{{"name":"bad"}}]}}"#)).await;
    let (code, reason) = application.closed().await;
    assert!(code == 4400 && reason.contains("bad"), "{code} {reason}");
    assert_eq!(agent.list().await, "[]");
    // `refused` checks that the reason has at most 123 bytes; a reason with a cut character could not be decoded.
    let long_name = format!(r#"[{{"name":"{}"}}]"#, "x".repeat(128));
    refused(&serve, &long_name, &["xxxxxxxx"]).await;
    for character in ["ä", "本", "😀"] {
        for shift in 0..4 {
            let member = format!("{}{}", "y".repeat(shift), character.repeat(100));
            refused(&serve, &tool(&format!(r#""{member}":1,"{member}":1"#)), &["mine"]).await;
            refused(&serve, &schema(&format!(r#""properties":{{"{member}":{{"x-mcp-header":""}}}}"#)), &["mine"]).await;
        }
    }
}

// holds: register-rate
#[tokio::test]
async fn registers_above_the_rate_are_all_answered() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let mut application = Application::connect(&serve, "app").await;
    for number in 0..60 {
        let tools = format!(r#"[{{"name":"t{number}","inputSchema":{{"type":"object"}}}}]"#);
        application.send(format!(r#"{{"type":"register","tools":{tools}}}"#)).await;
    }
    for _ in 0..60 {
        assert_eq!(application.text().await, r#"{"type":"registered"}"#);
    }
    let listed = agent.list().await;
    assert_eq!(member(&listed[1..listed.len() - 1], "name").as_deref(), Some(r#""t59""#));
}
