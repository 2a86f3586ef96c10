//! Numbers as drone firmware writes them: `+39.80`, `39,80`, `398/10`, NUL padding, trailing units.

/// Longest text looked at as one number; longer is no number.
const MAX_NUMBER_BYTES: usize = 64;

/// A finite number from a tag's text, or nothing. Accepts a sign, a decimal comma where no point
/// is given, a fraction `a/b`, an exponent, and one trailing unit of letters, `%` or degree signs.
pub(super) fn parse_number(text: &str) -> Option<f64> {
    let text = trim(text);
    if text.is_empty() || text.len() > MAX_NUMBER_BYTES {
        return None;
    }
    if let Some((numerator, denominator)) = text.split_once('/') {
        let value = plain_number(trim(numerator))? / plain_number(trim(denominator))?;
        return value.is_finite().then_some(value);
    }
    plain_number(text)
}

/// All numbers of a list separated by commas, semicolons or spaces; nothing if one is not a number.
pub(super) fn parse_list(text: &str) -> Option<Vec<f64>> {
    trim(text)
        .split(|c: char| c == ',' || c == ';' || c.is_whitespace())
        .filter(|part| !part.is_empty())
        .map(parse_number)
        .collect()
}

/// An XMP `exif:GPSLatitude` style coordinate in degrees: `48,21.1367N`, `48,21,8.2N` or a plain
/// signed number. South and west are negative.
pub(super) fn parse_coordinate(text: &str) -> Option<f64> {
    let text = trim(text);
    let last = text.chars().last()?;
    let sign = match last {
        'N' | 'E' => 1.0,
        'S' | 'W' => -1.0,
        _ => return parse_number(text),
    };
    let parts: Vec<f64> = text[..text.len() - last.len_utf8()]
        .split(',')
        .map(parse_number)
        .collect::<Option<_>>()?;
    if parts.is_empty() || parts.len() > 3 || parts.iter().any(|part| *part < 0.0) {
        return None;
    }
    let degrees = parts
        .iter()
        .zip([1.0, 60.0, 3600.0])
        .map(|(part, per_degree)| part / per_degree)
        .sum::<f64>();
    Some(sign * degrees)
}

/// The text without padding: white space, NULs and quotes at either end.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0' || c == '"')
}

fn plain_number(text: &str) -> Option<f64> {
    let text = text.trim_end_matches(|c: char| c.is_alphabetic() || matches!(c, '%' | '°' | '\''));
    let text = text.trim_end();
    let starts_right = text
        .strip_prefix(['+', '-'])
        .unwrap_or(text)
        .starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
    // Rust also reads "inf" and "nan" as numbers; those start with a letter.
    if !starts_right {
        return None;
    }
    let value: f64 = if text.contains('.') || text.matches(',').count() != 1 {
        text.parse().ok()?
    } else {
        text.replace(',', ".").parse().ok()?
    };
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn firmware_spellings_of_numbers() {
        let cases = [
            ("+39.80", Some(39.8)),
            ("-3.2", Some(-3.2)),
            ("39,80", Some(39.8)),
            ("-0,5", Some(-0.5)),
            ("398/10", Some(39.8)),
            ("-398/10", Some(-39.8)),
            ("398/0", None),
            ("+12.5\0\0\0", Some(12.5)),
            ("  7 ", Some(7.0)),
            ("\"8\"", Some(8.0)),
            ("120.5 m", Some(120.5)),
            ("-90.00°", Some(-90.0)),
            ("45deg", Some(45.0)),
            ("1.5e3", Some(1500.0)),
            (".5", Some(0.5)),
            ("1e999", None),
            ("nan", None),
            ("inf", None),
            ("-inf", None),
            ("undef", None),
            ("", None),
            ("+", None),
            ("--5", None),
            ("1,234,567", None),
            ("1.2.3", None),
            ("3 4", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_number(text), expected, "{text:?}");
        }
        assert_eq!(parse_number(&"9".repeat(100)), None, "too long");
    }

    #[test]
    fn lists_and_coordinates() {
        assert_eq!(
            parse_list("3.04,2.28;-1 +5"),
            Some(vec![3.04, 2.28, -1.0, 5.0])
        );
        assert_eq!(parse_list("1,x"), None);
        assert_eq!(parse_list(""), Some(vec![]));
        let near = |text, expected: f64| {
            let found = parse_coordinate(text).unwrap();
            assert!((found - expected).abs() < 1e-12, "{text}: {found}");
        };
        near("48,21.1367729995753N", 48.352_279_549_992_92);
        near("2,49.15540455031244E", 2.819256742505207);
        near("33,30,36S", -33.51);
        near("-82.6969", -82.6969);
        assert_eq!(parse_coordinate("N"), None);
        assert_eq!(parse_coordinate(""), None);
        assert_eq!(parse_coordinate("1,2,3,4N"), None);
    }
}
