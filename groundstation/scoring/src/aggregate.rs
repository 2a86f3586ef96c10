//! From components to Overall (S12): equal means over components, tasks and groups.

use crate::taxonomy::{Component, Group, Task};

/// Means of components, of tasks, of groups, and Overall. A mean is `None` when any part of it is: a
/// number that some questions are missing from would be another number.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    components: [Option<f64>; Component::N],
    tasks: [Option<f64>; Task::ALL.len()],
    groups: [Option<f64>; Group::ALL.len()],
    overall: Option<f64>,
}

impl Aggregate {
    /// Averages scores of components, 0 to 100, `None` where there is none.
    #[must_use]
    pub fn of_components(score: impl Fn(Component) -> Option<f64>) -> Self {
        let mut components = [None; Component::N];
        Component::all().for_each(|component| components[component.index()] = score(component));
        let of_task = |task: Task| mean(task.components().map(|c| components[c.index()]));
        let tasks = Task::ALL.map(of_task);
        let mut aggregate = Self::of_tasks(|task| tasks[task as usize]);
        aggregate.components = components;
        aggregate
    }

    /// Averages scores of tasks, 0 to 100, `None` where there is none.
    #[must_use]
    pub fn of_tasks(score: impl Fn(Task) -> Option<f64>) -> Self {
        let tasks = Task::ALL.map(score);
        let groups = Group::ALL.map(|group| mean(group.tasks().map(|task| tasks[task as usize])));
        Self {
            components: [None; Component::N],
            tasks,
            groups,
            overall: mean(groups),
        }
    }

    /// A component's mean.
    #[must_use]
    pub fn component(&self, component: Component) -> Option<f64> {
        self.components[component.index()]
    }

    /// A task's mean.
    #[must_use]
    pub fn task(&self, task: Task) -> Option<f64> {
        self.tasks[task as usize]
    }

    /// A group's mean.
    #[must_use]
    pub fn group(&self, group: Group) -> Option<f64> {
        self.groups[group as usize]
    }

    /// The mean of the four groups.
    #[must_use]
    pub fn overall(&self) -> Option<f64> {
        self.overall
    }

    /// The mean over the tasks that both periods of the paper share (C.3): of three groups, each the mean
    /// of its shared tasks. A 2D task weighs 1/18, a 3D task 1/6, a task of the third group 1/9.
    #[must_use]
    pub fn common(&self) -> Option<f64> {
        mean(COMMON_TASKS.map(|tasks| mean(tasks.iter().map(|task| self.task(*task)))))
    }

    /// The mean of the eight tasks that are compared between heights and between pitches (E.1).
    #[must_use]
    pub fn diagnostic(&self) -> Option<f64> {
        mean(DIAGNOSTIC_TASKS.map(|task| self.task(task)))
    }
}

/// The tasks that the questions of 2023 and of 2026 share, by group. There is no cross-view task.
pub const COMMON_TASKS: [&[Task]; 3] = [
    &[Task::BI, Task::BV, Task::SC, Task::SR, Task::WU, Task::VH],
    &[Task::LW, Task::HT],
    &[Task::CP, Task::CL, Task::CH],
];

/// The tasks that are compared between heights and between pitches.
pub const DIAGNOSTIC_TASKS: [Task; 8] = [
    Task::BI,
    Task::BV,
    Task::WU,
    Task::RD,
    Task::CP,
    Task::PC,
    Task::CL,
    Task::CH,
];

/// The mean of values that are all there.
fn mean(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let mut n = 0u32;
    let mut sum = 0.0;
    for value in values {
        sum += value?;
        n += 1;
    }
    (n > 0).then(|| sum / f64::from(n))
}

/// Ranks from 1 for the best; equal scores share the better rank. A model without a score has none.
#[must_use]
pub fn ranks(scores: &[Option<f64>]) -> Vec<Option<usize>> {
    let better_than = |score: f64| {
        scores
            .iter()
            .flatten()
            .filter(|other| **other > score)
            .count()
    };
    scores
        .iter()
        .map(|score| Some(better_than((*score)?) + 1))
        .collect()
}

/// Ranks in a first and in a second period; above zero is a better rank in the second.
#[must_use]
pub fn rank_changes(first: &[Option<f64>], second: &[Option<f64>]) -> Vec<Option<i64>> {
    let both = ranks(first).into_iter().zip(ranks(second));
    both.map(|(a, b)| Some(i64::try_from(a?).ok()? - i64::try_from(b?).ok()?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Overall gains when one task gains 24 points.
    fn weight(raised: Task, of: fn(&Aggregate) -> Option<f64>) -> f64 {
        let score = |bonus: f64| {
            Aggregate::of_tasks(|task| Some(if task == raised { 30.0 + bonus } else { 30.0 }))
        };
        let gain = of(&score(24.0)).unwrap() - of(&score(0.0)).unwrap();
        gain / 24.0
    }

    #[test]
    fn tasks_weigh_by_group() {
        for task in Task::ALL {
            let expected = match task.group() {
                Group::TwoD => 1.0 / 24.0,
                Group::ThreeD | Group::ViewpointContext => 1.0 / 16.0,
                Group::CrossView => 1.0 / 12.0,
            };
            assert!(
                (weight(task, Aggregate::overall) - expected).abs() < 1e-12,
                "{task}"
            );
        }
    }

    #[test]
    fn common_tasks_weigh_an_eighteenth_a_sixth_and_a_ninth() {
        for (task, expected) in [
            (Task::VH, 1.0 / 18.0),
            (Task::HT, 1.0 / 6.0),
            (Task::CH, 1.0 / 9.0),
            (Task::AD, 0.0),
            (Task::CC, 0.0),
            (Task::PC, 0.0),
        ] {
            assert!(
                (weight(task, Aggregate::common) - expected).abs() < 1e-12,
                "{task}"
            );
        }
    }

    #[test]
    fn what_is_missing_spreads_upwards_only() {
        let lacking = Component::by_id("CP/pitch").unwrap();
        let found = Aggregate::of_components(|c| (c != lacking).then_some(40.0));
        assert_eq!(
            found.component(Component::by_id("CP/height").unwrap()),
            Some(40.0)
        );
        assert_eq!(found.task(Task::CP), None);
        assert_eq!(found.task(Task::CH), Some(40.0));
        assert_eq!(found.group(Group::ViewpointContext), None);
        assert_eq!(found.group(Group::TwoD), Some(40.0));
        assert_eq!(found.overall(), None);
        assert_eq!(found.diagnostic(), None);
        assert_eq!(found.common(), None);
    }

    #[test]
    fn equal_scores_share_the_better_rank() {
        let scores = [Some(1.0), Some(3.0), None, Some(3.0), Some(2.0)];
        assert_eq!(ranks(&scores), [Some(4), Some(1), None, Some(1), Some(3)]);
        let later = [Some(5.0), Some(3.0), Some(9.0), None, Some(2.0)];
        let changes = [Some(2), Some(-2), None, None, Some(-1)];
        assert_eq!(rank_changes(&scores, &later), changes);
    }
}
