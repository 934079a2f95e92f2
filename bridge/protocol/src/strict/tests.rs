use serde_json::{Value, json};

use super::{from_slice, whole_from_slice};
use crate::{
    control::{Command, Request},
    door,
};

/// Each command that there is, with every member and every kind of word.
const COMMANDS: [&str; 33] = [
    r#"{"type":"start","request":1,"port":0,"secrets":["0123456789abcdef0123456789abcdef"],"settings":{"client_origins":"pinned","allow_origins":["https://a.example"],"call_seconds":120,"question_seconds":120},"memory":{"modes":[{"application":"a","mode":"allow_all","until":"quit","ends":9},{"application":"b","mode":"block","until":"always"}],"rules":[{"id":"1","application":"a","tool":"t","agent":"any","verdict":"allow","fingerprint":"FP","origin":"native","until":{"at":5},"made":0},{"id":"2","application":"a","tool":"t","agent":{"one":null},"verdict":"deny","fingerprint":null,"origin":null,"until":"always","made":0}],"blocked":[{"application":"a","label":"x","until":"quit"}],"pins":[{"application":"a","origins":["native"]}],"generations":[{"application":"a","role":"agent","generation":1}],"floors":[{"application":"a","role":"client","label":null,"issued_before":1}],"issued":[{"application":"a","role":"client","label":null,"newest":1}],"seen":[{"application":"a","tool":"t","origin":"native","fingerprint":"FP"}],"pairs":[{"host":"Editor","application":null,"verdict":"allow","made":0}]},"paused":false}"#,
    r#"{"type":"decide","request":1,"question":"QU","fingerprint":"FP","verdict":"allow","also":"nothing"}"#,
    r#"{"type":"decide","request":1,"question":"QU","fingerprint":"FP","verdict":"deny","also":"block_agent"}"#,
    r#"{"type":"decide","request":1,"question":"QU","fingerprint":"FP","verdict":"deny","also":{"remember":{"any_agent":false,"until":"always"}}}"#,
    r#"{"type":"decide","request":1,"question":"QU","fingerprint":"FP","verdict":"deny","also":{"remember":{"any_agent":true,"until":{"at":5}}}}"#,
    r#"{"type":"set_mode","request":1,"application":"a","mode":"ask","until":"quit"}"#,
    r#"{"type":"set_mode","request":1,"application":"a","mode":"ask_except_read_only","until":"always"}"#,
    r#"{"type":"set_mode","request":1,"application":"a","mode":"allow_all","until":{"at":5}}"#,
    r#"{"type":"set_rules","request":1,"revision":0,"rules":[{"id":"1","application":"a","tool":"t","agent":{"one":"x"},"verdict":"allow","fingerprint":"FP","origin":"native","until":"quit","made":0}]}"#,
    r#"{"type":"add_origin","request":1,"application":"a","origin":"native"}"#,
    r#"{"type":"pause","request":1}"#,
    r#"{"type":"resume","request":1}"#,
    r#"{"type":"disconnect","request":1,"application":"a"}"#,
    r#"{"type":"revoke","request":1,"application":"a","role":"agent","which":"all"}"#,
    r#"{"type":"revoke","request":1,"application":"a","role":"client","which":{"label":"x"}}"#,
    r#"{"type":"revoke","request":1,"application":"a","role":"client","which":{"label":null}}"#,
    r#"{"type":"unblock","request":1,"application":"a","label":null}"#,
    r#"{"type":"set_secrets","request":1,"secrets":["0123456789abcdef0123456789abcdef"]}"#,
    r#"{"type":"set_settings","request":1,"settings":{"client_origins":"any","allow_origins":[],"call_seconds":120,"question_seconds":60}}"#,
    r#"{"type":"mint","request":1,"application":"a","role":"agent","label":"x","seconds":60}"#,
    r#"{"type":"mint","request":1,"application":"a","role":"client","label":null,"seconds":null}"#,
    r#"{"type":"try_tool","request":1,"application":"a","tool":"t","fingerprint":"FP","arguments":"{}"}"#,
    r#"{"type":"sample_start","request":1}"#,
    r#"{"type":"sample_stop","request":1}"#,
    r#"{"type":"get","request":1,"text":{"of":"question","id":"QU","part":"arguments"},"offset":0}"#,
    r#"{"type":"get","request":1,"text":{"of":"question","id":"QU","part":"tool"},"offset":0}"#,
    r#"{"type":"get","request":1,"text":{"of":"call","number":1,"part":"result"},"offset":0}"#,
    r#"{"type":"get","request":1,"text":{"of":"application","id":"a","part":"instructions"},"offset":0}"#,
    r#"{"type":"allow_pair","request":1,"host":"Editor","application":null}"#,
    r#"{"type":"forget_pair","request":1,"host":"Editor","application":"a"}"#,
    r#"{"type":"decide_door","request":1,"question":"QU","verdict":"allow"}"#,
    r#"{"type":"decide_door","request":1,"question":"QU","verdict":"deny"}"#,
    r#"{"type":"shutdown","request":1}"#,
];

/// Each hello that there is.
const HELLOS: [&str; 6] = [
    r#"{"door":1,"version":"0","want":"mcp","host":"Editor","application":"a"}"#,
    r#"{"door":1,"version":"0","want":"apps","host":"Editor"}"#,
    r#"{"door":1,"version":"0","want":"headers","host":"Editor","application":"a","port":1}"#,
    r#"{"door":1,"version":"0","want":"token","application":"a","role":"agent","label":"x","seconds":1}"#,
    r#"{"door":1,"version":"0","want":"token","application":"a","role":"client","label":null,"seconds":null}"#,
    r#"{"door":1,"version":"0","want":"status"}"#,
];

fn command(text: &str) -> Value {
    let text = text.replace("\"FP\"", &format!("{:?}", "0".repeat(64)));
    serde_json::from_str(&text.replace("\"QU\"", &format!("{:?}", "0".repeat(32)))).unwrap()
}

/// Every value in it that is no list of any length, by its place.
fn places(value: &Value, at: &str, places: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            places.push(at.to_owned());
            members.iter().for_each(|(name, value)| self::places(value, &format!("{at}/{name}"), places));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| self::places(value, &format!("{at}/{index}"), places));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => places.push(at.to_owned()),
    }
}

/// What could be taken for a value by a reader that is not strict.
fn instead_of(value: &Value) -> Vec<Value> {
    let in_a_list = json!([value]);
    match value {
        Value::String(word) => {
            let numbers = (0..30).map(|number| json!(number));
            numbers.chain([json!({ word: null }), json!({ word: {} }), json!({ word: [] }), in_a_list]).collect()
        }
        Value::Object(members) => vec![members.values().cloned().collect(), in_a_list],
        Value::Null => vec![json!({}), json!([]), in_a_list],
        Value::Bool(_) | Value::Number(_) => {
            vec![json!({ value.to_string(): null }), value.to_string().into(), in_a_list]
        }
        Value::Array(_) => Vec::new(),
    }
}

fn takes_nothing_else(whole: &Value, takes: impl Fn(&[u8]) -> bool) {
    assert!(takes(whole.to_string().as_bytes()), "{whole}");
    let mut all = Vec::new();
    places(whole, "", &mut all);
    for place in all {
        let value = whole.pointer(&place).unwrap();
        for odd in instead_of(value) {
            let mut edited = whole.clone();
            *edited.pointer_mut(&place).unwrap() = odd.clone();
            assert!(!takes(edited.to_string().as_bytes()), "{place}: {odd} in {whole}");
        }
    }
}

// holds: control-words
#[test]
fn a_word_is_a_word_in_every_command() {
    for text in COMMANDS {
        takes_nothing_else(&command(text), |line| whole_from_slice::<Request>(line).is_ok());
    }
}

// holds: door-words
#[test]
fn a_word_is_a_word_in_every_hello() {
    for text in HELLOS {
        takes_nothing_else(&command(text), |line| from_slice::<door::Hello>(line).is_ok());
    }
}

/// The number of a command, so that a new one is named above.
fn index(command: &Command) -> usize {
    match command {
        Command::Start(_) => 0,
        Command::Decide(_) => 1,
        Command::SetMode { .. } => 2,
        Command::SetRules { .. } => 3,
        Command::AddOrigin { .. } => 4,
        Command::Pause => 5,
        Command::Resume => 6,
        Command::Disconnect { .. } => 7,
        Command::Revoke { .. } => 8,
        Command::Unblock { .. } => 9,
        Command::SetSecrets { .. } => 10,
        Command::SetSettings { .. } => 11,
        Command::Mint { .. } => 12,
        Command::TryTool { .. } => 13,
        Command::SampleStart => 14,
        Command::SampleStop => 15,
        Command::Get { .. } => 16,
        Command::AllowPair { .. } => 17,
        Command::ForgetPair { .. } => 18,
        Command::DecideDoor { .. } => 19,
        Command::Shutdown => 20,
    }
}

#[test]
fn no_command_is_left_out() {
    let read = |text: &&str| whole_from_slice::<Request>(command(text).to_string().as_bytes()).unwrap();
    let mut met: Vec<_> = COMMANDS.iter().map(read).map(|request| index(&request.command)).collect();
    met.dedup();
    assert_eq!(met, (0..=20).collect::<Vec<_>>());
}

/// Each object in it with one member less, and with one more.
fn incomplete(whole: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    places(whole, "", &mut all);
    let mut odd = Vec::new();
    for place in all {
        let Some(members) = whole.pointer(&place).and_then(Value::as_object) else { continue };
        for name in members.keys() {
            let mut edited = whole.clone();
            let members = edited.pointer_mut(&place).and_then(Value::as_object_mut).unwrap();
            let value = members.remove(name).unwrap();
            // A mode says when it ends only where that is not said by `until`.
            if name != "ends" {
                odd.push(edited.clone());
            }
            let members = edited.pointer_mut(&place).and_then(Value::as_object_mut).unwrap();
            members.insert(format!("{name}x"), value);
            odd.push(edited);
        }
        let mut edited = whole.clone();
        edited.pointer_mut(&place).unwrap()["later"] = Value::Null;
        odd.push(edited);
    }
    odd
}

// holds: control-whole
#[test]
fn a_command_is_whole_and_has_no_other_member() {
    for text in COMMANDS {
        for odd in incomplete(&command(text)) {
            assert!(whole_from_slice::<Request>(odd.to_string().as_bytes()).is_err(), "{odd}");
        }
    }
    let ends = r#"{"type":"start","request":1,"port":0,"secrets":[],"settings":{"client_origins":"any","allow_origins":[],"call_seconds":1,"question_seconds":1},"memory":{"modes":[{"application":"b","mode":"block","until":"always","ends":null}],"rules":[],"blocked":[],"pins":[],"generations":[],"floors":[],"issued":[],"seen":[],"pairs":[]},"paused":true}"#;
    assert!(whole_from_slice::<Request>(ends.as_bytes()).is_ok(), "what is not written may be spelt out");
}

#[test]
fn a_hello_may_say_more_and_a_line_is_one_object() {
    let hello = |text: &str| from_slice::<door::Hello>(text.as_bytes());
    assert!(hello(r#" { "later":{"a":[1]}, "door" : 1 ,"version":"","want":"\u0073tatus"} "#).is_ok());
    assert!(hello(r#"{"door":1,"version":"","want":"headers","host":"E","application":"a"}"#).is_ok());
    let read = |text: &str| whole_from_slice::<Request>(text.as_bytes());
    assert!(read(r#" { "request" : 2 ,"type":"\u0070ause"} "#).is_ok());
    for none in ["", "null", "[]", r#"["pause",1]"#, r#"{"type":"pause"}"#, r#"{"type":"pause","request":1} x"#] {
        assert!(read(none).is_err(), "{none}");
    }
}

/// Without it a token would have no end, or another name.
// holds: door-words
#[test]
fn what_a_token_is_to_be_is_said_at_the_door() {
    for name in ["application", "role", "label", "seconds"] {
        let mut hello = command(HELLOS[3]);
        hello.as_object_mut().unwrap().remove(name);
        assert!(from_slice::<door::Hello>(hello.to_string().as_bytes()).is_err(), "{hello}");
    }
}
