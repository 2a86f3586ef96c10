//! Reads JSON values without building them.

use std::borrow::Cow;

/// What kind of value was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// A value that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<'a> {
    pub(super) kind: Kind,
    /// As it stands in the text; a string without its quotes.
    pub(super) written: &'a str,
}

impl<'a> Value<'a> {
    /// The value as a text: a string decoded, `null` empty, anything else as written.
    pub(super) fn text(self) -> Cow<'a, str> {
        match self.kind {
            Kind::Null => Cow::Borrowed(""),
            Kind::String if self.written.contains('\\') => Cow::Owned(decode(self.written)),
            _ => Cow::Borrowed(self.written),
        }
    }

    /// Whether the string says this.
    pub(super) fn is(self, wanted: &str) -> bool {
        self.written == wanted || (self.written.contains('\\') && decode(self.written) == wanted)
    }
}

/// A place in a text. Methods return `None` where the text is no JSON.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// Reads an object and shows each member. `depth` is how deep it may still go, itself included.
    pub(super) fn object(
        &mut self,
        depth: u8,
        member: &mut dyn FnMut(Value<'a>, Value<'a>),
    ) -> Option<()> {
        self.items(depth, [b'{', b'}'], &mut |scanner, depth| {
            let key = scanner.string()?;
            scanner.skip_space();
            scanner.take(b':').then_some(())?;
            scanner.skip_space();
            let value = scanner.value(depth)?;
            member(key, value);
            Some(())
        })
    }

    /// Reads an array and shows each element.
    pub(super) fn array(&mut self, depth: u8, element: &mut dyn FnMut(Value<'a>)) -> Option<()> {
        self.items(depth, [b'[', b']'], &mut |scanner, depth| {
            element(scanner.value(depth)?);
            Some(())
        })
    }

    /// What objects and arrays share: brackets, items, commas between them.
    fn items(
        &mut self,
        depth: u8,
        [open, close]: [u8; 2],
        item: &mut dyn FnMut(&mut Self, u8) -> Option<()>,
    ) -> Option<()> {
        let depth = depth.checked_sub(1).filter(|depth| *depth > 0)?;
        self.take(open).then_some(())?;
        self.skip_space();
        if self.take(close) {
            return Some(());
        }
        loop {
            item(self, depth)?;
            self.skip_space();
            if self.take(close) {
                return Some(());
            }
            self.take(b',').then_some(())?;
            self.skip_space();
        }
    }

    fn value(&mut self, depth: u8) -> Option<Value<'a>> {
        let start = self.at;
        let kind = match self.peek()? {
            b'{' => {
                self.object(depth, &mut |_, _| {})?;
                Kind::Object
            }
            b'[' => {
                self.array(depth, &mut |_| {})?;
                Kind::Array
            }
            b'"' => return self.string(),
            b'n' => self.word("null", Kind::Null)?,
            b't' => self.word("true", Kind::Bool)?,
            b'f' => self.word("false", Kind::Bool)?,
            _ => self.number()?,
        };
        let written = &self.text[start..self.at];
        Some(Value { kind, written })
    }

    fn word(&mut self, word: &str, kind: Kind) -> Option<Kind> {
        self.text[self.at..].starts_with(word).then_some(())?;
        self.at += word.len();
        Some(kind)
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn number(&mut self) -> Option<Kind> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Some(Kind::Number)
    }

    fn string(&mut self) -> Option<Value<'a>> {
        self.take(b'"').then_some(())?;
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.escape()?,
                0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
        let written = &self.text[start..self.at];
        self.at += 1;
        let kind = Kind::String;
        Some(Value { kind, written })
    }

    fn escape(&mut self) -> Option<()> {
        self.at += 1;
        let letter = self.peek()?;
        self.at += 1;
        match letter {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => match self.hex()? {
                // Half a character alone is none.
                0xdc00..=0xdfff => None,
                0xd800..=0xdbff => {
                    (self.take(b'\\') && self.take(b'u')).then_some(())?;
                    matches!(self.hex()?, 0xdc00..=0xdfff).then_some(())
                }
                _ => Some(()),
            },
            _ => None,
        }
    }

    fn hex(&mut self) -> Option<u16> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        let mut code = 0;
        for digit in digits {
            code = code << 4 | u16::try_from(char::from(*digit).to_digit(16)?).ok()?;
        }
        self.at += 4;
        Some(code)
    }
}

/// The characters of a string that [`Scanner::string`] has read.
fn decode(written: &str) -> String {
    let mut units = Vec::new();
    let mut text = String::with_capacity(written.len());
    let mut chars = written.chars();
    while let Some(c) = chars.next() {
        let letter = if c == '\\' { chars.next() } else { None };
        if letter == Some('u') {
            let code = (0..4).filter_map(|_| chars.next()?.to_digit(16));
            let code = code.fold(0, |code, digit| code << 4 | digit);
            units.push(u16::try_from(code).unwrap_or_default());
            continue;
        }
        flush(&mut units, &mut text);
        text.push(match letter {
            None => c,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(other) => other,
        });
    }
    flush(&mut units, &mut text);
    text
}

/// Turns the UTF-16 units of escapes in a row into characters: two may be one.
fn flush(units: &mut Vec<u16>, text: &mut String) {
    let chars = char::decode_utf16(units.drain(..));
    text.extend(chars.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
}
