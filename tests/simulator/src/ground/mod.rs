//! What the ground is made of: layers of painted shapes (surfaces, markings, cracks, patches,
//! stains, covers, litter) in a grid, evaluated at any point and footprint, so that edges stay
//! sharp from any height and nothing repeats.
//!
//! Coordinates here are the site's own: metres, origin in the middle of the lot, x along its rows.

use crate::noise::{lattice_unit, octaves, value_noise};
use crate::vec3::{V3, smoothstep, v3};
use surfaces::{Surface, surface_color};

pub(crate) mod surfaces;

/// A flat outline, metres.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A turned rectangle with rounded corners.
    Rect {
        x: f32,
        y: f32,
        half_x: f32,
        half_y: f32,
        cos: f32,
        sin: f32,
        round: f32,
    },
    /// A disc.
    Disc { x: f32, y: f32, radius: f32 },
    /// A circle's line.
    Ring {
        x: f32,
        y: f32,
        radius: f32,
        half_width: f32,
    },
    /// A straight line with round ends.
    Stroke {
        ax: f32,
        ay: f32,
        bx: f32,
        by: f32,
        half_width: f32,
    },
}

impl Shape {
    /// A rectangle about a centre, turned counter-clockwise by an angle in radians.
    pub(crate) fn rect(x: f32, y: f32, length: f32, width: f32, angle: f32) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self::Rect {
            x,
            y,
            half_x: length / 2.0,
            half_y: width / 2.0,
            cos,
            sin,
            round: 0.0,
        }
    }

    /// An upright rectangle with rounded corners.
    pub(crate) fn rounded(x: f32, y: f32, length: f32, width: f32, round: f32) -> Self {
        let (half_x, half_y) = (length / 2.0, width / 2.0);
        Self::Rect {
            x,
            y,
            half_x,
            half_y,
            cos: 1.0,
            sin: 0.0,
            round,
        }
    }

    /// Distance to the outline, negative inside. Lengths by plain square roots: nothing here
    /// comes near the limits that `hypot` guards against.
    pub(crate) fn signed_distance(&self, px: f32, py: f32) -> f32 {
        match *self {
            Self::Rect {
                x,
                y,
                half_x,
                half_y,
                cos,
                sin,
                round,
            } => {
                let (dx, dy) = (px - x, py - y);
                let u = (dx * cos + dy * sin).abs() - half_x + round;
                let v = (dy * cos - dx * sin).abs() - half_y + round;
                length(u.max(0.0), v.max(0.0)) + u.max(v).min(0.0) - round
            }
            Self::Disc { x, y, radius } => length(px - x, py - y) - radius,
            Self::Ring {
                x,
                y,
                radius,
                half_width,
            } => (length(px - x, py - y) - radius).abs() - half_width,
            Self::Stroke {
                ax,
                ay,
                bx,
                by,
                half_width,
            } => {
                let (dx, dy) = (bx - ax, by - ay);
                let length2 = (dx * dx + dy * dy).max(1e-12);
                let t = (((px - ax) * dx + (py - ay) * dy) / length2).clamp(0.0, 1.0);
                length(px - ax - t * dx, py - ay - t * dy) - half_width
            }
        }
    }

    fn center_and_reach(&self) -> (f32, f32, f32, f32) {
        match *self {
            Self::Rect {
                x,
                y,
                half_x,
                half_y,
                cos,
                sin,
                ..
            } => (
                x,
                y,
                half_x * cos.abs() + half_y * sin.abs(),
                half_x * sin.abs() + half_y * cos.abs(),
            ),
            Self::Disc { x, y, radius } => (x, y, radius, radius),
            Self::Ring {
                x,
                y,
                radius,
                half_width,
            } => (x, y, radius + half_width, radius + half_width),
            Self::Stroke {
                ax,
                ay,
                bx,
                by,
                half_width,
            } => (
                (ax + bx) / 2.0,
                (ay + by) / 2.0,
                (ax - bx).abs() / 2.0 + half_width,
                (ay - by).abs() / 2.0 + half_width,
            ),
        }
    }
}

fn length(x: f32, y: f32) -> f32 {
    (x * x + y * y).sqrt()
}

/// What a shape does to the ground under it.
#[derive(Clone, Debug)]
pub(crate) enum Coat {
    /// Another surface, edge roughened by some metres of noise.
    Surface { surface: Surface, rough_edge_m: f32 },
    /// Road paint of this albedo, worn away by this share (0 new, 1 gone).
    Marking { color: V3, wear: f32 },
    /// A soft dark or light blot: albedo multiplied by the factor in the middle.
    Stain { factor: V3, softness_m: f32 },
    /// A wandering dark line.
    Crack { depth: f32 },
    /// A sealed crack or a repair: opaque colour with a ragged edge.
    Seal { color: V3 },
    /// A cast-iron cover with a rim and a pattern.
    Cover { color: V3 },
    /// A drain grating with slots.
    Grating,
    /// A leaf, a cup, a scrap.
    Litter { color: V3 },
}

/// On which surfaces a decal lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LiesOn {
    Any,
    /// Asphalt and large slabs of concrete.
    Asphalt,
    /// Anything but grass, soil and open country.
    Hard,
}

/// One layer.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    shape: Shape,
    coat: Coat,
    lies_on: LiesOn,
    seed: u32,
}

impl Layer {
    /// How far outside its outline the layer still changes the ground, metres.
    fn margin_m(&self) -> f32 {
        match self.coat {
            Coat::Surface { rough_edge_m, .. } => rough_edge_m + 0.3,
            Coat::Stain { softness_m, .. } => softness_m * 1.3 + 0.3,
            _ => 0.35,
        }
    }
}

/// Cells of equal size over a square, each with the layers that reach it, in painting order.
#[derive(Debug)]
struct Grid {
    half_extent: f32,
    inverse_cell: f32,
    side: usize,
    /// For each cell the start of its layers in `layers`; one more at the end.
    starts: Vec<u32>,
    layers: Vec<u32>,
}

impl Grid {
    fn new(half_extent: f32, cell: f32, layers: &[Layer]) -> Self {
        let side = (2.0 * half_extent / cell).ceil() as usize;
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); side * side];
        for (index, layer) in layers.iter().enumerate() {
            let (cx, cy, reach_x, reach_y) = layer.shape.center_and_reach();
            let margin = layer.margin_m();
            let clamp = |v: f32| ((v + half_extent) / cell).floor().clamp(-1.0, side as f32) as i64;
            let last = side as i64 - 1;
            let (x0, x1) = (
                clamp(cx - reach_x - margin).max(0),
                clamp(cx + reach_x + margin).min(last),
            );
            let (y0, y1) = (
                clamp(cy - reach_y - margin).max(0),
                clamp(cy + reach_y + margin).min(last),
            );
            for iy in y0..=y1 {
                for ix in x0..=x1 {
                    let mx = (ix as f32 + 0.5) * cell - half_extent;
                    let my = (iy as f32 + 0.5) * cell - half_extent;
                    let distance = layer.shape.signed_distance(mx, my);
                    let list = &mut lists[iy as usize * side + ix as usize];
                    if distance > cell * 0.71 + margin {
                        continue;
                    }
                    let covers = distance < -(cell * 0.71 + margin);
                    if covers && matches!(layer.coat, Coat::Surface { .. }) {
                        list.clear();
                    }
                    list.push(index as u32);
                }
            }
        }
        let mut starts = Vec::with_capacity(lists.len() + 1);
        let mut flat = Vec::new();
        for list in &lists {
            starts.push(flat.len() as u32);
            flat.extend_from_slice(list);
        }
        starts.push(flat.len() as u32);
        Self {
            half_extent,
            inverse_cell: 1.0 / cell,
            side,
            starts,
            layers: flat,
        }
    }

    /// The layers at a point; `None` outside the grid.
    fn at(&self, x: f32, y: f32) -> Option<&[u32]> {
        let ix = (x + self.half_extent) * self.inverse_cell;
        let iy = (y + self.half_extent) * self.inverse_cell;
        if ix < 0.0 || iy < 0.0 {
            return None;
        }
        let (ix, iy) = (ix as usize, iy as usize);
        if ix >= self.side || iy >= self.side {
            return None;
        }
        let cell = iy * self.side + ix;
        Some(&self.layers[self.starts[cell] as usize..self.starts[cell + 1] as usize])
    }
}

/// Half the side of the square with fine cells, metres.
const FINE_HALF_EXTENT_M: f32 = 170.0;
const FINE_CELL_M: f32 = 1.0;
/// Half the side of the square that is painted at all; beyond lies open country.
pub(crate) const PAINTED_HALF_EXTENT_M: f32 = 760.0;
const COARSE_CELL_M: f32 = 8.0;

/// What a ground point looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroundLook {
    /// Linear reflectance.
    pub(crate) albedo: V3,
    /// Mirror-like part at grazing view, 0 to 1.
    pub(crate) gloss: f32,
}

/// All layers, from the bottom up, ready to be looked at.
#[derive(Debug)]
pub(crate) struct Ground {
    layers: Vec<Layer>,
    fine: Grid,
    coarse: Grid,
    base: Surface,
    seed: u32,
}

/// Collects layers in painting order.
#[derive(Debug)]
pub(crate) struct GroundPainter {
    layers: Vec<Layer>,
    seed: u32,
}

impl GroundPainter {
    /// Nothing painted yet.
    pub(crate) fn new(seed: u32) -> Self {
        Self {
            layers: Vec::new(),
            seed,
        }
    }

    /// Over all before it, whatever it is.
    pub(crate) fn paint(&mut self, shape: Shape, coat: Coat) {
        self.paint_on(LiesOn::Any, shape, coat);
    }

    /// Over all before it, where the ground is of this kind.
    pub(crate) fn paint_on(&mut self, lies_on: LiesOn, shape: Shape, coat: Coat) {
        let seed = self
            .seed
            .wrapping_add((self.layers.len() as u32).wrapping_mul(0x9E37_79B9));
        self.layers.push(Layer {
            shape,
            coat,
            lies_on,
            seed,
        });
    }

    /// A surface with a clean edge.
    pub(crate) fn surface(&mut self, shape: Shape, surface: Surface) {
        self.paint(
            shape,
            Coat::Surface {
                surface,
                rough_edge_m: 0.0,
            },
        );
    }

    /// Into cells.
    pub(crate) fn finish(self, base: Surface) -> Ground {
        Ground {
            fine: Grid::new(FINE_HALF_EXTENT_M, FINE_CELL_M, &self.layers),
            coarse: Grid::new(PAINTED_HALF_EXTENT_M, COARSE_CELL_M, &self.layers),
            layers: self.layers,
            base,
            seed: self.seed,
        }
    }
}

/// Share of a footprint that lies inside, from the distance to the edge.
fn coverage(distance: f32, footprint_m: f32) -> f32 {
    (0.5 - distance / footprint_m).clamp(0.0, 1.0)
}

impl Ground {
    /// The look at a point of the site frame, averaged over a footprint of this size (metres).
    pub(crate) fn look(&self, x: f32, y: f32, footprint_m: f32) -> GroundLook {
        let list = self
            .fine
            .at(x, y)
            .or_else(|| self.coarse.at(x, y))
            .unwrap_or(&[]);
        let mut surface = self.base;
        let mut under: Option<(Surface, f32)> = None;
        // Surfaces first: only those that show are evaluated.
        for &index in list {
            let layer = &self.layers[index as usize];
            if let Coat::Surface {
                surface: above,
                rough_edge_m,
            } = layer.coat
            {
                let mut distance = layer.shape.signed_distance(x, y);
                if rough_edge_m > 0.0 && distance.abs() < rough_edge_m * 1.5 {
                    distance += rough_edge_m
                        * octaves(x, y, rough_edge_m * 3.0, 0.04, 0.6, footprint_m, layer.seed);
                }
                let share = coverage(distance, footprint_m);
                if share >= 0.999 {
                    surface = above;
                    under = None;
                } else if share > 0.001 {
                    under = Some((surface, share));
                    surface = above;
                }
            }
        }
        let mut look = surface_color(&surface, x, y, footprint_m, self.seed);
        if let Some((below, share)) = under {
            let other = surface_color(&below, x, y, footprint_m, self.seed);
            look.albedo = other.albedo.mix(look.albedo, share);
            look.gloss = crate::vec3::lerp(other.gloss, look.gloss, share);
        }
        for &index in list {
            let layer = &self.layers[index as usize];
            let lies = match layer.lies_on {
                LiesOn::Any => true,
                LiesOn::Asphalt => match surface {
                    Surface::Asphalt { .. } => true,
                    Surface::Slabs { side_m, .. } => side_m > 2.0,
                    _ => false,
                },
                LiesOn::Hard => !matches!(
                    surface,
                    Surface::Grass { .. } | Surface::Soil { .. } | Surface::Country { .. }
                ),
            };
            if lies && !matches!(layer.coat, Coat::Surface { .. }) {
                layer.cover(x, y, footprint_m, &mut look);
            }
        }
        look
    }
}

impl Layer {
    /// Puts a decal over what is there.
    fn cover(&self, x: f32, y: f32, footprint_m: f32, look: &mut GroundLook) {
        let mut distance = self.shape.signed_distance(x, y);
        if distance > self.margin_m() {
            return;
        }
        match self.coat {
            Coat::Surface { .. } => {}
            Coat::Marking { color, wear } => {
                let share = coverage(distance, footprint_m);
                if share > 0.0 {
                    let worn = marking_wear(x, y, wear, footprint_m, self.seed);
                    look.albedo = look.albedo.mix(color, share * worn);
                }
            }
            Coat::Stain { factor, softness_m } => {
                distance += softness_m
                    * 0.6
                    * octaves(x, y, softness_m * 1.6, 0.02, 0.6, footprint_m, self.seed);
                let share = smoothstep(softness_m * 0.5, -softness_m, distance);
                let factor = V3::splat(1.0).mix(factor, share);
                look.albedo = look.albedo.times(factor);
            }
            Coat::Crack { depth } => {
                distance += 0.03 * value_noise(x * 9.0, y * 9.0, self.seed)
                    + 0.008 * value_noise(x * 40.0, y * 40.0, self.seed);
                let share = thin_coverage(distance, &self.shape, footprint_m);
                look.albedo = look.albedo * (1.0 - depth * share);
            }
            Coat::Seal { color } => {
                distance += 0.03 * value_noise(x * 7.0, y * 7.0, self.seed);
                let share = coverage(distance, footprint_m);
                let grain = 1.0 + 0.15 * octaves(x, y, 0.4, 0.02, 0.7, footprint_m, self.seed);
                look.albedo = look.albedo.mix(color * grain, share);
            }
            Coat::Cover { color } => self.cover_lid(x, y, footprint_m, color, distance, look),
            Coat::Grating => {
                let share = coverage(distance, footprint_m);
                let slot = if footprint_m < 0.04 {
                    smoothstep(0.3, 0.6, ((x + y) * 14.0).sin().abs())
                } else {
                    0.5
                };
                look.albedo = look.albedo.mix(V3::splat(0.015 + 0.09 * slot), share);
            }
            Coat::Litter { color } => {
                let share = thin_coverage(distance, &self.shape, footprint_m);
                look.albedo = look.albedo.mix(color, share);
            }
        }
    }

    fn cover_lid(
        &self,
        x: f32,
        y: f32,
        footprint_m: f32,
        color: V3,
        distance: f32,
        look: &mut GroundLook,
    ) {
        let share = coverage(distance, footprint_m);
        if share <= 0.0 {
            return;
        }
        let rim = smoothstep(-0.07, -0.04, distance) * (1.0 - smoothstep(-0.03, 0.0, distance));
        let stud = if footprint_m < 0.03 {
            0.35 * (x * 55.0).sin() * (y * 55.0).sin()
        } else {
            0.0
        };
        let lid = color * (1.0 + stud - 0.55 * rim);
        look.albedo = look.albedo.mix(lid, share);
        look.gloss = 0.3 * share;
    }
}

/// Coverage of shapes thinner than the footprint: scaled by how much of it they can fill.
fn thin_coverage(distance: f32, shape: &Shape, footprint_m: f32) -> f32 {
    let half_width = match *shape {
        Shape::Stroke { half_width, .. } | Shape::Ring { half_width, .. } => half_width,
        Shape::Disc { radius, .. } => radius,
        Shape::Rect { half_y, .. } => half_y,
    };
    let low = (-footprint_m / 2.0).max(distance.max(-half_width));
    let inside = (footprint_m / 2.0 - distance).clamp(0.0, footprint_m);
    let filled = inside.min(2.0 * half_width) / footprint_m;
    if low > footprint_m / 2.0 {
        0.0
    } else {
        filled.clamp(0.0, 1.0)
    }
}

/// How much of a marking is left at a point, 0 to 1.
fn marking_wear(x: f32, y: f32, wear: f32, footprint_m: f32, seed: u32) -> f32 {
    let blotch = octaves(x, y, 1.1, 0.012, 0.75, footprint_m, seed ^ 0x51);
    let speck = if footprint_m < 0.02 {
        0.25 * (lattice_unit((x * 110.0) as i32, (y * 110.0) as i32, seed) - 0.5)
    } else {
        0.0
    };
    smoothstep(-0.55, 0.55, blotch * 0.8 + speck + 1.0 - 2.0 * wear).clamp(0.0, 1.0) * 0.96
}

/// Yellow road paint.
pub(crate) const YELLOW_PAINT: V3 = v3(0.62, 0.40, 0.05);
/// White road paint.
pub(crate) const WHITE_PAINT: V3 = v3(0.62, 0.62, 0.60);
