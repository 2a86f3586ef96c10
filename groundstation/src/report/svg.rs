//! Small SVG pictures as text.

use std::fmt::Write as _;

/// Text between tags or in an attribute.
#[must_use]
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// A picture in the making: user units are those of the view box.
pub(super) struct Svg {
    body: String,
}

impl Svg {
    pub(super) fn new() -> Self {
        Self {
            body: String::new(),
        }
    }

    /// Adds an element; `attributes` are trusted, `title` is shown on hover and escaped.
    pub(super) fn element(&mut self, name: &str, attributes: &str, title: &str) {
        if title.is_empty() {
            self.push(format_args!("<{name} {attributes}/>"));
        } else {
            self.push(format_args!(
                "<{name} {attributes}><title>{}</title></{name}>",
                escaped(title)
            ));
        }
    }

    pub(super) fn text(&mut self, x: f64, y: f64, attributes: &str, text: &str) {
        self.push(format_args!(
            "<text x=\"{x:.2}\" y=\"{y:.2}\" {attributes}>{}</text>",
            escaped(text)
        ));
    }

    pub(super) fn line(&mut self, from: [f64; 2], to: [f64; 2], attributes: &str) {
        self.push(format_args!(
            "<line x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\" {attributes}/>",
            from[0], from[1], to[0], to[1]
        ));
    }

    pub(super) fn circle(&mut self, at: [f64; 2], radius: f64, attributes: &str, title: &str) {
        let place = format!(
            "cx=\"{:.2}\" cy=\"{:.2}\" r=\"{radius:.2}\" {attributes}",
            at[0], at[1]
        );
        self.element("circle", &place, title);
    }

    /// Many dots as one path: far smaller than one element each.
    pub(super) fn dots(&mut self, places: impl Iterator<Item = [f64; 2]>, attributes: &str) {
        let mut path = String::new();
        for [x, y] in places {
            write!(path, "M{x:.1} {y:.1}h0").expect("writing to a String does not fail");
        }
        if !path.is_empty() {
            self.push(format_args!(
                "<path d=\"{path}\" stroke-linecap=\"round\" {attributes}/>"
            ));
        }
    }

    pub(super) fn group(&mut self, class: &str, inside: Svg) {
        self.push(format_args!("<g class=\"{class}\">{}</g>", inside.body));
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        self.body
            .write_fmt(text)
            .expect("writing to a String does not fail");
        self.body.push('\n');
    }

    /// The whole picture.
    pub(super) fn finish(self, view_box: [f64; 4], attributes: &str) -> String {
        let [x, y, width, height] = view_box;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{x:.2} {y:.2} {width:.2} \
             {height:.2}\" {attributes}>\n{}</svg>",
            self.body
        )
    }
}

/// A step of 1, 2 or 5 times a power of ten that divides a length into at most `parts`.
#[must_use]
pub(super) fn round_step(length: f64, parts: f64) -> f64 {
    let rough = (length / parts).max(1e-9);
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|&s| s >= rough)
        .unwrap_or(rough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_enough() {
        for (length, expected) in [(100.0, 20.0), (7.0, 1.0), (0.9, 0.2), (999.0, 200.0)] {
            assert!(
                (round_step(length, 7.0) - expected).abs() < 1e-9,
                "{length}"
            );
        }
    }

    #[test]
    fn names_cannot_break_out_of_the_picture() {
        let mut svg = Svg::new();
        svg.text(0.0, 0.0, "", "</text><script>alert(1)</script>");
        let picture = svg.finish([0.0, 0.0, 1.0, 1.0], "");
        assert!(!picture.contains("<script>"), "{picture}");
    }
}
