//! Which photos are of one drone, by what they say of serial numbers.
//!
//! Not every photo of a drone carries every number (one that lost its XMP has fewer): photos are of
//! one body when any number agrees, and a photo without numbers belongs to the only body of its
//! make and model.

use record::Capture;
use std::collections::BTreeMap;

/// The kind of number that is the drone's, not the camera's.
const DRONE: &str = "drone";

/// One body per photo.
pub(super) struct Bodies {
    /// Per photo the body's number, by first photo.
    of: Vec<usize>,
    /// Per body its serial number, where known.
    serials: Vec<Option<String>>,
}

impl Bodies {
    /// Tells the bodies of `captures` apart.
    pub(super) fn of(captures: &[&Capture]) -> Self {
        let mut joined = Joined::new(captures.len());
        let mut by_number: BTreeMap<(Model<'_>, &str, &str), usize> = BTreeMap::new();
        for (idx, capture) in captures.iter().enumerate() {
            for (kind, number) in numbers(capture) {
                // One drone may carry cameras of two models; a camera's number is its maker's.
                let model = match kind {
                    DRONE => (None, None),
                    _ => model_of(capture),
                };
                let first = *by_number.entry((model, kind, number)).or_insert(idx);
                joined.join(first, idx);
            }
        }
        join_the_nameless(captures, &mut joined);
        let mut number_of_root = BTreeMap::new();
        let mut serials: Vec<Option<String>> = Vec::new();
        let of = (0..captures.len())
            .map(|idx| {
                let root = joined.root(idx);
                let number = *number_of_root.entry(root).or_insert_with(|| {
                    serials.push(None);
                    serials.len() - 1
                });
                if serials[number].is_none() {
                    serials[number] = numbers(captures[idx])
                        .next()
                        .map(|(_, serial)| serial.to_owned());
                }
                number
            })
            .collect();
        Self { of, serials }
    }

    /// The number of a photo's body.
    pub(super) fn body(&self, idx: usize) -> usize {
        self.of[idx]
    }

    /// The serial number of a body, if any of its photos carries one.
    pub(super) fn serial(&self, body: usize) -> Option<&str> {
        self.serials[body].as_deref()
    }
}

type Model<'a> = (Option<&'a str>, Option<&'a str>);

fn model_of(capture: &Capture) -> Model<'_> {
    let camera = &capture.camera;
    (
        camera.make.as_ref().map(|make| make.value.as_str()),
        camera.model.as_ref().map(|model| model.value.as_str()),
    )
}

/// Serial numbers with their kind, the camera's own first.
fn numbers(capture: &Capture) -> impl Iterator<Item = (&'static str, &str)> {
    let camera = &capture.camera;
    [
        ("camera", &camera.camera_serial),
        ("body", &camera.body_serial),
        (DRONE, &camera.drone_serial),
    ]
    .into_iter()
    .filter_map(|(kind, stated)| Some((kind, stated.as_ref()?.value.as_str())))
}

/// Photos without any number join the only body of their model; several bodies leave them to
/// themselves.
fn join_the_nameless(captures: &[&Capture], joined: &mut Joined) {
    let mut bodies: BTreeMap<Model<'_>, Vec<usize>> = BTreeMap::new();
    let mut nameless: BTreeMap<Model<'_>, Vec<usize>> = BTreeMap::new();
    for (idx, capture) in captures.iter().enumerate() {
        if numbers(capture).next().is_some() {
            let roots = bodies.entry(model_of(capture)).or_default();
            let root = joined.root(idx);
            if !roots.contains(&root) {
                roots.push(root);
            }
        } else {
            nameless.entry(model_of(capture)).or_default().push(idx);
        }
    }
    for (model, members) in nameless {
        let only = match bodies.get(&model).map(Vec::as_slice) {
            Some([only]) => *only,
            _ => members[0],
        };
        for idx in members {
            joined.join(only, idx);
        }
    }
}

/// Disjoint sets; a set's root is its smallest member.
struct Joined(Vec<usize>);

impl Joined {
    fn new(n: usize) -> Self {
        Self((0..n).collect())
    }

    fn root(&self, mut idx: usize) -> usize {
        while self.0[idx] != idx {
            idx = self.0[idx];
        }
        idx
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}
