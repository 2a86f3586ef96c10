//! Scores as whole thirds of a point, so that sums are exact.

/// A score from 0 to 100. All scores are multiples of 10 or of 100/3, so thirds of a point hold them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Points(u16);

impl Points {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// Everything.
    pub const FULL: Self = Self(300);

    /// 100 or 0.
    #[must_use]
    pub fn all_or_nothing(is_right: bool) -> Self {
        if is_right { Self::FULL } else { Self::ZERO }
    }

    /// 100 times the part of the thresholds that hold. Of three or of ten, the parts are exact.
    #[must_use]
    pub fn part_of<const N: usize>(holds: [bool; N]) -> Self {
        const { assert!(N == 3 || N == 10) };
        let n_hold = holds.into_iter().filter(|holds| *holds).count();
        Self(u16::try_from(300 / N * n_hold).unwrap_or(300))
    }

    /// In thirds of a point.
    #[must_use]
    pub fn thirds(self) -> u64 {
        u64::from(self.0)
    }

    /// In points.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from(self.0) / 3.0
    }
}

/// A sum of scores that can be divided at any time without rounding twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PointsSum {
    thirds: u64,
    n: u64,
}

impl PointsSum {
    /// Adds a score.
    pub fn add(&mut self, points: Points) {
        self.thirds += points.thirds();
        self.n += 1;
    }

    /// Adds the scores of another sum.
    pub fn merge(&mut self, other: Self) {
        self.thirds += other.thirds;
        self.n += other.n;
    }

    /// How many scores.
    #[must_use]
    pub fn n(self) -> u64 {
        self.n
    }

    /// The mean in points; none of none.
    #[must_use]
    pub fn mean(self) -> Option<f64> {
        // Both are exact in a float as long as there are fewer than 3e13 scores.
        (self.n > 0).then(|| self.thirds as f64 / (3 * self.n) as f64)
    }
}

impl FromIterator<Points> for PointsSum {
    fn from_iter<T: IntoIterator<Item = Points>>(scores: T) -> Self {
        let mut sum = Self::default();
        scores.into_iter().for_each(|points| sum.add(points));
        sum
    }
}
