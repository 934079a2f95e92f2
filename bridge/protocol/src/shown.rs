//! Text that another program wrote, made safe and honest for every surface: window, tray, notification, log, terminal.
//!
//! One line, nothing invisible, nothing that reaches beyond its own place, and nothing left out in silence
//! (`docs/protocol.md`, "Texts"). What we put in stands between white square brackets, and these brackets themselves are
//! never passed on, so no text can forge what we put in:
//!
//! | shown | for |
//! |---|---|
//! | one space | any run of white space, line ends and tabs too |
//! | `⟦U+202E⟧` | one control, bidirectional, invisible, private or unassigned character, a mark without a letter below it, a lone surrogate, or one of these brackets (U+27E6, U+27E7, U+301A, U+301B) |
//! | `⟦+96⟧` | so many more marks on the letter before |
//! | `⟦…+9800⟧` | so many more characters of the text, cut off here |
//!
//! Ordinary text stays as it is. Invisible characters stay where a script needs them and they change what is seen:
//! joiners beside a virama and between letters that join (Hindi, Persian), U+200B in scripts without spaces (Khmer), the
//! joiners and selectors of emoji, the tags of three flags, one variation selector on an ideograph.
//!
//! It is not idempotent, and cannot be: what gives its own marks back unchanged lets others write them. So show a text
//! once; where one of our programs is handed what another one showed, [`shown_again`] keeps its marks. A surface must still keep the text's direction to itself (`<bdi>` in a page), as right-to-left
//! words are ordinary text.
//!
//! It decides nothing: two texts that look alike are still two texts.

mod json;
mod points;
mod scripts;

pub use self::scripts::mixed;
use self::{json::JsonString, points::Class};

/// Characters shown of a text outside detail views: two or three lines, enough to recognise it.
pub const SHOWN_CHARS: usize = 200;

/// Marks shown on one letter: what ordinary writing needs (Hebrew with points and accents); more cover the lines around.
pub const SHOWN_MARKS: usize = 4;

/// Bytes of a text that are looked at, at least, and for each character shown. What one space or one mark stands for may be
/// megabytes long, and whoever shows it must not pay for that; the rest is counted only.
const LOOKED_AT: (usize, usize) = (65_536, 20);

/// The brackets around a mark.
const OPENS: char = '\u{27e6}';
const CLOSES: char = '\u{27e7}';

/// Characters of a mark with its second bracket, at most: the count of the longest text there can be.
const MARK_CHARS: usize = 23;

/// Pictures that one emoji joins, at most: a family of four, a kiss of two and room.
const JOINED_EMOJI: usize = 6;

/// A text for any surface, at most [`SHOWN_CHARS`] characters of it.
pub fn shown(text: &str) -> String {
    shown_within(text, SHOWN_CHARS)
}

/// A text in at most so many characters, and where that is not all of it, a mark with the count of those left out.
///
/// The output has at most `chars` characters and one mark more. A letter and its marks, an emoji or a mark of ours is
/// never cut in half.
pub fn shown_within(text: &str, chars: usize) -> String {
    let (least, each) = LOOKED_AT;
    let mut end = text.len().min(chars.saturating_mul(each).max(least));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (start, beyond) = text.split_at(end);
    let points = start.chars().map(Ok);
    Shown::of(points).within(chars, beyond.chars().count())
}

/// A whole text, for a detail view. It has at most twelve times as many bytes as the text.
pub fn shown_whole(text: &str) -> String {
    shown_within(text, usize::MAX)
}

/// A text that one of our programs showed before, in at most so many characters. Its marks pass whole, and what was cut off
/// before is counted with what is cut off now: no mark is ever cut or marked.
pub fn shown_again(text: &str, chars: usize) -> String {
    let points = text.chars().map(Ok);
    Shown { made: true, ..Shown::of(points) }.within(chars, 0)
}

/// A whole text as it is shown, but for the invisible characters that stay in it elsewhere: two names that differ in these
/// alone are read as one. With `made` its marks are ours, and pass.
pub(crate) fn shown_bare(text: &str, made: bool) -> String {
    let points = text.chars().map(Ok);
    Shown { made, bare: true, ..Shown::of(points) }.within(usize::MAX, 0)
}

/// The string that a JSON text says, as [`shown`] shows it; see [`shown_json_within`].
pub fn shown_json(written: &str) -> String {
    shown_json_within(written, SHOWN_CHARS)
}

/// The string that a JSON text says, in at most so many characters. Lone surrogates, which no Rust string can hold, are
/// named.
///
/// `written` is the string as it stands in the JSON text, in its quotes. Anything else is shown as it is written.
pub fn shown_json_within(written: &str, chars: usize) -> String {
    Shown::of(JsonString::new(written)).within(chars, 0)
}

/// How many characters a mark of ours stands for, which is what is between its brackets.
pub(crate) fn stands_for(mark: &str) -> Option<usize> {
    if let Some(digits) = mark.strip_prefix("U+") {
        let upper = |digit: u8| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit);
        return ((4..=6).contains(&digits.len()) && digits.bytes().all(upper)).then_some(1);
    }
    let number = mark.strip_prefix('\u{2026}').unwrap_or(mark).strip_prefix('+')?;
    number.parse().ok().filter(|count: &usize| count.to_string() == number)
}

/// A character, or a surrogate without its other half.
type Point = Result<char, u16>;

/// A text on its way to be shown: taken from `points` a piece at a time, where a piece is what must not be cut.
struct Shown<I> {
    points: I,
    /// The character right before, when something may join to it or stand on it.
    before: Option<char>,
    text: String,
    /// Characters of `text`.
    chars: usize,
    /// The text was shown before, so marks in it are ours.
    made: bool,
    /// Invisible characters are left out where they would stay.
    bare: bool,
}

impl<I: Iterator<Item = Point> + Clone> Shown<I> {
    fn of(points: I) -> Self {
        Self { points, before: None, text: String::new(), chars: 0, made: false, bare: false }
    }

    /// `beyond`: how many characters of the text come after `points`.
    fn within(mut self, chars: usize, beyond: usize) -> String {
        let left = loop {
            let (rest, bytes) = (self.points.clone(), self.text.len());
            if !self.piece() {
                break beyond;
            }
            if self.chars > chars {
                self.text.truncate(bytes);
                self.points = rest;
                break self.left().saturating_add(beyond);
            }
        };
        if left == 0 { self.text } else { self.text + &format!("\u{27e6}\u{2026}+{left}\u{27e7}") }
    }

    /// How many characters of the text are still to come.
    fn left(&mut self) -> usize {
        let mut left = 0_usize;
        loop {
            match self.mark() {
                Some((_, stands_for)) => left = left.saturating_add(stands_for),
                None if self.points.next().is_none() => return left,
                None => left = left.saturating_add(1),
            }
        }
    }

    /// Takes a mark that was made before, and says how many characters it stands for.
    fn mark(&mut self) -> Option<(String, usize)> {
        if !self.made || self.peek() != Some(OPENS) {
            return None;
        }
        let mut ahead = self.points.clone();
        ahead.next();
        let mut mark = String::new();
        for point in ahead.by_ref().take(MARK_CHARS) {
            match point.ok()? {
                CLOSES => {
                    let count = stands_for(&mark)?;
                    self.points = ahead;
                    return Some((format!("{OPENS}{mark}{CLOSES}"), count));
                }
                point => mark.push(point),
            }
        }
        None
    }

    /// Takes the next piece; false at the end.
    fn piece(&mut self) -> bool {
        if let Some((mark, _)) = self.mark() {
            self.put(&mark);
            return true;
        }
        let Some(point) = self.points.next() else { return false };
        match point.map(|point| (point, points::class(point))) {
            Err(surrogate) => self.name(u32::from(surrogate)),
            Ok((_, Class::Space)) => self.space(),
            Ok((point, Class::Visible)) => self.letter(point),
            Ok((point, Class::SpacingMark)) if self.before.is_some() => self.letter(point),
            Ok((point, Class::Hidden)) if self.is_in_place(point) => self.joiner(point),
            Ok((point, Class::Mark | Class::SpacingMark | Class::Hidden)) => self.name(u32::from(point)),
        }
        true
    }

    fn push(&mut self, point: char) {
        self.before = Some(point);
        if !self.bare || points::class(point) != Class::Hidden {
            self.text.push(point);
            self.chars += 1;
        }
    }

    fn put(&mut self, mark: &str) {
        self.text.push_str(mark);
        self.chars += mark.chars().count();
        self.before = None;
    }

    fn name(&mut self, number: u32) {
        self.put(&format!("\u{27e6}U+{number:04X}\u{27e7}"));
    }

    fn space(&mut self) {
        while self.take(|point| points::class(point) == Class::Space).is_some() {}
        self.put(" ");
    }

    fn letter(&mut self, point: char) {
        self.push(point);
        if points::is_emoji(point) {
            self.emoji(point);
        } else if points::is_flag_half(point) {
            self.take_in(points::is_flag_half);
        } else if matches!(point, '0'..='9' | '#' | '*') {
            self.keycap();
        } else {
            self.take_in(|selector| points::selects(point, selector));
        }
        self.marks();
    }

    /// Keeps a joiner together with the letter behind it, so that no cut leaves it at an end.
    fn joiner(&mut self, point: char) {
        self.push(point);
        // A second joiner would change nothing that can be seen.
        self.before = None;
        if let Some(letter) = self.take(|next| points::class(next) == Class::Visible) {
            self.letter(letter);
        }
    }

    fn is_in_place(&self, point: char) -> bool {
        self.before.is_some_and(|before| points::in_place(before, point, self.peek()))
    }

    /// What makes one picture of several: selector, skin tone, and joiners with the pictures behind them.
    fn emoji(&mut self, first: char) {
        self.dress(first);
        if first == '\u{1f3f4}' {
            self.tags();
        }
        for _ in 1..JOINED_EMOJI {
            let mut ahead = self.points.clone();
            let (Some(Ok('\u{200d}')), Some(Ok(next))) = (ahead.next(), ahead.next()) else { return };
            if !points::is_emoji(next) {
                return;
            }
            self.points = ahead;
            self.push('\u{200d}');
            self.push(next);
            self.dress(next);
        }
    }

    fn dress(&mut self, picture: char) {
        self.take_in(|selector| points::selects(picture, selector));
        self.take_in(points::is_skin_tone);
    }

    fn tags(&mut self) {
        let is_next = |tags: &&&str| self.points.clone().take(tags.chars().count()).eq(tags.chars().map(Ok));
        let Some(tags) = points::TAGGED_FLAGS.iter().find(is_next) else { return };
        tags.chars().for_each(|tag| self.push(tag));
        self.points.nth(tags.chars().count() - 1);
    }

    fn keycap(&mut self) {
        let mut ahead = self.points.clone();
        if let (Some(Ok(selector @ '\u{fe0f}')), Some(Ok(cap @ '\u{20e3}'))) = (ahead.next(), ahead.next()) {
            self.points = ahead;
            self.push(selector);
            self.push(cap);
        }
    }

    /// The marks on what was just taken, and in silence none of those beyond the limit.
    fn marks(&mut self) {
        for _ in 0..SHOWN_MARKS {
            if self.take_in(is_mark).is_none() && self.joined_mark().is_none() {
                return;
            }
        }
        let mut more = 0_usize;
        while self.take(is_mark).is_some() {
            more += 1;
        }
        if more > 0 {
            self.put(&format!("\u{27e6}+{more}\u{27e7}"));
        }
    }

    /// A joiner and the mark behind it: a virama that is to be drawn in another way.
    fn joined_mark(&mut self) -> Option<()> {
        let mut ahead = self.points.clone();
        let (Some(Ok(joiner)), Some(Ok(mark))) = (ahead.next(), ahead.next()) else { return None };
        let fits = is_mark(mark) && points::in_place(self.before?, joiner, Some(mark));
        fits.then(|| {
            self.points = ahead;
            self.push(joiner);
            self.push(mark);
        })
    }

    fn peek(&self) -> Option<char> {
        self.points.clone().next()?.ok()
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let point = self.peek().filter(|point| wanted(*point))?;
        self.points.next();
        Some(point)
    }

    fn take_in(&mut self, wanted: impl Fn(char) -> bool) -> Option<()> {
        self.take(wanted).map(|point| self.push(point))
    }
}

fn is_mark(point: char) -> bool {
    points::class(point) == Class::Mark
}

#[cfg(test)]
mod tests;
