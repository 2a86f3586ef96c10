//! Values as Ultralytics writes them into ONNX metadata: Python literals such as
//! `{0: 'plane', 1: "it's"}` or `[640, 640]`. JSON of the same shape is read too.

use std::collections::BTreeMap;

/// Class names by index from a dictionary or a list. `None` when the text is neither, an index is
/// missing, or a name is no string.
pub(crate) fn class_names(text: &str) -> Option<Vec<String>> {
    let mut reader = Reader {
        rest: text.trim().chars().collect(),
        at: 0,
    };
    let names = match reader.peek()? {
        '{' => {
            let by_index = reader.dictionary()?;
            let count = by_index.len();
            // Keys are 0, 1, 2, ... without a gap.
            (by_index.keys().copied().eq(0..count)).then(|| by_index.into_values().collect())?
        }
        '[' | '(' => reader.list()?,
        _ => return None,
    };
    reader.skip_space();
    (reader.peek().is_none()).then_some(names)
}

/// Numbers of a list such as `[640, 640]` or of one number alone.
pub(crate) fn numbers(text: &str) -> Option<Vec<f64>> {
    let inner = text
        .trim()
        .trim_start_matches(['[', '('])
        .trim_end_matches([']', ')']);
    inner
        .split(',')
        .filter(|part| !part.trim().is_empty())
        .map(|part| part.trim().parse::<f64>().ok().filter(|n| n.is_finite()))
        .collect()
}

struct Reader {
    rest: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek();
        self.at += 1;
        found
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// The next character that is no space.
    fn token(&mut self) -> Option<char> {
        self.skip_space();
        self.next()
    }

    fn dictionary(&mut self) -> Option<BTreeMap<usize, String>> {
        self.token().filter(|&c| c == '{')?;
        let mut found = BTreeMap::new();
        loop {
            self.skip_space();
            if self.peek()? == '}' {
                self.next();
                return Some(found);
            }
            let key = self.key()?;
            self.token().filter(|&c| c == ':')?;
            self.skip_space();
            let name = self.string()?;
            if found.insert(key, name).is_some() {
                return None;
            }
            self.separator('}')?;
        }
    }

    fn list(&mut self) -> Option<Vec<String>> {
        let close = match self.token()? {
            '[' => ']',
            '(' => ')',
            _ => return None,
        };
        let mut found = Vec::new();
        loop {
            self.skip_space();
            if self.peek()? == close {
                self.next();
                return Some(found);
            }
            found.push(self.string()?);
            self.separator(close)?;
        }
    }

    /// A comma, or nothing before the closing bracket.
    fn separator(&mut self, close: char) -> Option<()> {
        self.skip_space();
        match self.peek()? {
            ',' => {
                self.next();
                Some(())
            }
            found => (found == close).then_some(()),
        }
    }

    /// `0`, `'0'` or `"0"`.
    fn key(&mut self) -> Option<usize> {
        if matches!(self.peek()?, '\'' | '"') {
            return self.string()?.parse().ok();
        }
        let mut digits = String::new();
        while let Some(digit) = self.peek().filter(char::is_ascii_digit) {
            digits.push(digit);
            self.at += 1;
        }
        digits.parse().ok()
    }

    fn string(&mut self) -> Option<String> {
        let quote = self.next().filter(|c| matches!(c, '\'' | '"'))?;
        let mut found = String::new();
        loop {
            match self.next()? {
                '\\' => found.push(self.escape()?),
                c if c == quote => return Some(found),
                c => found.push(c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let digits = match self.next()? {
            'n' => return Some('\n'),
            't' => return Some('\t'),
            'r' => return Some('\r'),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            other => return Some(other),
        };
        let mut number = 0;
        for _ in 0..digits {
            number = number * 16 + self.next()?.to_digit(16)?;
        }
        char::from_u32(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_exporters_write_them() {
        let plane = || Some(vec!["plane".to_owned(), "it's".to_owned()]);
        for (text, expected) in [
            ("{0: 'plane', 1: \"it's\"}", plane()),
            (r"{0: 'plane', 1: 'it\'s'}", plane()),
            (r#"{"0": "plane", "1": "it's"}"#, plane()),
            (r#"["plane", "it's"]"#, plane()),
            ("{1: \"it's\", 0: 'plane',}", plane()),
            (r"{0: 'K\u00fcbel'}", Some(vec!["Kübel".to_owned()])),
            ("{0: 'a, b: {c}'}", Some(vec!["a, b: {c}".to_owned()])),
            ("{}", Some(vec![])),
            ("{0: 'a', 2: 'b'}", None),
            ("{0: 'a', 0: 'b'}", None),
            ("{0: 'a'", None),
            ("{0: a}", None),
            ("{0: 'a'} x", None),
            ("", None),
            ("None", None),
        ] {
            assert_eq!(class_names(text), expected, "{text}");
        }
    }

    #[test]
    fn number_lists() {
        for (text, expected) in [
            ("[640, 480]", Some(vec![640.0, 480.0])),
            ("(1, 2,)", Some(vec![1.0, 2.0])),
            ("28", Some(vec![28.0])),
            ("[a]", None),
            ("[nan]", None),
        ] {
            assert_eq!(numbers(text), expected, "{text}");
        }
    }
}
