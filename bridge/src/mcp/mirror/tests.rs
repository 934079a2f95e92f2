use clientmcp_protocol::ids::ToolName;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Headers of a request, names in lower case.
struct Headers(Vec<(&'static str, Vec<u8>)>);

impl Mirror for Headers {
    fn header(&self, name: &str) -> Mirrored<'_> {
        let mut values = self.0.iter().filter(|(key, _)| *key == name).map(|(_, value)| value.as_slice());
        match (values.next(), values.next()) {
            (None, _) => Mirrored::Absent,
            (Some(value), None) => Mirrored::Once(value),
            (Some(_), Some(_)) => Mirrored::Repeated,
        }
    }
}

fn text(json: &str) -> Text {
    Text::of(serde_json::from_str(json).unwrap_or_else(|fault| panic!("{json}: {fault}")))
}

/// A tool that mirrors these arguments; a path's names stand between dots.
fn tool(params: &[(&str, &str, ParamKind)]) -> Tool {
    let mirrored = params.iter().map(|&(header, path, kind)| {
        let path = path.split('.').map(str::to_owned).collect();
        MirroredParam { header: format!("mcp-param-{header}"), path, kind }
    });
    Tool::new(ToolName::new("pay").unwrap(), text("{}"), mirrored.collect())
}

/// Checks one parameter, `mcp-param-a`.
fn check(kind: ParamKind, path: &str, arguments: &str, headers: &[&[u8]]) -> Result<(), MirrorFault> {
    let headers = headers.iter().map(|value| ("mcp-param-a", value.to_vec())).collect();
    check_params(&tool(&[("a", path, kind)]), &text(arguments), &Headers(headers))
}

fn agrees(kind: ParamKind, argument: &str, header: &[u8]) -> bool {
    check(kind, "x", &format!(r#"{{"x":{argument}}}"#), &[header]).is_ok()
}

// holds: mirror-sentinel, mirror-sentinel-bad
#[test]
fn a_value_is_literal_unless_both_markers_stand_around_it() {
    for (value, meant) in [
        ("", Ok("")),
        ("pay", Ok("pay")),
        ("a\tb c~", Ok("a\tb c~")),
        ("=?base64?SGk=?=", Ok("Hi")),
        ("=?base64?w6k=?=", Ok("é")),
        ("=?base64??=", Ok("")),
        ("=?base64?=", Ok("=?base64?=")),
        ("=?base64?SGk=", Ok("=?base64?SGk=")),
        ("SGk=?=", Ok("SGk=?=")),
        ("=?BASE64?SGk=?=", Ok("=?BASE64?SGk=?=")),
        ("=?base64?SGk=?= ", Ok("=?base64?SGk=?= ")),
        ("=?base64?SGk?=", Err(ValueFault::Base64)),
        ("=?base64?SGk==?=", Err(ValueFault::Base64)),
        ("=?base64?SGl=?=", Err(ValueFault::Base64)),
        ("=?base64?_-8=?=", Err(ValueFault::Base64)),
        ("=?base64? SGk=?=", Err(ValueFault::Base64)),
        ("=?base64?SGk=\t?=", Err(ValueFault::Base64)),
        ("=?base64?=?=", Err(ValueFault::Base64)),
        ("=?base64???=", Err(ValueFault::Base64)),
        ("=?base64?/w==?=", Err(ValueFault::Utf8)),
        ("=?base64?7aCA?=", Err(ValueFault::Utf8)),
        ("é", Err(ValueFault::Character)),
        ("a\u{7f}", Err(ValueFault::Character)),
        ("a\0", Err(ValueFault::Character)),
        ("a\nb", Err(ValueFault::Character)),
        ("=?base64?é?=", Err(ValueFault::Character)),
    ] {
        assert_eq!(decode_sentinel(value.as_bytes()).as_deref(), meant.as_deref(), "{value:?}");
    }
    assert_eq!(decode_sentinel(b"\xff"), Err(ValueFault::Character));
}

// holds: mirror-name
#[test]
fn the_name_is_compared_decoded() {
    assert_eq!(check_name(Mirrored::Once(b"pay"), "pay"), Ok(()));
    assert_eq!(check_name(Mirrored::Once(b"=?base64?cGF5?="), "pay"), Ok(()));
    for (header, reason) in [
        (Mirrored::Absent, "Header mismatch: Mcp-Name is missing"),
        (Mirrored::Repeated, "Header mismatch: Mcp-Name is repeated"),
        (Mirrored::Once(b"Pay"), "Header mismatch: Mcp-Name says 'Pay', the body says 'pay'"),
        (Mirrored::Once(b"=?base64?Zm9v?="), "Header mismatch: Mcp-Name says 'foo', the body says 'pay'"),
        (Mirrored::Once(b"=?base64?cGF5"), "Header mismatch: Mcp-Name says '=?base64?cGF5', the body says 'pay'"),
        (Mirrored::Once(b"p\xff"), "Header mismatch: Mcp-Name has a character that no header may have"),
        (Mirrored::Once(b"=?base64?a?="), "Header mismatch: Mcp-Name is not valid Base64 between its markers"),
        (Mirrored::Once(b"=?base64?/w==?="), "Header mismatch: Mcp-Name is not UTF-8 between its Base64 markers"),
    ] {
        assert_eq!(check_name(header, "pay").unwrap_err().to_string(), reason);
    }
}

// holds: mirror-method
#[test]
fn the_method_is_compared_as_it_stands() {
    assert_eq!(check_method(Mirrored::Once(b"tools/call"), "tools/call"), Ok(()));
    assert_eq!(check_method(Mirrored::Once(b"=?base64?YQ==?="), "=?base64?YQ==?="), Ok(()));
    for header in [
        Mirrored::Absent,
        Mirrored::Repeated,
        Mirrored::Once(b"Tools/call"),
        Mirrored::Once(b"tools/call\xff"),
        Mirrored::Once(b"=?base64?dG9vbHMvY2FsbA==?="),
        Mirrored::Once(b""),
    ] {
        assert!(check_method(header, "tools/call").is_err(), "{header:?}");
    }
}

// holds: mirror-message
#[test]
fn foreign_text_in_a_message_is_short_and_harmless() {
    let fault = check_name(Mirrored::Once("x".repeat(65).as_bytes()), "a\r\n\u{1b}\u{202e}").unwrap_err();
    let said = "x".repeat(64);
    assert_eq!(
        fault.to_string(),
        format!(r"Header mismatch: Mcp-Name says '{said}...', the body says 'a\r\n\u{{1b}}\u{{202e}}'")
    );
    let fault = check_method(Mirrored::Once(b"\xff\n"), &"é".repeat(64)).unwrap_err().to_string();
    assert_eq!(fault, format!("Header mismatch: Mcp-Method says '\u{fffd}\\n', the body says '{}'", "é".repeat(64)));
}

// holds: mirror-param-required, mirror-param-string, mirror-param-integer, mirror-param-type, mirror-param-nested
#[test]
fn each_type_is_compared_by_its_rule() {
    use ParamKind::{Boolean, Integer, String};
    for (kind, argument, header) in [
        (String, r#""us-west1""#, "us-west1"),
        (String, r#""p\u0061y""#, "pay"),
        (String, r#""p\u00e9""#, "=?base64?cMOp?="),
        (String, r#""""#, ""),
        (String, r#""true""#, "true"),
        (Integer, "42", "42"),
        (Integer, "42", "42.0"),
        (Integer, "4.2e1", "420E-1"),
        (Integer, "42", "=?base64?NDI=?="),
        (Integer, "-0", "0"),
        (Integer, "0e-28", "0"),
        (Integer, "0.0e99999999999999999999", "-0"),
        (Integer, "9007199254740991", "9.007199254740991e15"),
        (Integer, "-9007199254740991", "-9007199254740991"),
        (Boolean, "true", "true"),
        (Boolean, "false", "=?base64?ZmFsc2U=?="),
    ] {
        assert!(agrees(kind, argument, header.as_bytes()), "{argument} and {header}");
    }
    for (kind, argument, header) in [
        (String, r#""a""#, "A"),
        (String, r#""a""#, "\"a\""),
        (String, r#"" a""#, "a"),
        (String, r#""=?base64?YQ==?=""#, "=?base64?YQ==?="),
        (Integer, "42", "43"),
        (Integer, "42", "-42"),
        (Integer, "42", "+42"),
        (Integer, "42", "042"),
        (Integer, "0", "00000e-28"),
        (Integer, "42", "42."),
        (Integer, "42", "0x2a"),
        (Integer, "42", ""),
        (Integer, "42", "42 "),
        (Integer, "9007199254740991", "9007199254740992"),
        (Integer, "9007199254740990", "9007199254740990.5"),
        (Boolean, "true", "false"),
        (Boolean, "true", "True"),
        (Boolean, "true", "1"),
    ] {
        assert!(!agrees(kind, argument, header.as_bytes()), "{argument} and {header}");
    }
}

// holds: mirror-param-required, mirror-param-string, mirror-param-integer, mirror-param-type, mirror-param-nested
#[test]
fn an_argument_of_another_type_never_agrees() {
    use ParamKind::{Boolean, Integer, String};
    for (kind, argument) in [
        (String, "1"),
        (String, "true"),
        (String, "{}"),
        (String, r#"["a"]"#),
        (String, r#""\ud800""#),
        (Integer, r#""1""#),
        (Integer, "1.5"),
        (Integer, "1e-1"),
        (Integer, "9007199254740992"),
        (Integer, "-9007199254740992"),
        (Integer, "1e400"),
        (Integer, "1e999999999"),
        (Integer, "1e-999999999"),
        (Integer, "1e99999999999999999999999999"),
        (Integer, "12345678901234567890"),
        (Integer, "[]"),
        (Boolean, r#""true""#),
        (Boolean, "0"),
        (Boolean, "{}"),
    ] {
        let arguments = format!(r#"{{"x":{argument}}}"#);
        let fault = MirrorFault::Kind { header: "mcp-param-a".into(), kind };
        for headers in [&[][..], &[argument.as_bytes()], &[b"1"], &[b""]] {
            assert_eq!(check(kind, "x", &arguments, headers), Err(fault.clone()), "{argument}");
        }
    }
}

// holds: mirror-param-none
#[test]
fn an_absent_argument_has_no_header() {
    let unexpected = Err(MirrorFault::Unexpected { header: "mcp-param-a".into() });
    for arguments in ["{}", r#"{"x":null}"#, r#"{"x":{"y":null}}"#, r#"{"x":"y"}"#, r#"{"x":[{"y":"1"}]}"#, "[]", "1"] {
        let path = if arguments.contains('y') { "x.y" } else { "x" };
        assert_eq!(check(ParamKind::String, path, arguments, &[]), Ok(()), "{arguments}");
        for headers in [&[&b""[..]][..], &[b"null"], &[b"1", b"1"]] {
            assert_eq!(check(ParamKind::String, path, arguments, headers), unexpected, "{arguments}");
        }
    }
}

// holds: mirror-param-required, mirror-param-string, mirror-param-integer, mirror-param-type, mirror-param-nested
#[test]
fn a_present_argument_has_its_header_once() {
    let header = || "mcp-param-a".to_owned();
    let check = |headers: &[&[u8]]| check(ParamKind::String, "x", r#"{"x":"1"}"#, headers);
    assert_eq!(check(&[]), Err(MirrorFault::Missing { header: header() }));
    assert_eq!(check(&[b"1", b"1"]), Err(MirrorFault::Repeated { header: header() }));
    assert_eq!(check(&[b"\x80"]), Err(MirrorFault::Value { header: header(), fault: ValueFault::Character }));
}

// holds: mirror-param-repeated
#[test]
fn a_repeated_member_on_the_path_never_agrees() {
    for arguments in [
        r#"{"x":{"y":"1"},"x":{"y":"1"}}"#,
        r#"{"x":{"y":"1"},"\u0078":{}}"#,
        r#"{"x":{"y":"1"},"x":null}"#,
        r#"{"x":null,"x":{"y":"1"}}"#,
        r#"{"x":1,"x":2}"#,
        r#"{"x":{"y":"1","y":"1"}}"#,
        r#"{"x":{"y":null,"y":null}}"#,
        r#"{"x":{"y":[],"y":{}}}"#,
    ] {
        for headers in [&[][..], &[&b"1"[..]]] {
            let result = check(ParamKind::String, "x.y", arguments, headers);
            assert_eq!(result, Err(MirrorFault::Ambiguous { header: "mcp-param-a".into() }), "{arguments}");
        }
    }
    let beside = r#"{"z":1,"z":2,"x":{"w":1,"y":"1","w":2},"a":{"y":1},"b":[{"x":{"y":2}},{"x":{"y":2}}]}"#;
    assert_eq!(check(ParamKind::String, "x.y", beside, &[b"1"]), Ok(()));
}

// holds: mirror-param-required, mirror-param-string, mirror-param-integer, mirror-param-type, mirror-param-nested
#[test]
fn all_parameters_are_read_together_and_unknown_headers_ignored() {
    use ParamKind::{Boolean, Integer, String};
    let tool = tool(&[("a", "x", String), ("b", "y.x", Integer), ("c", "y.z.x", Boolean), ("d", "x.deep", String)]);
    let arguments = text(r#"{"y":{"z":{"x":true,"y":0},"x":7},"other":{"x":"no"},"x":"yes"}"#);
    let headers = |c: &str| {
        let header = |name, value: &str| (name, value.as_bytes().to_vec());
        Headers(vec![
            header("mcp-param-a", "yes"),
            header("mcp-param-b", "7"),
            header("mcp-param-c", c),
            header("mcp-param-other", "\u{7f}"),
        ])
    };
    assert_eq!(check_params(&tool, &arguments, &headers("true")), Ok(()));
    assert_eq!(
        check_params(&tool, &arguments, &headers("false")).unwrap_err().to_string(),
        "Header mismatch: mcp-param-c says 'false', the body says 'true'"
    );
}

/// What MCP tells a client to send, after the transport took white space off its ends.
fn honest(value: &str) -> Vec<u8> {
    let plain = value.chars().all(|c| c == '\t' || (' '..='~').contains(&c));
    let ends = [' ', '\t'].iter().any(|c| value.starts_with(*c) || value.ends_with(*c));
    let looks_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    if plain && !ends && !looks_encoded {
        return value.into();
    }
    format!("=?base64?{}?=", STANDARD.encode(value)).into_bytes()
}

fn any_string() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,20}",
        ".{0,20}",
        "[\t -~\u{0}-\u{ff}]{0,9}",
        "=\\?base64\\?[A-Za-z=?]{0,8}\\?=",
        "(=|\\?|base64){0,6}"
    ]
}

/// One byte more, less or other.
fn edited(bytes: &[u8], at: usize, byte: u8, how: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = at % (bytes.len() + 1);
    match how {
        0 => bytes.insert(at, byte),
        1 if at < bytes.len() => drop(bytes.remove(at)),
        _ => bytes.get_mut(at).map_or((), |place| *place = byte),
    }
    bytes
}

/// The same integer, with its point moved and an exponent that moves it back.
fn spelled(value: i64, zeros: usize, exponent: i32, upper: bool) -> String {
    let e = if upper { 'E' } else { 'e' };
    let sign = if value < 0 { "-" } else { "" };
    let digits = value.unsigned_abs().to_string();
    let zeros = "0".repeat(zeros);
    let places = usize::try_from(exponent.unsigned_abs()).unwrap();
    match exponent {
        0 if zeros.is_empty() => format!("{sign}{digits}"),
        0 => format!("{sign}{digits}.{zeros}"),
        1.. => format!("{sign}0.{digits:0>places$}{zeros}{e}+{}", places.max(digits.len())),
        // A number begins with no needless zero: 0 takes none.
        _ if value == 0 => format!("{digits}{e}-{places}"),
        _ => format!("{sign}{digits}{}{e}-{places}", "0".repeat(places)),
    }
}

proptest! {
    // holds: mirror-name, mirror-param-required, mirror-param-string, mirror-param-integer, mirror-param-type, mirror-param-nested, mirror-sentinel, mirror-sentinel-bad
    #[test]
    fn what_an_honest_client_sends_agrees_and_a_changed_byte_does_not(
        value in any_string(), at in any::<usize>(), byte in any::<u8>(), how in 0..3_u8,
    ) {
        let arguments = json!({"x": value}).to_string();
        let header = honest(&value);
        prop_assert_eq!(check_name(Mirrored::Once(&header), &value), Ok(()));
        prop_assert_eq!(check(ParamKind::String, "x", &arguments, &[&header]), Ok(()));
        let changed = edited(&header, at, byte, how);
        if changed != header {
            prop_assert!(check_name(Mirrored::Once(&changed), &value).is_err());
            prop_assert!(check(ParamKind::String, "x", &arguments, &[&changed]).is_err());
        }
    }

    // holds: mirror-param-required, mirror-param-string, mirror-param-integer, mirror-param-type, mirror-param-nested
    #[test]
    fn integers_agree_by_value_however_they_are_spelled(
        value in prop_oneof![-SAFE_INTEGER..=SAFE_INTEGER, -1000..1000_i64],
        body in (0..30_usize, -30..30_i32, any::<bool>()), header in (0..30_usize, -30..30_i32, any::<bool>()),
    ) {
        let body = spelled(value, body.0, body.1, body.2);
        let header = spelled(value, header.0, header.1, header.2);
        prop_assert!(agrees(ParamKind::Integer, &body, header.as_bytes()), "{body} and {header}");
        let next = (value + 1).to_string();
        prop_assert!(!agrees(ParamKind::Integer, &body, next.as_bytes()), "{body} and {next}");
    }

    // holds: mirror-total
    #[test]
    fn any_header_and_any_argument_are_answered(
        header in prop::collection::vec(any::<u8>(), 0..40), number in "[0-9.eE+-]{0,24}", value in any_string(),
    ) {
        let _ = decode_sentinel(&header);
        let _ = check_method(Mirrored::Once(&header), &value);
        let _ = integer(&number);
        prop_assert!(check_name(Mirrored::Once(&header), &value).is_err() || decode_sentinel(&header).is_ok());
        let arguments = json!({"x": {"y": value}, "y": [value]}).to_string();
        for kind in [ParamKind::String, ParamKind::Integer, ParamKind::Boolean] {
            for path in ["x", "x.y", "y", "y.y"] {
                if let Err(fault) = check(kind, path, &arguments, &[&header]) {
                    prop_assert!(!fault.to_string().contains(char::is_control));
                }
            }
        }
    }
}
