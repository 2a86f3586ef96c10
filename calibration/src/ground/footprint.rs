//! The part of the ground that a picture covers, clipped where the view becomes too flat, too far
//! or too coarse.

use super::{GroundView, depression_of, polygon};
use crate::camera::{CameraModel, Pixel};
use crate::frames::{Enu, Point};
use crate::units::{Metres, Radians};
use nalgebra::{Vector2, Vector3};

/// Border samples on each side of the picture: with distortion the sides are curves on the ground.
pub const POINTS_PER_EDGE: u32 = 16;
/// A view is never followed flatter than this, whatever the limits say: 0.06 degrees, where the
/// ground is a thousand heights away and earth's curvature has long made the plane wrong.
const FLATTEST_RAD: f64 = 1e-3;
/// Halvings when the end of the view is sought between two pixels: 1e-5 px of 10,000.
const BISECTIONS: usize = 30;
/// Cells of the grid of pixels where a place within the limits is sought.
const SEARCH_CELLS: u32 = 8;

/// Where a view of the ground ends: whatever comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewLimits {
    /// Rays flatter than this below the horizontal are not used.
    pub min_depression: Radians,
    /// Largest horizontal distance from the point under the camera.
    pub max_range: Option<Metres>,
    /// Largest ground sample distance across the view, metres per pixel.
    pub max_gsd: Option<Metres>,
}

/// What a picture covers on the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Footprint {
    pub(super) view: GroundView,
    pub(super) hull: Vec<Vector2<f64>>,
    corners: Vec<Vector2<f64>>,
    clipped: bool,
}

impl ViewLimits {
    /// Only a smallest depression.
    #[must_use]
    pub fn down_from(min_depression: Radians) -> Self {
        Self {
            min_depression,
            max_range: None,
            max_gsd: None,
        }
    }

    /// For choosing pairs of photos: 8 degrees, four heights, 300 m. Further out nothing can be
    /// matched with a picture taken from elsewhere.
    #[must_use]
    pub fn for_pairs(height_above_ground: Metres) -> Self {
        Self {
            min_depression: Radians::from_degrees(8.0),
            max_range: Some(Metres((4.0 * height_above_ground.get()).min(300.0))),
            max_gsd: None,
        }
    }
}

impl GroundView {
    /// Where a pixel's ray meets the ground, if that is within the limits.
    #[must_use]
    pub fn ground_within(&self, pixel: Pixel, limits: &ViewLimits) -> Option<Point<Enu>> {
        let ray = self.ray_in_enu(pixel)?.vector;
        if depression_of(&ray).get() < limits.min_depression.get().max(FLATTEST_RAD) {
            return None;
        }
        let point = self.meet(&ray)?;
        let range = (point - self.centre).xy().norm();
        if limits.max_range.is_some_and(|limit| range > limit.get()) {
            return None;
        }
        if let Some(limit) = limits.max_gsd
            && self.ground_sample_distance(pixel)?.across > limit
        {
            return None;
        }
        Some(Point::from_vector(point))
    }

    /// The ground that the picture covers within the limits. `None` when that is nothing.
    ///
    /// The polygon follows the picture's border ([`POINTS_PER_EDGE`] samples a side); where the
    /// border looks beyond a limit it follows the limit instead: an arc about the point under the
    /// camera for depression and range, a line across the view for sample distance. What lies
    /// within the limits is convex but for lens distortion, and is followed from a place in its
    /// middle.
    #[must_use]
    pub fn footprint(&self, limits: &ViewLimits) -> Option<Footprint> {
        let within = |pixel: Pixel| self.ground_within(pixel, limits).is_some();
        let border = border(&self.camera);
        let middle = self.middle_within(&border, &within)?;
        let mut corners = Vec::with_capacity(border.len() + 4);
        let mut clipped = false;
        for (index, &pixel) in border.iter().enumerate() {
            let next = border[(index + 1) % border.len()];
            let inside = within(pixel);
            clipped |= !inside;
            let end = if inside {
                pixel
            } else {
                last_within(middle, pixel, &within)
            };
            corners.push(end);
            match (inside, within(next)) {
                (true, false) => corners.push(last_within(pixel, next, &within)),
                (false, true) => corners.push(last_within(next, pixel, &within)),
                _ => {}
            }
        }
        let mut corners: Vec<Vector2<f64>> = corners
            .into_iter()
            .filter_map(|pixel| self.ground_within(pixel, limits))
            .map(|point| point.vector.xy())
            .collect();
        corners.dedup();
        if polygon::signed_area(&corners) < 0.0 {
            corners.reverse();
        }
        let hull = polygon::convex_hull(&corners);
        (hull.len() >= 3).then_some(Footprint {
            view: *self,
            hull,
            corners,
            clipped,
        })
    }

    /// A pixel well inside what is within the limits: the mean of all sampled ones there, which is
    /// inside because what is within is convex; should distortion have hollowed it out, the sampled
    /// one nearest to the mean.
    fn middle_within(&self, border: &[Pixel], within: &impl Fn(Pixel) -> bool) -> Option<Pixel> {
        let (width, height) = (f64::from(self.camera.width), f64::from(self.camera.height));
        let step = |cell: u32| (f64::from(cell) + 0.5) / f64::from(SEARCH_CELLS);
        let grid = (0..SEARCH_CELLS).flat_map(|row| {
            (0..SEARCH_CELLS)
                .map(move |column| Pixel::new(width * step(column), height * step(row)))
        });
        // A short range may leave only a small disc about the point under the camera.
        let under = Vector3::new(self.centre.x, self.centre.y, self.ground_z);
        let nadir = self
            .pixel_from_enu(Point::from_vector(under))
            .filter(|&pixel| self.camera.contains(pixel));
        let inside: Vec<Vector2<f64>> = grid
            .chain(border.iter().copied())
            .chain(nadir)
            .filter(|&pixel| within(pixel))
            .map(|pixel| Vector2::new(pixel.x, pixel.y))
            .collect();
        let mean = inside.iter().sum::<Vector2<f64>>() / inside.len() as f64;
        let middle = Pixel::new(mean.x, mean.y);
        if !inside.is_empty() && within(middle) {
            return Some(middle);
        }
        let distance = |place: &Vector2<f64>| (place - mean).norm();
        inside
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .map(|place| Pixel::new(place.x, place.y))
    }
}

/// The picture's border, clockwise on screen from the top left corner.
pub(super) fn border(camera: &CameraModel) -> Vec<Pixel> {
    let (width, height) = (f64::from(camera.width), f64::from(camera.height));
    let share = |step: u32| f64::from(step) / f64::from(POINTS_PER_EDGE);
    let sides: [&dyn Fn(f64) -> Pixel; 4] = [
        &|s| Pixel::new(width * s, 0.0),
        &|s| Pixel::new(width, height * s),
        &|s| Pixel::new(width * (1.0 - s), height),
        &|s| Pixel::new(0.0, height * (1.0 - s)),
    ];
    sides
        .iter()
        .flat_map(|side| (0..POINTS_PER_EDGE).map(move |step| side(share(step))))
        .collect()
}

/// The last pixel within the limits on the way from one inside to one outside.
fn last_within(inside: Pixel, outside: Pixel, within: &impl Fn(Pixel) -> bool) -> Pixel {
    let between = |share: f64| {
        Pixel::new(
            inside.x + (outside.x - inside.x) * share,
            inside.y + (outside.y - inside.y) * share,
        )
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if within(between(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    between(low)
}

impl Footprint {
    /// The view whose footprint this is.
    #[must_use]
    pub fn view(&self) -> &GroundView {
        &self.view
    }

    /// Corners (east, north) in metres, anticlockwise seen from above.
    #[must_use]
    pub fn corners(&self) -> &[Vector2<f64>] {
        &self.corners
    }

    /// The convex hull of the corners, anticlockwise: what [`super::overlap`] compares. Without
    /// distortion it is the footprint itself (all limits are convex); strong distortion makes
    /// the sides hollow, and the hull is then the larger by what is hollow.
    #[must_use]
    pub fn hull(&self) -> &[Vector2<f64>] {
        &self.hull
    }

    /// Whether a limit (or the end of the lens's field) cut the picture's border.
    #[must_use]
    pub fn is_clipped(&self) -> bool {
        self.clipped
    }

    /// Area, square metres.
    #[must_use]
    pub fn area_m2(&self) -> f64 {
        polygon::area(&self.corners)
    }

    /// Centre of area, on the plane.
    #[must_use]
    pub fn centre(&self) -> Point<Enu> {
        let mean = self.corners.iter().sum::<Vector2<f64>>() / self.corners.len() as f64;
        let centre = polygon::centroid(&self.corners).unwrap_or(mean);
        Point::new(centre.x, centre.y, self.view.ground_z)
    }

    /// Whether a place lies inside, by its east and north alone.
    #[must_use]
    pub fn contains(&self, point: &Point<Enu>) -> bool {
        polygon::contains(&self.corners, &point.vector.xy())
    }
}
