//! Sets of what may be chosen, a bit each.

/// A set of members.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Members(pub(super) Vec<u64>);

impl Members {
    pub(super) fn none(n: usize) -> Self {
        Self(vec![0; n.div_ceil(64)])
    }

    pub(super) fn has(&self, member: usize) -> bool {
        self.0[member / 64] >> (member % 64) & 1 == 1
    }

    pub(super) fn insert(&mut self, member: usize) {
        self.0[member / 64] |= 1 << (member % 64);
    }

    pub(super) fn remove(&mut self, member: usize) {
        self.0[member / 64] &= !(1 << (member % 64));
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own |= other;
        }
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let words = self.0.iter().zip(&other.0);
        Self(words.map(|(own, other)| own & other).collect())
    }

    pub(super) fn without(&self, other: &Self) -> Self {
        let words = self.0.iter().zip(&other.0);
        Self(words.map(|(own, other)| own & !other).collect())
    }

    /// How many are in both.
    pub(super) fn n_common(&self, other: &Self) -> usize {
        let words = self.0.iter().zip(&other.0);
        words.map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// Those in both, ascending.
    pub(super) fn common<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = usize> + 'a {
        let words = self.0.iter().zip(&other.0);
        words.enumerate().flat_map(|(at, (a, b))| {
            let mut left = a & b;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros() as usize;
                    left &= left - 1;
                    at * 64 + bit
                })
            })
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.common(self)
    }

    pub(super) fn first(&self) -> Option<usize> {
        self.iter().next()
    }
}
