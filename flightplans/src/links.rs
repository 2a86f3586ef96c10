//! Which photos can be matched with each other, and the photos to add so that all hang together.
//!
//! Two photos match when they share at least half of the smaller footprint, see its middle from
//! directions within 20 degrees and at scales within a factor of 2. Steeper changes of view lose
//! features: of a view straight down a 30 degree view finds hardly any, while 30-45, 45-60 and
//! 60-90 connect, and so does a factor of 2 in height.

use calibration::{Footprint, overlap};
use nalgebra::Vector3;
use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// Least share of the smaller footprint in common.
pub(crate) const MIN_SHARE: f64 = 0.5;
/// Largest angle between the views of the common middle, degrees.
pub(crate) const MAX_ANGLE_DEG: f64 = 20.0;
/// Largest ratio of scales; heights of 30 and 60 m are exactly 2 apart, so rounding must not decide.
pub(crate) const MAX_SCALE: f64 = 2.0 * (1.0 + 1e-6);
/// Least neighbours of every photo.
pub(crate) const MIN_NEIGHBOURS: usize = 4;

/// A photo's footprint and what spares the exact comparison.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    footprint: Footprint,
    low: nalgebra::Vector2<f64>,
    high: nalgebra::Vector2<f64>,
    centre: Vector3<f64>,
    area_m2: f64,
    ground_m: f64,
    /// Photos of one kind see the same about their places; `None` where the ground is not level.
    kind: Option<u64>,
}

/// Pairs that were compared: of like kinds at like distances all match or none does.
#[derive(Default)]
pub(crate) struct Known {
    pairs: RefCell<HashMap<(u64, u64, i32, i32), bool>>,
}

/// Distances that differ by less are the same, metres.
const SAME_M: f64 = 1e-3;

impl Known {
    /// Whether two photos match.
    #[must_use]
    pub(crate) fn matches(&self, a: &Seen, b: &Seen) -> bool {
        if !a.may_match(b) {
            return false;
        }
        let (Some(kind_a), Some(kind_b)) = (a.kind, b.kind) else {
            return a.matches(b);
        };
        let way = (b.centre - a.centre) / SAME_M;
        let way = (way.x.round() as i32, way.y.round() as i32);
        let key = if (kind_a, (0, 0)) <= (kind_b, way) {
            (kind_a, kind_b, way.0, way.1)
        } else {
            (kind_b, kind_a, -way.0, -way.1)
        };
        if let Some(known) = self.pairs.borrow().get(&key) {
            return *known;
        }
        let found = a.matches(b);
        self.pairs.borrow_mut().insert(key, found);
        found
    }
}

impl Seen {
    /// What a photo sees.
    #[must_use]
    pub(crate) fn of(footprint: Footprint, kind: Option<u64>) -> Self {
        let (low, high) = crate::plane::bounds(footprint.hull())
            .unwrap_or((nalgebra::Vector2::zeros(), nalgebra::Vector2::zeros()));
        let centre = footprint.view().centre().vector;
        Self {
            low,
            high,
            centre,
            area_m2: footprint.area_m2(),
            ground_m: footprint.view().ground_z().get(),
            footprint,
            kind,
        }
    }

    /// Whether two photos match.
    #[must_use]
    pub(crate) fn matches(&self, other: &Self) -> bool {
        self.may_match(other)
            && overlap(&self.footprint, &other.footprint).is_some_and(|both| {
                both.share >= MIN_SHARE
                    && both.view_angle.to_degrees() <= MAX_ANGLE_DEG
                    && both.scale_ratio <= MAX_SCALE
            })
    }

    /// False only for pairs that cannot match: boxes with less than half of the smaller footprint
    /// in common, or, for cameras that see all of the common box from very different directions.
    pub(crate) fn may_match(&self, other: &Self) -> bool {
        let low = self.low.sup(&other.low);
        let high = self.high.inf(&other.high);
        let common = high - low;
        if common.x <= 0.0 || common.y <= 0.0 {
            return false;
        }
        let smaller = self.area_m2.min(other.area_m2);
        if common.x * common.y < MIN_SHARE * smaller {
            return false;
        }
        // The angle at which the two cameras appear is least at the box's furthest corner; taking
        // a few places and a wide margin never refuses a pair that the exact test would take.
        let places = [
            (low + high) / 2.0,
            low,
            high,
            nalgebra::Vector2::new(low.x, high.y),
            nalgebra::Vector2::new(high.x, low.y),
        ];
        let least_cosine = (1.5 * MAX_ANGLE_DEG).to_radians().cos();
        places.iter().any(|place| {
            let place = Vector3::new(place.x, place.y, self.ground_m);
            let (a, b) = (self.centre - place, other.centre - place);
            let dot = a.dot(&b);
            dot > 0.0 && dot * dot >= least_cosine.powi(2) * a.norm_squared() * b.norm_squared()
        })
    }
}

/// The photos and their pairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// Neighbours of each photo, ascending.
    pub(crate) neighbours: Vec<Vec<usize>>,
}

impl Graph {
    /// All matching pairs.
    #[must_use]
    pub(crate) fn of(photos: &[Seen]) -> Self {
        let mut by_west: Vec<usize> = (0..photos.len()).collect();
        by_west.sort_by(|a, b| photos[*a].low.x.total_cmp(&photos[*b].low.x).then(a.cmp(b)));
        let mut neighbours = vec![Vec::new(); photos.len()];
        for (at, &a) in by_west.iter().enumerate() {
            let reach = photos[a].high.x;
            for &b in by_west[at + 1..]
                .iter()
                .take_while(|b| photos[**b].low.x < reach)
            {
                if photos[a].matches(&photos[b]) {
                    neighbours[a].push(b);
                    neighbours[b].push(a);
                }
            }
        }
        neighbours.iter_mut().for_each(|list| list.sort_unstable());
        Self { neighbours }
    }

    /// Adds a photo with its neighbours.
    pub(crate) fn push(&mut self, neighbours: Vec<usize>) {
        let index = self.neighbours.len();
        for neighbour in &neighbours {
            self.neighbours[*neighbour].push(index);
        }
        self.neighbours.push(neighbours);
    }

    /// The group of each photo, numbered by its first photo.
    #[must_use]
    pub(crate) fn groups(&self) -> Vec<usize> {
        let mut group = vec![usize::MAX; self.neighbours.len()];
        for first in 0..group.len() {
            if group[first] != usize::MAX {
                continue;
            }
            let mut open = vec![first];
            group[first] = first;
            while let Some(photo) = open.pop() {
                for &next in &self.neighbours[photo] {
                    if group[next] == usize::MAX {
                        group[next] = first;
                        open.push(next);
                    }
                }
            }
        }
        group
    }

    /// Whether all photos are one group in which each has enough neighbours.
    #[must_use]
    pub(crate) fn holds(&self) -> bool {
        self.n_groups() <= 1 && self.min_neighbours() >= MIN_NEIGHBOURS
    }

    /// Photos with too few neighbours or outside the largest group.
    #[must_use]
    pub(crate) fn loose(&self) -> Vec<usize> {
        wanting(self, &self.groups())
    }

    /// How many groups.
    #[must_use]
    pub(crate) fn n_groups(&self) -> usize {
        let groups = self.groups();
        groups
            .iter()
            .enumerate()
            .filter(|(photo, group)| photo == *group)
            .count()
    }

    /// Whether all photos but one still are one group in which each has enough neighbours.
    #[must_use]
    pub(crate) fn holds_without(&self, photo: usize, is_gone: &[bool]) -> bool {
        let is_left = |other: usize| other != photo && !is_gone[other];
        let degree = |other: usize| {
            let list = self.neighbours[other].iter();
            list.filter(|next| is_left(**next)).count()
        };
        if self.neighbours[photo]
            .iter()
            .any(|other| is_left(*other) && degree(*other) < MIN_NEIGHBOURS)
        {
            return false;
        }
        let n_left = (0..is_gone.len()).filter(|other| is_left(*other)).count();
        let Some(first) = (0..is_gone.len()).find(|other| is_left(*other)) else {
            return false;
        };
        let mut is_seen = vec![false; is_gone.len()];
        let (mut open, mut n_seen) = (vec![first], 0);
        is_seen[first] = true;
        while let Some(here) = open.pop() {
            n_seen += 1;
            for &next in &self.neighbours[here] {
                if is_left(next) && !std::mem::replace(&mut is_seen[next], true) {
                    open.push(next);
                }
            }
        }
        n_seen == n_left
    }

    /// The graph of the photos that are left.
    #[must_use]
    pub(crate) fn without(&self, is_gone: &[bool]) -> Self {
        let mut number = vec![usize::MAX; is_gone.len()];
        for (new, old) in (0..is_gone.len()).filter(|old| !is_gone[*old]).enumerate() {
            number[old] = new;
        }
        let kept = self.neighbours.iter().enumerate();
        let neighbours = kept
            .filter(|(old, _)| !is_gone[*old])
            .map(|(_, list)| {
                list.iter()
                    .filter(|old| !is_gone[**old])
                    .map(|old| number[*old])
                    .collect()
            })
            .collect();
        Self { neighbours }
    }

    /// How many pairs.
    #[must_use]
    pub(crate) fn n_pairs(&self) -> usize {
        self.neighbours.iter().map(Vec::len).sum::<usize>() / 2
    }

    /// Fewest neighbours of a photo.
    #[must_use]
    pub(crate) fn min_neighbours(&self) -> usize {
        self.neighbours.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// Photos with too few neighbours.
    #[must_use]
    pub(crate) fn n_short(&self) -> usize {
        self.neighbours
            .iter()
            .filter(|list| list.len() < MIN_NEIGHBOURS)
            .count()
    }
}

/// Offers times wanting photos that one step looks at.
const MAX_COMPARED: usize = 200_000;
/// Side of the tiles that footprints are found by.
const TILE_M: f64 = 40.0;
/// Up to this many offers none is missed; of more only the likely ones are looked at.
const MAX_EXACT_OFFERS: usize = 20_000;
/// Pairs of offers that a bridge is sought among.
const MAX_BRIDGES: usize = 4_000_000;

/// A photo that could be added.
pub(crate) struct Offer<'a> {
    /// Its index among the caller's candidates.
    pub(crate) index: usize,
    /// What it sees.
    pub(crate) seen: &'a Seen,
    /// Seconds that it costs.
    pub(crate) cost_s: f64,
}

/// Adds offers one by one, the most useful a second first, until all photos are one group and each
/// has enough neighbours, or no offer helps. Returns the indices of those added.
#[must_use]
pub(crate) fn connect(
    photos: &mut Vec<Seen>,
    graph: &mut Graph,
    offers: &[Offer<'_>],
) -> Vec<usize> {
    let mut search = Search::new(photos, graph, offers);
    loop {
        let groups = search.groups.all();
        let wanting = wanting(graph, &groups);
        if wanting.is_empty() {
            break;
        }
        let mut taken = search.best(photos, graph, &groups, &wanting);
        if taken.is_empty() {
            taken = search.bridge(photos, &groups);
        }
        if taken.is_empty() {
            break;
        }
        for offer in taken {
            search.take(offer, photos, graph);
        }
    }
    search.added
}

struct Search<'a> {
    offers: &'a [Offer<'a>],
    offers_by_tile: Tiles,
    photos_by_tile: Tiles,
    groups: Groups,
    /// How many photos an offer has been compared with, and its neighbours among them.
    known: Vec<(usize, Vec<usize>)>,
    is_taken: Vec<bool>,
    /// Photos that no offer helps.
    is_hopeless: Vec<bool>,
    pairs: Known,
    /// Offers that match the photos which are being helped.
    near: BTreeMap<usize, Vec<usize>>,
    added: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(photos: &[Seen], graph: &Graph, offers: &'a [Offer<'a>]) -> Self {
        let mut search = Self {
            offers,
            offers_by_tile: Tiles::default(),
            photos_by_tile: Tiles::default(),
            groups: Groups::default(),
            known: vec![(0, Vec::new()); offers.len()],
            is_taken: vec![false; offers.len()],
            is_hopeless: vec![false; photos.len()],
            pairs: Known::default(),
            near: BTreeMap::new(),
            added: Vec::new(),
        };
        for (at, offer) in offers.iter().enumerate() {
            search.offers_by_tile.insert(at, offer.seen);
        }
        for (at, photo) in photos.iter().enumerate() {
            search.photos_by_tile.insert(at, photo);
            search.groups.push(&[]);
        }
        for (photo, neighbours) in graph.neighbours.iter().enumerate() {
            neighbours
                .iter()
                .for_each(|other| search.groups.join(photo, *other));
        }
        search
    }

    /// On large sites one step mends one place.
    fn n_at_once(&self) -> usize {
        (MAX_COMPARED / self.offers.len().max(1)).max(2)
    }

    /// The offer of most use a second for some of the wanting photos; none when none helps any.
    fn best(
        &mut self,
        photos: &[Seen],
        graph: &Graph,
        groups: &[usize],
        wanting: &[usize],
    ) -> Vec<usize> {
        let mut left: Vec<usize> = wanting
            .iter()
            .copied()
            .filter(|photo| !self.is_hopeless[*photo])
            .collect();
        while !left.is_empty() {
            let n_now = left.len().min(self.n_at_once());
            let mut near: Vec<usize> = Vec::new();
            let now = &left[..n_now];
            self.near.retain(|photo, _| now.contains(photo));
            for &photo in now {
                let offers = match self.near.entry(photo) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => {
                        let mut offers = if self.offers.len() > MAX_EXACT_OFFERS {
                            self.offers_by_tile.about(&photos[photo])
                        } else {
                            self.offers_by_tile.within(&photos[photo])
                        };
                        offers
                            .retain(|at| self.pairs.matches(self.offers[*at].seen, &photos[photo]));
                        place.insert(offers)
                    }
                };
                near.extend(offers.iter().filter(|at| !self.is_taken[**at]));
            }
            near.sort_unstable();
            near.dedup();
            let mut best: Option<(f64, usize)> = None;
            for at in near {
                self.compare(at, photos);
                let worth = use_of(&self.known[at].1, graph, groups) / self.offers[at].cost_s;
                if worth > 0.0 && best.is_none_or(|(most, _)| worth > most) {
                    best = Some((worth, at));
                }
            }
            if let Some((_, at)) = best {
                return vec![at];
            }
            for photo in left.drain(..n_now) {
                self.is_hopeless[photo] = true;
            }
        }
        Vec::new()
    }

    /// Two offers that together join two groups which no single one joins: the cheapest pair.
    fn bridge(&mut self, photos: &[Seen], groups: &[usize]) -> Vec<usize> {
        for at in 0..self.offers.len() {
            self.compare(at, photos);
        }
        let group_of = |at: usize| self.known[at].1.first().map(|photo| groups[*photo]);
        let ends: Vec<(usize, usize)> = (0..self.offers.len())
            .filter(|at| !self.is_taken[*at])
            .filter_map(|at| Some((at, group_of(at)?)))
            .collect();
        if ends.len() * ends.len() > MAX_BRIDGES {
            return Vec::new();
        }
        let mut best: Option<(f64, [usize; 2])> = None;
        for (index, &(a, group_a)) in ends.iter().enumerate() {
            for &(b, group_b) in &ends[index + 1..] {
                let cost_s = self.offers[a].cost_s + self.offers[b].cost_s;
                if group_a != group_b
                    && best.is_none_or(|(least, _)| cost_s < least)
                    && self.offers[a].seen.matches(self.offers[b].seen)
                {
                    best = Some((cost_s, [a, b]));
                }
            }
        }
        best.map_or_else(Vec::new, |(_, pair)| pair.to_vec())
    }

    /// Compares an offer with the photos added since the last time.
    fn compare(&mut self, at: usize, photos: &[Seen]) {
        let (n_seen, neighbours) = &mut self.known[at];
        if *n_seen == photos.len() {
            return;
        }
        let seen = self.offers[at].seen;
        if *n_seen == 0 {
            *neighbours = self.photos_by_tile.within(seen);
            neighbours.retain(|photo| self.pairs.matches(seen, &photos[*photo]));
        } else {
            let new = *n_seen..photos.len();
            neighbours.extend(new.filter(|photo| self.pairs.matches(seen, &photos[*photo])));
        }
        *n_seen = photos.len();
    }

    fn take(&mut self, at: usize, photos: &mut Vec<Seen>, graph: &mut Graph) {
        self.compare(at, photos);
        self.is_taken[at] = true;
        let seen = self.offers[at].seen;
        self.photos_by_tile.insert(photos.len(), seen);
        self.groups.push(&self.known[at].1);
        self.is_hopeless.push(false);
        graph.push(self.known[at].1.clone());
        photos.push(seen.clone());
        self.added.push(self.offers[at].index);
        // What was hopeless may be helped beside the new one.
        for neighbour in &self.known[at].1 {
            self.is_hopeless[*neighbour] = false;
        }
    }
}

/// Footprints by the square tiles that their boxes meet.
#[derive(Default)]
struct Tiles {
    members: BTreeMap<(i32, i32), Vec<usize>>,
}

impl Tiles {
    fn tile(at: f64) -> i32 {
        (at / TILE_M).floor() as i32
    }

    fn insert(&mut self, member: usize, seen: &Seen) {
        for x in Self::tile(seen.low.x)..=Self::tile(seen.high.x) {
            for y in Self::tile(seen.low.y)..=Self::tile(seen.high.y) {
                self.members.entry((x, y)).or_default().push(member);
            }
        }
    }

    /// All whose boxes may meet a footprint's box, ascending.
    fn within(&self, seen: &Seen) -> Vec<usize> {
        let mut found = Vec::new();
        for x in Self::tile(seen.low.x)..=Self::tile(seen.high.x) {
            for y in Self::tile(seen.low.y)..=Self::tile(seen.high.y) {
                found.extend(self.members.get(&(x, y)).into_iter().flatten());
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Those at the middle of a footprint's box and half way to its corners: what shares half of it
    /// is hardly ever missed.
    fn about(&self, seen: &Seen) -> Vec<usize> {
        let mut tiles: Vec<(i32, i32)> = Vec::new();
        for share_x in [0.25, 0.5, 0.75] {
            for share_y in [0.25, 0.5, 0.75] {
                let place = seen.low
                    + (seen.high - seen.low)
                        .component_mul(&nalgebra::Vector2::new(share_x, share_y));
                tiles.push((Self::tile(place.x), Self::tile(place.y)));
            }
        }
        tiles.sort_unstable();
        tiles.dedup();
        let mut found: Vec<usize> = tiles
            .iter()
            .filter_map(|tile| self.members.get(tile))
            .flatten()
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Groups that only grow together: each photo's way to its group's first.
#[derive(Default)]
struct Groups {
    up: Vec<usize>,
}

impl Groups {
    fn first(&mut self, photo: usize) -> usize {
        let mut at = photo;
        while self.up[at] != at {
            self.up[at] = self.up[self.up[at]];
            at = self.up[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        let (low, high) = (a.min(b), a.max(b));
        self.up[high] = low;
    }

    fn push(&mut self, neighbours: &[usize]) {
        let photo = self.up.len();
        self.up.push(photo);
        neighbours.iter().for_each(|other| self.join(photo, *other));
    }

    fn all(&mut self) -> Vec<usize> {
        (0..self.up.len()).map(|photo| self.first(photo)).collect()
    }
}

/// Photos with too few neighbours or outside the largest group.
fn wanting(graph: &Graph, groups: &[usize]) -> Vec<usize> {
    let mut sizes = vec![0usize; groups.len()];
    groups.iter().for_each(|group| sizes[*group] += 1);
    let largest = (0..sizes.len()).max_by_key(|group| (sizes[*group], usize::MAX - group));
    (0..groups.len())
        .filter(|photo| {
            graph.neighbours[*photo].len() < MIN_NEIGHBOURS || Some(groups[*photo]) != largest
        })
        .collect()
}

/// Groups that a photo with these neighbours would join, and photos whose want it would lessen.
/// One that would itself be left with too few neighbours is worth less.
fn use_of(neighbours: &[usize], graph: &Graph, groups: &[usize]) -> f64 {
    let mut joined: Vec<usize> = neighbours.iter().map(|photo| groups[*photo]).collect();
    joined.sort_unstable();
    joined.dedup();
    let helped = neighbours
        .iter()
        .filter(|photo| graph.neighbours[**photo].len() < MIN_NEIGHBOURS)
        .count();
    let joins = joined.len().saturating_sub(1);
    let own_want = MIN_NEIGHBOURS.saturating_sub(neighbours.len());
    // A lone step out of a group may be needed before the next one joins it to another.
    (4.0 * joins as f64 + helped as f64 - 0.25 * own_want as f64).max(0.0)
}
