//! The characters that a JSON string says, one at a time, lone surrogates among them.

use super::Point;

/// Reads what stands between the quotes. It checks nothing: an escape that is none is read as it is written.
#[derive(Clone)]
pub(super) struct JsonString<'a> {
    rest: &'a str,
    escapes: bool,
}

impl<'a> JsonString<'a> {
    pub(super) fn new(written: &'a str) -> Self {
        let inside = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        Self { rest: inside.unwrap_or(written), escapes: inside.is_some() }
    }

    /// The character that the escape at the start stands for, and the escape's length.
    fn escape(&self) -> Option<(Point, usize)> {
        let plain = match self.rest.as_bytes().get(1)? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.number(),
            _ => return None,
        };
        Some((Ok(plain), 2))
    }

    fn number(&self) -> Option<(Point, usize)> {
        let first = unit(self.rest)?;
        let pair = self.rest.get(6..).and_then(unit).map(|second| char::decode_utf16([first, second]).next());
        match pair {
            Some(Some(Ok(both))) if u32::from(both) > 0xffff => Some((Ok(both), 12)),
            _ => Some((char::from_u32(u32::from(first)).ok_or(first), 6)),
        }
    }
}

/// The number of a `\u` escape at the start.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

impl Iterator for JsonString<'_> {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        let first = self.rest.chars().next()?;
        let escaped = if self.escapes && first == '\\' { self.escape() } else { None };
        let (point, length) = escaped.unwrap_or((Ok(first), first.len_utf8()));
        self.rest = self.rest.get(length..).unwrap_or_default();
        Some(point)
    }
}
