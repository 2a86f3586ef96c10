//! Tasks, their components and the capability groups, by their public ids.

use std::fmt;

/// A capability group. Each weighs a quarter of Overall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// 2D perception: six tasks.
    TwoD,
    /// 3D perception: four tasks.
    ThreeD,
    /// Cross-view perception: three tasks.
    CrossView,
    /// Viewpoint and context, in tables also "Reasoning": four tasks.
    ViewpointContext,
}

impl Group {
    /// All, in the order of tables.
    pub const ALL: [Self; 4] = [
        Self::TwoD,
        Self::ThreeD,
        Self::CrossView,
        Self::ViewpointContext,
    ];

    /// The id in files.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::TwoD => "2D",
            Self::ThreeD => "3D",
            Self::CrossView => "cross_view",
            Self::ViewpointContext => "viewpoint_context",
        }
    }

    /// What people read.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::TwoD => "2D perception",
            Self::ThreeD => "3D perception",
            Self::CrossView => "Cross-view perception",
            Self::ViewpointContext => "Viewpoint and context (Reasoning)",
        }
    }

    /// The group's tasks, in the order of tables.
    pub fn tasks(self) -> impl Iterator<Item = Task> {
        Task::ALL
            .into_iter()
            .filter(move |task| task.group() == self)
    }
}

/// Declares the tasks with their group and title.
macro_rules! tasks {
    ($($id:ident $group:ident $title:literal,)*) => {
        /// One of the 17 tasks; the variant's name is its id in files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(clippy::upper_case_acronyms)]
        pub enum Task {
            $(#[doc = $title] $id,)*
        }

        impl Task {
            /// All, in the order of tables.
            pub const ALL: [Self; 17] = [$(Self::$id,)*];

            /// The id in files.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$id => stringify!($id),)* }
            }

            /// What people read.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$id => $title,)* }
            }

            /// The task's group.
            #[must_use]
            pub fn group(self) -> Group {
                match self { $(Self::$id => Group::$group,)* }
            }
        }
    };
}

tasks! {
    BI TwoD "Vehicle brand and model, per image",
    BV TwoD "Vehicle brand and model, voted per vehicle",
    SC TwoD "Vehicle count in one image",
    SR TwoD "Vehicle at a position in the image",
    WU TwoD "Weather",
    VH TwoD "Vehicle heading",
    LW ThreeD "Vehicle length and width",
    HT ThreeD "Vehicle height",
    RD ThreeD "Nearest and farthest vehicle",
    AD ThreeD "Distance from camera to vehicle",
    CC CrossView "Vehicle count across images",
    CG CrossView "Common vehicle of two images",
    RI CrossView "Vehicle found again in another image",
    CP ViewpointContext "Camera height and pitch",
    PC ViewpointContext "Position of the camera as the vehicle sees it",
    CL ViewpointContext "Place of capture",
    CH ViewpointContext "Hour of capture",
}

impl Task {
    /// The task with an id.
    #[must_use]
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.id() == id)
    }

    /// The task's components, in their order.
    pub fn components(self) -> impl Iterator<Item = Component> {
        Component::all().filter(move |component| component.task() == self)
    }

    /// Whether one record, a crop of one vehicle, feeds both components of BI and of BV.
    #[must_use]
    pub fn is_recognition(self) -> bool {
        matches!(self, Self::BI | Self::BV)
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// What a response must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnswerType {
    /// A JSON object with `brand` and `model`, anywhere in the response.
    LabelPair,
    /// Decimal digits.
    Count,
    /// One of the candidates, letter by letter.
    Choice,
    /// A decimal number, plain or scientific.
    Number,
    /// A JSON array x1, y1, x2, y2.
    Box,
    /// A JSON array latitude, longitude, degrees.
    Gps,
}

impl AnswerType {
    /// The value of `config.type`.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::LabelPair => "label_pair",
            Self::Count => "count",
            Self::Choice => "choice",
            Self::Number => "number",
            Self::Box => "box",
            Self::Gps => "gps",
        }
    }
}

/// A row of [`COMPONENTS`].
#[derive(Clone, Copy, Debug)]
pub struct ComponentRow {
    /// The task.
    pub task: Task,
    /// The name within the task.
    pub name: &'static str,
    /// What its responses must be.
    pub answer: AnswerType,
}

const fn row(task: Task, name: &'static str, answer: AnswerType) -> ComponentRow {
    ComponentRow { task, name, answer }
}

/// All components, in the order of tables. A component is what is averaged first.
pub const COMPONENTS: [ComponentRow; 26] = [
    row(Task::BI, "brand", AnswerType::LabelPair),
    row(Task::BI, "pair", AnswerType::LabelPair),
    row(Task::BV, "brand", AnswerType::LabelPair),
    row(Task::BV, "pair", AnswerType::LabelPair),
    row(Task::SC, "count", AnswerType::Count),
    row(Task::SR, "grid", AnswerType::Box),
    row(Task::SR, "extreme", AnswerType::Box),
    row(Task::WU, "weather", AnswerType::Choice),
    row(Task::VH, "heading", AnswerType::Number),
    row(Task::LW, "length", AnswerType::Number),
    row(Task::LW, "width", AnswerType::Number),
    row(Task::HT, "height", AnswerType::Number),
    row(Task::RD, "nearest", AnswerType::Box),
    row(Task::RD, "farthest", AnswerType::Box),
    row(Task::AD, "distance", AnswerType::Number),
    row(Task::CC, "union", AnswerType::Count),
    row(Task::CC, "intersection", AnswerType::Count),
    row(Task::CC, "difference", AnswerType::Count),
    row(Task::CG, "target", AnswerType::Box),
    row(Task::RI, "target", AnswerType::Box),
    row(Task::CP, "height", AnswerType::Number),
    row(Task::CP, "pitch", AnswerType::Number),
    row(Task::PC, "azimuth", AnswerType::Number),
    row(Task::PC, "elevation", AnswerType::Number),
    row(Task::CL, "gps", AnswerType::Gps),
    row(Task::CH, "hour", AnswerType::Number),
];

/// A component: an index into [`COMPONENTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Component(u8);

impl Component {
    /// How many there are.
    pub const N: usize = COMPONENTS.len();

    /// All, in the order of tables.
    pub fn all() -> impl Iterator<Item = Self> {
        (0u8..).take(Self::N).map(Self)
    }

    /// The component of a task by its name.
    #[must_use]
    pub fn find(task: Task, name: &str) -> Option<Self> {
        Self::all().find(|component| component.task() == task && component.name() == name)
    }

    /// The component by its id, such as `CC/union`.
    #[must_use]
    pub fn by_id(id: &str) -> Option<Self> {
        let (task, name) = id.split_once('/')?;
        Self::find(Task::find(task)?, name)
    }

    /// The place in [`COMPONENTS`].
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The task.
    #[must_use]
    pub fn task(self) -> Task {
        COMPONENTS[self.index()].task
    }

    /// The name within the task.
    #[must_use]
    pub fn name(self) -> &'static str {
        COMPONENTS[self.index()].name
    }

    /// What its responses must be.
    #[must_use]
    pub fn answer(self) -> AnswerType {
        COMPONENTS[self.index()].answer
    }
}

/// The id, such as `CC/union`.
impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.task(), self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_six_four_three_and_four_tasks() {
        let sizes = Group::ALL.map(|group| group.tasks().count());
        assert_eq!(sizes, [6, 4, 3, 4]);
    }

    #[test]
    fn ids_lead_back() {
        for component in Component::all() {
            assert_eq!(Component::by_id(&component.to_string()), Some(component));
        }
        for task in Task::ALL {
            assert_eq!(Task::find(task.id()), Some(task));
            assert!(task.components().count() > 0);
        }
        assert_eq!(Component::by_id("CC/unions"), None);
        assert_eq!(Component::by_id("CC"), None);
    }
}
