//! Origins: where a page or an extension comes from, as browsers send it and as a person may name it. One rule for both.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::limits::ORIGIN_BYTES;

/// What stands for an application that comes without an origin: a native program.
pub const NATIVE: &str = "native";

/// What stands for an origin that names nobody.
pub const NOBODY: &str = "null";

/// Schemes of the web, whose host names browsers write in lower case (URL Standard, "special scheme").
const WEB: [&str; 4] = ["http", "https", "ws", "wss"];

/// An origin as browsers send it (RFC 6454, section 6.2). Origins are compared exactly, so one that no browser would
/// ever write so is refused here rather than never matched.
///
/// Extensions and applications have schemes of their own, whose hosts browsers leave as they are: Safari writes those of
/// its extensions in capitals. `file://` is what some browsers send for every file there is.
pub fn check(text: &str) -> Result<(), &'static str> {
    if text == NOBODY || text == "*" {
        return Err("`null` and `*` stand for any page at all; name one origin, as in https://example.com");
    }
    if text.len() > ORIGIN_BYTES {
        return Err("an origin is a scheme, a host name and a port: this one is too long");
    }
    let (scheme, authority) = text.split_once("://").ok_or("an origin begins with a scheme, as in https://")?;
    if !is_scheme(scheme) {
        return Err("the scheme must be written as browsers do: lower case, as in https://");
    }
    if authority.contains(['/', '?', '#']) {
        return Err("an origin has no path and no slash at its end, as in https://example.com");
    }
    if scheme == "file" {
        return Err("`file://` stands for every file there is; serve the page, as on http://localhost");
    }
    let (host, port) = split_port(authority);
    if !is_host(scheme, host) {
        return Err(
            "the host must be written as browsers do: lower case, no user name, other scripts as xn--, addresses \
                    as 127.0.0.1 and [::1]",
        );
    }
    if !port.is_none_or(|port| is_port(scheme, port)) {
        return Err("the port must be 1 to 65535, and not the scheme's own, which browsers leave out");
    }
    Ok(())
}

/// What an application may be held to: an origin, or [`NATIVE`].
pub fn check_pin(text: &str) -> Result<(), &'static str> {
    if text == NATIVE { Ok(()) } else { check(text) }
}

fn is_scheme(scheme: &str) -> bool {
    scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte))
}

/// The colons inside `[::1]` are no port's.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        Some(_) | None => (authority, None),
    }
}

fn is_host(scheme: &str, host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return address.parse().is_ok_and(|parsed| ipv6(parsed) == address);
    }
    let web = WEB.contains(&scheme);
    if web && ends_in_a_number(host) {
        return host.parse::<Ipv4Addr>().is_ok_and(|parsed| parsed.to_string() == host);
    }
    let allowed = |byte: u8| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => true,
        b'A'..=b'Z' => !web,
        _ => false,
    };
    !host.is_empty() && host.bytes().all(allowed)
}

/// What browsers take for an IPv4 address, and write as four decimal numbers or not at all (URL Standard, "ends in a
/// number checker").
fn ends_in_a_number(host: &str) -> bool {
    let last = host.strip_suffix('.').unwrap_or(host).rsplit('.').next().unwrap_or_default();
    let decimal = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let hexadecimal = last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    decimal || hexadecimal
}

/// An address as browsers write it (URL Standard, "IPv6 serializer"): eight pieces in hexadecimal, where `::` stands for
/// the first of the longest runs of zeros. Unlike the standard library they never write an IPv4 address in it.
fn ipv6(address: Ipv6Addr) -> String {
    let pieces = address.segments();
    let zeros = |from: usize| pieces.iter().skip(from).take_while(|piece| **piece == 0).count();
    let run = (0..pieces.len()).map(|from| (from, zeros(from))).rev().max_by_key(|(_, length)| *length);
    let written = |pieces: &[u16]| pieces.iter().map(|piece| format!("{piece:x}")).collect::<Vec<_>>().join(":");
    match run {
        Some((from, length)) if length > 1 => {
            let (before, behind) = (pieces.get(..from), pieces.get(from + length..));
            format!("{}::{}", written(before.unwrap_or_default()), written(behind.unwrap_or_default()))
        }
        Some(_) | None => written(&pieces),
    }
}

fn is_port(scheme: &str, text: &str) -> bool {
    let own = match scheme {
        "http" | "ws" => 80,
        "https" | "wss" => 443,
        _ => 0,
    };
    text.parse::<u16>().is_ok_and(|port| port != 0 && port != own && port.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    // holds: pin-one-rule
    #[test]
    fn an_origin_is_what_a_browser_sends() {
        for good in [
            "https://example.com",
            "http://localhost:5173",
            "http://127.0.0.1:8080",
            "http://[::1]:3000",
            "http://[::1]",
            "http://[::]",
            "http://[::ffff:7f00:1]:3000",
            "http://[::7f00:1]",
            "http://[2001:db8::1:0:0:1]",
            "http://[2001:db8:0:1:1:1:1:1]",
            "http://[1:0:0:1::]",
            "http://[fe80::a]",
            "http://255.255.255.255",
            "http://127.1.example",
            "http://1.2.3.a4",
            "app://127.1",
            "https://xn--bcher-kva.example",
            "https://a_b.example",
            "tauri://localhost",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
            "moz-extension://4ed7f644-c3b5-4bf1-983f-2c8718f52222",
            "safari-web-extension://E3449EA7-EC25-4696-8E6A-A58B12E2B1C3",
            "safari-web-extension://e3449ea7-ec25-4696-8e6a-a58b12e2b1c3",
            "vscode-webview://0c2rf5k8b1",
            "app://obsidian.md",
            "http://example.com:443",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "null",
            "*",
            "example.com",
            "https://",
            "https:/example.com",
            "://example.com",
            "1https://example.com",
            "HTTPS://example.com",
            "https://Example.com",
            "wss://Example.com",
            "file://",
            "file://localhost",
            "native",
            "[native]",
            "a b",
            "chrome-extension://",
            "Chrome-Extension://abcdefghijklmnopabcdefghijklmnop",
            "moz-extension://a b",
            "safari-web-extension://E3449EA7/popup.html",
            "app://\u{202e}",
            "https://bücher.example",
            "https://example.com/",
            "https://example.com/app",
            "https://example.com?x",
            "https://example.com#x",
            "https://user@example.com",
            "https://*.example.com",
            "https://example.com:",
            "https://example.com:0",
            "https://example.com:080",
            "https://example.com:+80",
            "https://example.com:65536",
            "https://example.com:443",
            "http://example.com:80",
            "https://[::1",
            "https://[0:0::1]",
            "http://[::ffff:127.0.0.1]:3000",
            "http://[::127.0.0.1]",
            "http://[::FFFF:7f00:1]",
            "http://[2001:db8::1:0:0:0:1]",
            "http://[2001:db8::1:1:1:1:1]",
            "http://[0:0:0:1:0:0:0:0]",
            "http://[fe80::1%251]",
            "http://127.1:3000",
            "http://127.0.0.1.",
            "http://127.0.0.01",
            "http://127.0.0.256",
            "http://2130706433",
            "http://0x7f.0.0.1",
            "http://0x7f000001",
            "http://0x",
            "http://example.1",
            "ws://127.1",
            "https://a:b:1",
            " https://example.com",
            "https://example.com\n",
            "https://a.example,https://b.example",
        ] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}
