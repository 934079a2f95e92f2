//! Origins: where a page or an extension comes from, as browsers send it and as a person may name it. One rule for both.

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
        return Err("the host must be written as browsers do: lower case, no user name, other scripts as xn--");
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
        return address.parse::<std::net::Ipv6Addr>().is_ok_and(|parsed| parsed.to_string() == address);
    }
    let capitals = !WEB.contains(&scheme);
    let allowed = |byte: u8| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => true,
        b'A'..=b'Z' => capitals,
        _ => false,
    };
    !host.is_empty() && host.bytes().all(allowed)
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

    #[test]
    fn an_origin_is_what_a_browser_sends() {
        for good in [
            "https://example.com",
            "http://localhost:5173",
            "http://127.0.0.1:8080",
            "http://[::1]:3000",
            "http://[::1]",
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
            "https://a:b:1",
            " https://example.com",
            "https://example.com\n",
            "https://a.example,https://b.example",
        ] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}
