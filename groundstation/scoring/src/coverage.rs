//! Which questions have exactly one response, and which do not (A.7).

use std::collections::{BTreeMap, BTreeSet};

/// How the ids of responses meet the ids of questions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Questions without a response that counts, sorted.
    pub missing: Vec<String>,
    /// Questions with more than one response. None of them counts, so they are missing too. Sorted.
    pub duplicates: Vec<String>,
    /// Responses to questions that are not asked: left out, and no obstacle. Sorted.
    pub unknown: Vec<String>,
}

impl Coverage {
    /// Compares the ids of questions with those of responses.
    #[must_use]
    pub fn of<'a>(
        expected: impl IntoIterator<Item = &'a str>,
        found: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut n_responses: BTreeMap<&str, u32> = expected.into_iter().map(|id| (id, 0)).collect();
        let mut unknown = BTreeSet::new();
        for id in found {
            match n_responses.get_mut(id) {
                Some(n) => *n += 1,
                None => {
                    unknown.insert(id);
                }
            }
        }
        let ids = |is_wanted: fn(u32) -> bool| {
            let wanted = n_responses.iter().filter(|(_, n)| is_wanted(**n));
            wanted.map(|(id, _)| (*id).to_owned()).collect()
        };
        Self {
            missing: ids(|n| n != 1),
            duplicates: ids(|n| n > 1),
            unknown: unknown.into_iter().map(str::to_owned).collect(),
        }
    }

    /// Whether an official score can be given: nothing is missing.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }
}
