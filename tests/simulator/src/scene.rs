//! From what stands on the site to triangles: every prop and vehicle as a mesh in the
//! east-north-up frame, with a list of finishes that shading looks up.

use crate::body::{BodyFinishes, add_vehicle};
use crate::dice::Dice;
use crate::foliage::{self, Planter};
use crate::mesh::{Mesh, Stand};
use crate::props::{Prop, PropKind, Roof};
use crate::site::World;
use crate::vec3::{V3, v3};
use std::ops::Range;

/// What a surface is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finish {
    /// Shell of the vehicle with this number.
    Shell {
        vehicle: u32,
    },
    /// Its wheels.
    Wheel {
        vehicle: u32,
    },
    /// Its paint without any detail.
    Paint {
        vehicle: u32,
    },
    /// One colour, some noise, some gloss.
    Plain {
        albedo: V3,
        gloss: f32,
    },
    /// A wall with windows.
    Wall {
        color: V3,
        seed: u32,
    },
    /// A wall without.
    BlankWall {
        color: V3,
        seed: u32,
    },
    Tiles {
        color: V3,
        seed: u32,
    },
    FlatRoof {
        color: V3,
        seed: u32,
    },
    Corrugated {
        color: V3,
        seed: u32,
    },
    Canvas {
        color: V3,
        stripe: V3,
    },
    Solar,
    Glass,
    Water,
    Planks {
        color: V3,
        seed: u32,
    },
    /// Leaf clusters; the rasteriser cuts their outline from a mask.
    Leaf {
        tint: V3,
    },
}

/// One object of the scene: its part of the mesh and a ball around it.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) triangles: Range<usize>,
    pub(crate) vertices: Range<usize>,
    pub(crate) center: V3,
    pub(crate) radius: f32,
    /// Which vehicle it is.
    pub(crate) vehicle: Option<u32>,
    /// Whether its triangles are leaf clusters seen from both sides.
    pub(crate) leafy: bool,
    /// The first so many vertices bound the vehicle; accessories come after them.
    pub(crate) body_vertices: usize,
}

/// All of it.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) mesh: Mesh,
    pub(crate) objects: Vec<Object>,
    pub(crate) finishes: Vec<Finish>,
}

struct Builder {
    scene: Scene,
    first_vertex: usize,
    first_triangle: usize,
}

impl Builder {
    fn finish(&mut self, finish: Finish) -> u16 {
        self.scene.finishes.push(finish);
        u16::try_from(self.scene.finishes.len() - 1)
            .expect("a site has far fewer than 65536 finishes")
    }

    fn planter<'a>(&'a mut self, stand: &'a Stand, finish: u16, dice: &'a mut Dice) -> Planter<'a> {
        Planter {
            mesh: &mut self.scene.mesh,
            stand,
            finish,
            dice,
        }
    }

    fn plain(&mut self, albedo: V3, gloss: f32) -> u16 {
        self.finish(Finish::Plain { albedo, gloss })
    }

    /// Closes the current object over everything added since the last.
    fn close(&mut self, vehicle: Option<u32>, leafy: bool, body_vertices: usize) {
        let vertices = self.first_vertex..self.scene.mesh.vertices.len();
        let triangles = self.first_triangle..self.scene.mesh.triangles.len();
        (self.first_vertex, self.first_triangle) = (vertices.end, triangles.end);
        if triangles.is_empty() {
            return;
        }
        let (mut low, mut high) = (V3::splat(f32::MAX), V3::splat(f32::MIN));
        for vertex in &self.scene.mesh.vertices[vertices.clone()] {
            let p = vertex.position;
            low = v3(low.x.min(p.x), low.y.min(p.y), low.z.min(p.z));
            high = v3(high.x.max(p.x), high.y.max(p.y), high.z.max(p.z));
        }
        let center = (low + high) * 0.5;
        let radius = (high - low).length() * 0.5;
        self.scene.objects.push(Object {
            triangles,
            vertices,
            center,
            radius,
            vehicle,
            leafy,
            body_vertices,
        });
    }
}

/// Builds the whole scene of a world.
pub(crate) fn build(world: &World) -> Scene {
    let scene = Scene {
        mesh: Mesh::default(),
        objects: Vec::new(),
        finishes: Vec::new(),
    };
    let mut builder = Builder {
        scene,
        first_vertex: 0,
        first_triangle: 0,
    };
    for (index, vehicle) in world.vehicles.iter().enumerate() {
        let number = index as u32;
        let cargo = Finish::Corrugated {
            color: vehicle.look.box_color,
            seed: vehicle.look.seed,
        };
        let finishes = BodyFinishes {
            shell: builder.finish(Finish::Shell { vehicle: number }),
            wheel: builder.finish(Finish::Wheel { vehicle: number }),
            paint: builder.finish(Finish::Paint { vehicle: number }),
            trim: builder.plain(V3::splat(0.025), 0.1),
            cargo: builder.finish(cargo),
            lamp: builder.plain(V3::splat(0.4), 0.3),
        };
        let body = add_vehicle(&mut builder.scene.mesh, vehicle, &finishes);
        let body_vertices = body - builder.first_vertex;
        builder.close(Some(number), false, body_vertices);
    }
    let site = SiteFrame::new(world.heading);
    for prop in &world.props {
        add_prop(&mut builder, prop, &site);
    }
    builder.scene
}

/// From the site's frame into east-north-up.
#[derive(Debug)]
pub(crate) struct SiteFrame {
    cos: f32,
    sin: f32,
    heading: f32,
}

impl SiteFrame {
    pub(crate) fn new(heading: f32) -> Self {
        let (sin, cos) = heading.sin_cos();
        Self { cos, sin, heading }
    }

    pub(crate) fn enu_from_site(&self, x: f32, y: f32) -> (f32, f32) {
        (x * self.cos - y * self.sin, x * self.sin + y * self.cos)
    }

    pub(crate) fn site_from_enu(&self, e: f32, n: f32) -> (f32, f32) {
        (e * self.cos + n * self.sin, n * self.cos - e * self.sin)
    }

    fn stand(&self, x: f32, y: f32, z: f32, heading: f32) -> Stand {
        let (e, n) = self.enu_from_site(x, y);
        Stand::new(e, n, z, heading + self.heading)
    }
}

fn add_prop(b: &mut Builder, prop: &Prop, site: &SiteFrame) {
    let stand = site.stand(prop.x, prop.y, 0.0, prop.heading);
    let mut dice = Dice::new(u64::from(prop.seed), "prop", "");
    match &prop.kind {
        PropKind::Building {
            length,
            width,
            eaves,
            roof,
            wall,
            roof_color,
            clutter,
        } => {
            let seed = prop.seed;
            let plan = House {
                length: *length,
                width: *width,
                eaves: *eaves,
                seed,
                wall: b.finish(Finish::Wall { color: *wall, seed }),
                blank_wall: b.finish(Finish::BlankWall { color: *wall, seed }),
                roof_color: *roof_color,
                clutter: *clutter,
            };
            match roof {
                Roof::Flat => flat_roofed(b, &stand, &plan, &mut dice),
                Roof::Gable { rise } => gabled(b, &stand, &plan, *rise, &mut dice),
            }
        }
        PropKind::Tree {
            height,
            crown,
            crown_base,
            conifer,
            leaves,
            tint,
        } => {
            let bark = b.plain(v3(0.09, 0.075, 0.06), 0.0);
            let leaf = b.finish(Finish::Leaf { tint: *tint });
            let shape = foliage::Crown {
                height: *height,
                radius: *crown,
                base: *crown_base,
                conifer: *conifer,
                leaves: *leaves,
            };
            foliage::trunk(&mut b.scene.mesh, &stand, &shape, bark, &mut dice);
            b.close(None, false, 0);
            foliage::crown(&mut b.planter(&stand, leaf, &mut dice), &shape);
            b.close(None, true, 0);
        }
        PropKind::Bush {
            radius,
            height,
            leaves,
            tint,
        } => {
            let leaf = b.finish(Finish::Leaf { tint: *tint });
            foliage::bush(
                &mut b.planter(&stand, leaf, &mut dice),
                *radius,
                *height,
                *leaves,
            );
            b.close(None, true, 0);
        }
        PropKind::Hedge {
            length,
            width,
            height,
            tint,
        } => {
            let core = b.plain(*tint * 0.4, 0.0);
            let inner = v3(length - 0.3, width - 0.3, height - 0.2);
            b.scene.mesh.cuboid(&stand, V3::ZERO, inner, core, core);
            b.close(None, false, 0);
            let leaf = b.finish(Finish::Leaf { tint: *tint });
            foliage::hedge(
                &mut b.planter(&stand, leaf, &mut dice),
                v3(*length, *width, *height),
            );
            b.close(None, true, 0);
        }
        PropKind::Kerb { points, closed } => {
            let stone = b.plain(V3::splat(dice.range32(0.26, 0.4)), 0.03);
            kerb(&mut b.scene.mesh, site, points, *closed, stone);
        }
        other => small_prop(b, &stand, other, prop.seed, &mut dice),
    }
    b.close(None, false, 0);
}

fn kerb(mesh: &mut Mesh, site: &SiteFrame, points: &[(f32, f32)], closed: bool, finish: u16) {
    let (height, width) = (0.12, 0.15);
    let n = points.len();
    let last = if closed { n } else { n - 1 };
    for i in 0..last {
        let ((ax, ay), (bx, by)) = (points[i], points[(i + 1) % n]);
        let (dx, dy) = (bx - ax, by - ay);
        let length = dx.hypot(dy);
        if length < 0.01 {
            continue;
        }
        // Pieces are a little longer than their segment so that bends stay closed.
        let stand = site.stand((ax + bx) / 2.0, (ay + by) / 2.0, 0.0, dy.atan2(dx));
        mesh.cuboid(
            &stand,
            V3::ZERO,
            v3(length + 0.05, width, height),
            finish,
            finish,
        );
    }
}

struct House {
    length: f32,
    width: f32,
    eaves: f32,
    seed: u32,
    wall: u16,
    blank_wall: u16,
    roof_color: V3,
    clutter: u32,
}

fn flat_roofed(b: &mut Builder, stand: &Stand, plan: &House, dice: &mut Dice) {
    let wall = plan.wall;
    let roof = b.finish(Finish::FlatRoof {
        color: plan.roof_color,
        seed: plan.seed,
    });
    let (l, w, h) = (plan.length, plan.width, plan.eaves);
    b.scene
        .mesh
        .cuboid(stand, V3::ZERO, v3(l, w, h), wall, roof);
    let edge = b.plain(V3::splat(dice.range32(0.2, 0.45)), 0.05);
    for (x, y, lx, ly) in [
        (0.0, w / 2.0 - 0.15, l, 0.3),
        (0.0, -w / 2.0 + 0.15, l, 0.3),
        (l / 2.0 - 0.15, 0.0, 0.3, w - 0.6),
        (-l / 2.0 + 0.15, 0.0, 0.3, w - 0.6),
    ] {
        b.scene
            .mesh
            .cuboid(stand, v3(x, y, h), v3(lx, ly, 0.45), edge, edge);
    }
    let metal = b.plain(V3::splat(0.35), 0.2);
    let dark = b.plain(V3::splat(0.05), 0.1);
    let solar = b.finish(Finish::Solar);
    let glass = b.finish(Finish::Glass);
    let mut taken: Vec<(f32, f32, f32)> = Vec::new();
    for _ in 0..plan.clutter {
        let (x, y) = (dice.range32(-0.43, 0.43) * l, dice.range32(-0.40, 0.40) * w);
        let what = dice.below(8);
        let reach = if what < 3 { 3.4 } else { 1.4 };
        let inside = x.abs() < l / 2.0 - reach && y.abs() < w / 2.0 - reach.min(2.0);
        if !inside || taken.iter().any(|t| (t.0 - x).hypot(t.1 - y) < t.2 + reach) {
            continue;
        }
        taken.push((x, y, reach));
        let at = v3(x, y, h);
        let mesh = &mut b.scene.mesh;
        match what {
            0 => mesh.cuboid(
                stand,
                at,
                v3(
                    dice.range32(1.6, 4.2),
                    dice.range32(1.4, 2.4),
                    dice.range32(0.9, 1.8),
                ),
                metal,
                metal,
            ),
            1 | 2 => solar_table(mesh, stand, at, 5.0, 1.7, solar, dark),
            3 => mesh.cuboid(stand, at, v3(1.4, 1.4, 0.35), edge, glass),
            4 | 5 => {
                let p = stand.point(at);
                mesh.rod(
                    p,
                    p + v3(0.0, 0.0, dice.range32(0.5, 1.3)),
                    0.22,
                    0.22,
                    8,
                    metal,
                );
            }
            6 => mesh.cuboid(stand, at, v3(0.9, 0.9, 0.6), dark, metal),
            _ => mesh.cuboid(stand, at, v3(2.0, 0.5, 0.5), metal, dark),
        }
    }
}

/// Tilted panels on a low frame.
fn solar_table(
    mesh: &mut Mesh,
    stand: &Stand,
    at: V3,
    length: f32,
    width: f32,
    solar: u16,
    frame: u16,
) {
    let corner = stand.point(at + v3(-length / 2.0, -width / 2.0, 0.25));
    let along = stand.direction(v3(length, 0.0, 0.0));
    let up = stand.direction(v3(0.0, width, width * 0.35));
    mesh.panel(corner, along, up, (0.0, 0.0), 0.0, solar);
    let back = stand.point(at + v3(length / 2.0, width / 2.0, 0.0));
    let rise = v3(0.0, 0.0, 0.25 + width * 0.35);
    mesh.panel(back, along * -1.0, rise, (0.0, 0.0), 0.0, frame);
}

fn gabled(b: &mut Builder, stand: &Stand, plan: &House, rise: f32, dice: &mut Dice) {
    let (wall, blank) = (plan.wall, plan.blank_wall);
    let (l, w, h) = (plan.length, plan.width, plan.eaves);
    let tiles = b.finish(Finish::Tiles {
        color: plan.roof_color,
        seed: plan.seed,
    });
    let p = |x: f32, y: f32, z: f32| stand.point(v3(x, y, z));
    let d = |x: f32, y: f32, z: f32| stand.direction(v3(x, y, z));
    let up = v3(0.0, 0.0, h);
    let mesh = &mut b.scene.mesh;
    mesh.panel(
        p(l / 2.0, -w / 2.0, 0.0),
        d(0.0, w, 0.0),
        up,
        (0.0, 0.0),
        0.0,
        wall,
    );
    mesh.panel(
        p(l / 2.0, w / 2.0, 0.0),
        d(-l, 0.0, 0.0),
        up,
        (0.0, 0.0),
        1.0,
        wall,
    );
    mesh.panel(
        p(-l / 2.0, w / 2.0, 0.0),
        d(0.0, -w, 0.0),
        up,
        (0.0, 0.0),
        2.0,
        wall,
    );
    mesh.panel(
        p(-l / 2.0, -w / 2.0, 0.0),
        d(l, 0.0, 0.0),
        up,
        (0.0, 0.0),
        3.0,
        wall,
    );
    mesh.gable(
        p(l / 2.0, -w / 2.0, h),
        p(l / 2.0, w / 2.0, h),
        p(l / 2.0, 0.0, h + rise),
        0.0,
        blank,
    );
    mesh.gable(
        p(-l / 2.0, w / 2.0, h),
        p(-l / 2.0, -w / 2.0, h),
        p(-l / 2.0, 0.0, h + rise),
        2.0,
        blank,
    );
    let over = 0.45;
    let slope = rise / (w / 2.0);
    let (half, drop) = (w / 2.0 + over, over * slope);
    let long = l + 2.0 * over;
    for side in [-1.0_f32, 1.0] {
        // The eaves edge runs so that the slope faces outwards.
        let corner = p(side * -long / 2.0, -side * half, h - drop + 0.06);
        let along = d(side * long, 0.0, 0.0);
        let upward = d(0.0, side * half, rise + drop);
        mesh.panel(corner, along, upward, (0.0, 0.0), side, tiles);
        // Its underside, seen at the eaves.
        mesh.panel(
            corner + along,
            along * -1.0,
            upward,
            (0.0, 0.0),
            side,
            blank,
        );
    }
    roof_things(b, stand, plan, rise, dice);
}

fn roof_things(b: &mut Builder, stand: &Stand, plan: &House, rise: f32, dice: &mut Dice) {
    let (l, w, h) = (plan.length, plan.width, plan.eaves);
    let slope = rise / (w / 2.0);
    let brick = b.plain(v3(0.2, 0.1, 0.07), 0.0);
    let glass = b.finish(Finish::Glass);
    let solar = b.finish(Finish::Solar);
    let frame = b.plain(V3::splat(0.1), 0.1);
    let chimney_x = dice.range32(-0.3, 0.3) * l;
    if dice.chance(0.75) {
        let y = dice.range32(-0.2, 0.2) * w;
        let foot = h + rise - y.abs() * slope - 0.5;
        b.scene.mesh.cuboid(
            stand,
            v3(chimney_x, y, foot),
            v3(0.6, 0.6, 1.4),
            brick,
            frame,
        );
    }
    let place = |side: f32, x: f32, along: f32, size_x: f32, size_s: f32, lift: f32| {
        // A panel lying on the slope: `along` metres down from the ridge.
        let y0 = -side * (along + size_s);
        let corner = v3(
            x - side * size_x / 2.0,
            y0,
            h + rise - (along + size_s) * slope + lift,
        );
        let up = v3(0.0, side * size_s, size_s * slope);
        (
            stand.point(corner),
            stand.direction(v3(side * size_x, 0.0, 0.0)),
            stand.direction(up),
        )
    };
    let solar_side = if dice.chance(0.3) {
        Some(if dice.chance(0.5) { 1.0 } else { -1.0 })
    } else {
        None
    };
    if let Some(side) = solar_side {
        let (corner, along, up) = place(side, 0.0, 0.7, (l * 0.6).min(8.0), w * 0.28, 0.14);
        b.scene
            .mesh
            .panel(corner, along, up, (0.0, 0.0), 0.0, solar);
    }
    for i in 0..plan.clutter {
        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
        let x = dice.range32(-0.4, 0.4) * l;
        if solar_side == Some(side) || (x - chimney_x).abs() < 1.2 {
            continue;
        }
        let (corner, along, up) = place(side, x, dice.range32(0.8, w * 0.25), 0.8, 1.1, 0.13);
        b.scene
            .mesh
            .panel(corner, along, up, (0.0, 0.0), 0.0, glass);
    }
}

fn small_prop(b: &mut Builder, stand: &Stand, kind: &PropKind, seed: u32, dice: &mut Dice) {
    match *kind {
        PropKind::Lamp { height, arms } => lamp(b, stand, height, arms),
        PropKind::Container { length, color } => {
            let steel = b.finish(Finish::Corrugated { color, seed });
            b.scene
                .mesh
                .cuboid(stand, V3::ZERO, v3(length, 2.44, 2.59), steel, steel);
        }
        PropKind::Skip { color } => skip(b, stand, color, dice),
        PropKind::Stall {
            length,
            width,
            color,
            stripe,
        } => stall(b, stand, length, width, color, stripe),
        PropKind::Bench => {
            let wood = b.finish(Finish::Planks {
                color: v3(0.2, 0.12, 0.07),
                seed,
            });
            let iron = b.plain(V3::splat(0.03), 0.1);
            for x in [-0.6_f32, 0.6] {
                b.scene
                    .mesh
                    .cuboid(stand, v3(x, 0.0, 0.0), v3(0.08, 0.5, 0.42), iron, iron);
            }
            b.scene
                .mesh
                .cuboid(stand, v3(0.0, 0.0, 0.42), v3(1.6, 0.45, 0.05), wood, wood);
            b.scene
                .mesh
                .cuboid(stand, v3(0.0, -0.24, 0.5), v3(1.6, 0.06, 0.35), wood, wood);
        }
        PropKind::PicnicTable => {
            let wood = b.finish(Finish::Planks {
                color: v3(0.24, 0.16, 0.09),
                seed,
            });
            b.scene
                .mesh
                .cuboid(stand, v3(0.0, 0.0, 0.70), v3(1.8, 0.75, 0.06), wood, wood);
            for y in [-0.62_f32, 0.62] {
                b.scene
                    .mesh
                    .cuboid(stand, v3(0.0, y, 0.40), v3(1.8, 0.28, 0.05), wood, wood);
            }
            b.scene
                .mesh
                .cuboid(stand, V3::ZERO, v3(0.15, 0.9, 0.7), wood, wood);
        }
        PropKind::Bin { color } => {
            let body = b.plain(color, 0.1);
            let lid = b.plain(color * 0.6, 0.15);
            b.scene
                .mesh
                .cuboid(stand, V3::ZERO, v3(0.58, 0.58, 1.0), body, body);
            b.scene
                .mesh
                .cuboid(stand, v3(0.0, 0.0, 1.0), v3(0.62, 0.64, 0.07), lid, lid);
        }
        PropKind::Cabinet => {
            let body = b.plain(v3(0.32, 0.33, 0.30), 0.1);
            b.scene
                .mesh
                .cuboid(stand, V3::ZERO, v3(1.2, 0.42, 1.25), body, body);
        }
        PropKind::Pallets { layers, cargo } => {
            let wood = b.finish(Finish::Planks {
                color: v3(0.33, 0.24, 0.14),
                seed,
            });
            let height = 0.145 * layers as f32;
            b.scene
                .mesh
                .cuboid(stand, V3::ZERO, v3(1.2, 0.8, height), wood, wood);
            if let Some(color) = cargo {
                let load = b.plain(color, 0.05);
                b.scene
                    .mesh
                    .cuboid(stand, v3(0.0, 0.0, height), v3(1.1, 0.74, 0.5), load, load);
            }
        }
        PropKind::UtilityTrailer { color } => trailer(b, stand, color, seed),
        PropKind::Boulder { size } => {
            let stone = b.plain(V3::splat(dice.range32(0.2, 0.34)), 0.0);
            let radii = v3(size * 0.5, size * 0.42, size * 0.38);
            b.scene
                .mesh
                .ellipsoid(stand, v3(0.0, 0.0, size * 0.25), radii, stone);
        }
        PropKind::Bollard => {
            let iron = b.plain(V3::splat(0.06), 0.1);
            let foot = stand.point(V3::ZERO);
            b.scene
                .mesh
                .rod(foot, foot + v3(0.0, 0.0, 0.9), 0.07, 0.07, 8, iron);
        }
        PropKind::Fence { length, height } => {
            let wood = b.finish(Finish::Planks {
                color: v3(0.2, 0.15, 0.1),
                seed,
            });
            b.scene
                .mesh
                .cuboid(stand, V3::ZERO, v3(length, 0.06, height), wood, wood);
        }
        PropKind::SolarTable { length } => {
            let solar = b.finish(Finish::Solar);
            let frame = b.plain(V3::splat(0.12), 0.1);
            solar_table(
                &mut b.scene.mesh,
                stand,
                v3(0.0, 0.0, 0.5),
                length,
                2.2,
                solar,
                frame,
            );
        }
        PropKind::Shelter { length } => {
            let glass = b.finish(Finish::Glass);
            let frame = b.plain(V3::splat(0.12), 0.15);
            b.scene.mesh.cuboid(
                stand,
                v3(0.0, -0.7, 0.0),
                v3(length, 0.06, 2.2),
                glass,
                frame,
            );
            b.scene.mesh.cuboid(
                stand,
                v3(0.0, 0.0, 2.25),
                v3(length, 1.6, 0.12),
                frame,
                frame,
            );
            for x in [-0.48_f32, 0.48] {
                let foot = stand.point(v3(x * length, 0.65, 0.0));
                b.scene
                    .mesh
                    .rod(foot, foot + v3(0.0, 0.0, 2.25), 0.04, 0.04, 6, frame);
            }
        }
        PropKind::Trolleys { count } => {
            let wire = b.plain(V3::splat(0.28), 0.2);
            let red = b.plain(v3(0.35, 0.03, 0.03), 0.1);
            for i in 0..count.min(16) {
                let x = -2.0 + 0.24 * i as f32;
                b.scene
                    .mesh
                    .cuboid(stand, v3(x, 0.0, 0.45), v3(0.10, 0.55, 0.45), wire, wire);
                b.scene
                    .mesh
                    .cuboid(stand, v3(x, 0.0, 0.93), v3(0.06, 0.56, 0.04), red, red);
            }
        }
        PropKind::Rubble { size } => {
            for _ in 0..26 {
                let stone = v3(dice.range32(-1.0, 1.0), dice.range32(-1.0, 1.0), 0.0) * size * 0.7;
                let albedo = *dice.pick(&[V3::splat(0.3), v3(0.3, 0.14, 0.09), V3::splat(0.2)]);
                let finish = b.plain(albedo, 0.0);
                let s = dice.range32(0.12, 0.4);
                b.scene.mesh.ellipsoid(
                    stand,
                    stone + v3(0.0, 0.0, s * 0.4),
                    v3(s, s * 0.8, s * 0.7),
                    finish,
                );
            }
        }
        PropKind::Shed {
            length,
            width,
            height,
            color,
        } => {
            let wood = b.finish(Finish::Planks { color, seed });
            let felt = b.plain(V3::splat(0.07), 0.0);
            b.scene
                .mesh
                .cuboid(stand, V3::ZERO, v3(length, width, height), wood, felt);
            b.scene.mesh.cuboid(
                stand,
                v3(0.0, 0.0, height),
                v3(length + 0.3, width + 0.3, 0.12),
                felt,
                felt,
            );
        }
        PropKind::Pool { length, width } => {
            let edge = b.plain(V3::splat(0.42), 0.05);
            let water = b.finish(Finish::Water);
            b.scene.mesh.cuboid(
                stand,
                V3::ZERO,
                v3(length + 0.8, width + 0.8, 0.10),
                edge,
                edge,
            );
            b.scene.mesh.cuboid(
                stand,
                v3(0.0, 0.0, 0.10),
                v3(length, width, 0.012),
                water,
                water,
            );
        }
        PropKind::Trampoline => {
            let mat = b.plain(V3::splat(0.02), 0.0);
            let rim = b.plain(v3(0.05, 0.2, 0.35), 0.1);
            let foot = stand.point(V3::ZERO);
            b.scene
                .mesh
                .rod(foot, foot + v3(0.0, 0.0, 0.62), 1.55, 1.55, 20, rim);
            let top = foot + v3(0.0, 0.0, 0.62);
            b.scene
                .mesh
                .rod(top, top + v3(0.0, 0.0, 0.02), 1.3, 1.3, 20, mat);
        }
        _ => {}
    }
}

fn lamp(b: &mut Builder, stand: &Stand, height: f32, arms: u32) {
    let pole = b.plain(V3::splat(0.32), 0.2);
    let head = b.plain(V3::splat(0.5), 0.2);
    let foot = stand.point(V3::ZERO);
    let top = stand.point(v3(0.0, 0.0, height));
    b.scene.mesh.rod(foot, top, 0.09, 0.05, 8, pole);
    for side in [1.0_f32, -1.0].iter().take(arms as usize) {
        let tip = stand.point(v3(side * 1.3, 0.0, height + 0.1));
        b.scene.mesh.rod(top, tip, 0.04, 0.035, 6, pole);
        b.scene.mesh.cuboid(
            stand,
            v3(side * 1.35, 0.0, height + 0.05),
            v3(0.65, 0.26, 0.12),
            head,
            head,
        );
    }
}

fn skip(b: &mut Builder, stand: &Stand, color: V3, dice: &mut Dice) {
    let steel = b.plain(color, 0.1);
    let load = b.plain(
        *dice.pick(&[v3(0.2, 0.15, 0.1), V3::splat(0.25), v3(0.12, 0.09, 0.06)]),
        0.0,
    );
    let (l, w, h) = (3.5, 1.7, 1.3);
    for (x, y, lx, ly) in [
        (l / 2.0 - 0.05, 0.0, 0.1, w),
        (-l / 2.0 + 0.05, 0.0, 0.1, w),
        (0.0, w / 2.0 - 0.05, l - 0.2, 0.1),
        (0.0, -w / 2.0 + 0.05, l - 0.2, 0.1),
    ] {
        b.scene
            .mesh
            .cuboid(stand, v3(x, y, 0.0), v3(lx, ly, h), steel, steel);
    }
    b.scene
        .mesh
        .cuboid(stand, V3::ZERO, v3(l - 0.2, w - 0.2, 0.85), load, load);
    for _ in 0..9 {
        let at = v3(dice.range32(-1.3, 1.3), dice.range32(-0.55, 0.55), 0.85);
        b.scene.mesh.ellipsoid(stand, at, v3(0.3, 0.22, 0.2), load);
    }
}

fn stall(b: &mut Builder, stand: &Stand, length: f32, width: f32, color: V3, stripe: V3) {
    let canvas = b.finish(Finish::Canvas { color, stripe });
    let pole = b.plain(V3::splat(0.4), 0.1);
    let table = b.plain(v3(0.3, 0.25, 0.2), 0.0);
    for (x, y) in [(-0.47, -0.45), (0.47, -0.45), (0.47, 0.45), (-0.47, 0.45)] {
        let foot = stand.point(v3(x * length, y * width, 0.0));
        b.scene
            .mesh
            .rod(foot, foot + v3(0.0, 0.0, 2.1), 0.03, 0.03, 6, pole);
    }
    b.scene.mesh.cuboid(
        stand,
        v3(0.0, width * 0.2, 0.0),
        v3(length * 0.8, 0.7, 0.8),
        table,
        table,
    );
    for side in [-1.0_f32, 1.0] {
        let corner = stand.point(v3(side * -length / 2.0, -side * width / 2.0, 2.05));
        let along = stand.direction(v3(side * length, 0.0, 0.0));
        let up = stand.direction(v3(0.0, side * width / 2.0, 0.6));
        b.scene
            .mesh
            .panel(corner, along, up, (0.0, 0.0), 0.0, canvas);
        b.scene
            .mesh
            .panel(corner + along, along * -1.0, up, (0.0, 0.0), 0.0, canvas);
    }
}

fn trailer(b: &mut Builder, stand: &Stand, color: V3, seed: u32) {
    let body = b.plain(color, 0.1);
    let floor = b.finish(Finish::Planks {
        color: v3(0.22, 0.16, 0.1),
        seed,
    });
    let tyre = b.plain(V3::splat(0.02), 0.0);
    let (l, w) = (2.3, 1.3);
    b.scene
        .mesh
        .cuboid(stand, v3(-0.4, 0.0, 0.45), v3(l, w, 0.08), body, floor);
    for (x, y, lx, ly) in [
        (l / 2.0 - 0.4, 0.0, 0.05, w),
        (-l / 2.0 - 0.4, 0.0, 0.05, w),
        (-0.4, w / 2.0, l, 0.05),
        (-0.4, -w / 2.0, l, 0.05),
    ] {
        b.scene
            .mesh
            .cuboid(stand, v3(x, y, 0.5), v3(lx, ly, 0.35), body, body);
    }
    for side in [-1.0_f32, 1.0] {
        let hub = stand.point(v3(-0.5, side * (w / 2.0 + 0.06), 0.28));
        let outer = stand.point(v3(-0.5, side * (w / 2.0 + 0.2), 0.28));
        b.scene.mesh.rod(hub, outer, 0.28, 0.28, 12, tyre);
    }
    let bar = stand.point(v3(l / 2.0 - 0.4, 0.0, 0.45));
    let hitch = stand.point(v3(1.75, 0.0, 0.42));
    b.scene.mesh.rod(bar, hitch, 0.04, 0.04, 6, body);
}
