//! The live protocol: which scenes are admitted, which one leaves, when answers may be public (Eq. 1, 2).

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use std::collections::BTreeMap;

/// Calendar months from first admission to the earliest disclosure.
pub const EMBARGO_MONTHS: i64 = 4;

/// Whether every image was taken strictly after the previous release and before this one, as instants.
/// The first release has no previous one; a scene without images is not admitted.
#[must_use]
pub fn is_admissible(
    previous_release: Option<Timestamp>,
    release: Timestamp,
    capture_times: &[Timestamp],
) -> bool {
    let is_between = |time: &Timestamp| {
        previous_release.is_none_or(|previous| previous < *time) && *time < release
    };
    !capture_times.is_empty() && capture_times.iter().all(is_between)
}

/// The first day on which a scene's answers may be public: when it has retired and four calendar months
/// have passed since its admission. Months end early where a day is missing: October 31 leads to
/// the last day of February.
///
/// # Errors
/// When the date would be beyond the calendar.
pub fn public_not_before(first_admission: Date, retirement: Date) -> Result<Date, jiff::Error> {
    let embargo = first_admission.checked_add(EMBARGO_MONTHS.months())?;
    Ok(embargo.max(retirement))
}

/// Replaces the earliest admitted scene of a window by a new one, which goes last; scenes admitted
/// together leave by their id. Returns the new window in its old order and the scene that left; `None`
/// when the window is empty, holds a scene whose admission is unknown, or holds the new one already.
#[must_use]
pub fn advance<T: Ord>(
    window: &[String],
    admitted: &BTreeMap<String, T>,
    new: &str,
) -> Option<(Vec<String>, String)> {
    if window.iter().any(|scene| scene == new) {
        return None;
    }
    let mut order = window
        .iter()
        .map(|scene| Some((admitted.get(scene)?, scene)))
        .collect::<Option<Vec<_>>>()?;
    order.sort();
    let (_, retired) = order.first()?;
    let kept = window.iter().filter(|scene| scene != retired).cloned();
    let next = kept.chain([new.to_owned()]).collect();
    Some((next, (*retired).clone()))
}
