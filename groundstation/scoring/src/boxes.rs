//! Horizontal boxes: conventions of coordinates, legality, intersection over union without rounding.

use crate::decimal::Decimal;
use crate::invalid::Invalid;
use crate::json::{NotNumbers, numbers};

/// How a model writes coordinates. References are on the grid of 0 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// 0 to 1000 across and down.
    Norm1000,
    /// 0 to 100 across and down, as GeoChat does.
    Norm100,
    /// Pixels of the target image, as GeoLLaVA does.
    Pixel {
        /// The image's width, pixels.
        width: u32,
        /// The image's height, pixels.
        height: u32,
    },
}

impl Convention {
    /// The greatest legal x and y.
    #[must_use]
    pub fn limits(self) -> [u32; 2] {
        match self {
            Self::Norm1000 => [1000, 1000],
            Self::Norm100 => [100, 100],
            Self::Pixel { width, height } => [width, height],
        }
    }
}

/// A box: left, top, right, bottom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HorizontalBox {
    /// x1, y1, x2, y2 with x1 < x2 and y1 < y2.
    edges: [Decimal; 4],
}

impl HorizontalBox {
    /// A box whose edges are in order, inside 0 to the limits.
    ///
    /// # Errors
    /// When they are not.
    pub fn new(edges: [Decimal; 4], [x_max, y_max]: [u32; 2]) -> Result<Self, Invalid> {
        let [x1, y1, x2, y2] = &edges;
        let fits = |low: &Decimal, high: &Decimal, max: u32| {
            !low.is_negative() && *high <= Decimal::from_integer(i64::from(max))
        };
        if x1 >= x2 || y1 >= y2 {
            return Err(Invalid::Unordered);
        }
        if !fits(x1, x2, x_max) || !fits(y1, y2, y_max) {
            return Err(Invalid::OutsideImage { x_max, y_max });
        }
        Ok(Self { edges })
    }

    /// Reads a response that is nothing but a JSON array of four numbers, legal in the convention.
    ///
    /// # Errors
    /// Why it is no box.
    pub fn parse(text: &str, convention: Convention) -> Result<Self, Invalid> {
        Self::new(decimals::<4>(text)?, convention.limits())
    }

    /// The box with x and y times these.
    fn stretched(&self, by: [u32; 2]) -> Self {
        let mut along = [by[0], by[1], by[0], by[1]].into_iter();
        let edges = self.edges.each_ref().map(|edge| {
            let factor = along.next().expect("four factors for four edges");
            edge.times_integer(i64::from(factor))
        });
        Self { edges }
    }

    fn area(&self) -> Decimal {
        let [x1, y1, x2, y2] = &self.edges;
        x2.minus(x1).times(&y2.minus(y1))
    }

    /// Intersection and union of a response with the reference, as areas in one unit. Instead of
    /// dividing the response by its grid, both are multiplied by the other's: nothing is rounded.
    fn overlap(&self, convention: Convention, reference: &Self) -> (Decimal, Decimal) {
        let response = self.stretched([1000, 1000]);
        let reference = reference.stretched(convention.limits());
        let [a, b] = [&response.edges, &reference.edges];
        let width = (&a[2]).min(&b[2]).minus((&a[0]).max(&b[0]));
        let height = (&a[3]).min(&b[3]).minus((&a[1]).max(&b[1]));
        let intersection = if width.is_positive() && height.is_positive() {
            width.times(&height)
        } else {
            Decimal::from_integer(0)
        };
        let both = response.area().plus(&reference.area());
        let union = both.minus(&intersection);
        (intersection, union)
    }

    /// Whether the intersection over union with the reference is at least one half.
    #[must_use]
    pub fn covers_half(&self, convention: Convention, reference: &Self) -> bool {
        let (intersection, union) = self.overlap(convention, reference);
        intersection.times_integer(2) >= union
    }

    /// The intersection over union, rounded: a diagnostic that decides nothing.
    #[must_use]
    pub fn intersection_over_union(&self, convention: Convention, reference: &Self) -> f64 {
        let (intersection, union) = self.overlap(convention, reference);
        intersection.to_f64() / union.to_f64()
    }
}

/// The numbers of a response that is nothing but a JSON array of them.
///
/// # Errors
/// Why it is none.
pub(crate) fn decimals<const N: usize>(text: &str) -> Result<[Decimal; N], Invalid> {
    let written = numbers::<N>(text).map_err(|error| match error {
        NotNumbers::NotAnArray => Invalid::NotAnArray,
        NotNumbers::OtherValues => Invalid::NotNumbers,
        NotNumbers::Length(found) => Invalid::Length { found, expected: N },
    })?;
    let mut values = [const { None }; N];
    for (value, written) in values.iter_mut().zip(written) {
        *value = Some(Decimal::parse(written).map_err(|_| Invalid::NotFinite)?);
    }
    Ok(values.map(|value| value.expect("each was just set")))
}
