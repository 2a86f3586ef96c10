//! From what stands on the site to triangles: every prop and vehicle as a mesh in the
//! east-north-up frame, with a list of finishes that shading looks up.

use crate::dice::Dice;
use crate::site::World;
use crate::site::props::{Prop, PropKind};
use crate::vec3::{V3, v3};
use body::{BodyFinishes, add_vehicle};
use foliage::Planter;
use mesh::{Mesh, Stand};
use std::ops::Range;

mod body;
mod buildings;
pub(crate) mod foliage;
mod furniture;
pub(crate) mod mesh;
pub(crate) mod profiles;

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

/// Collects objects.
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

/// One prop being built: where it stands and its own dice.
struct Workshop<'a> {
    builder: &'a mut Builder,
    stand: Stand,
    dice: Dice,
    seed: u32,
}

impl Workshop<'_> {
    fn finish(&mut self, finish: Finish) -> u16 {
        self.builder.finish(finish)
    }

    fn plain(&mut self, albedo: V3, gloss: f32) -> u16 {
        self.builder.plain(albedo, gloss)
    }

    fn mesh(&mut self) -> &mut Mesh {
        &mut self.builder.scene.mesh
    }

    /// An upright box about a centre on its floor.
    fn block(&mut self, center: (f32, f32, f32), size: (f32, f32, f32), finish: u16) {
        self.block_with_top(center, size, finish, finish);
    }

    fn block_with_top(
        &mut self,
        center: (f32, f32, f32),
        size: (f32, f32, f32),
        side: u16,
        top: u16,
    ) {
        let (center, size) = (v3(center.0, center.1, center.2), v3(size.0, size.1, size.2));
        self.builder
            .scene
            .mesh
            .cuboid(&self.stand, center, size, side, top);
    }

    /// A round bar between two points.
    fn bar(&mut self, from: (f32, f32, f32), to: (f32, f32, f32), radius: f32, finish: u16) {
        let from = self.stand.point(v3(from.0, from.1, from.2));
        let to = self.stand.point(v3(to.0, to.1, to.2));
        self.mesh().rod(
            from,
            to,
            radius,
            radius,
            if radius > 0.3 { 20 } else { 8 },
            finish,
        );
    }

    fn ellipsoid(&mut self, center: V3, radii: V3, finish: u16) {
        self.builder
            .scene
            .mesh
            .ellipsoid(&self.stand, center, radii, finish);
    }

    /// A flat face from a corner along two edges, all in the prop's own frame.
    fn panel(&mut self, corner: V3, along: V3, up: V3, tag: f32, finish: u16) {
        let stand = self.stand;
        let (corner, along, up) = (
            stand.point(corner),
            stand.direction(along),
            stand.direction(up),
        );
        self.mesh()
            .panel(corner, along, up, (0.0, 0.0), tag, finish);
    }

    fn planter(&mut self, finish: u16) -> Planter<'_> {
        Planter {
            mesh: &mut self.builder.scene.mesh,
            stand: &self.stand,
            finish,
            dice: &mut self.dice,
        }
    }
}

/// Builds the whole scene of a world. Vehicles come first, in their order.
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
        let end_of_body = add_vehicle(&mut builder.scene.mesh, vehicle, &finishes);
        let body_vertices = end_of_body - builder.first_vertex;
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

    fn enu_from_site(&self, x: f32, y: f32) -> (f32, f32) {
        (x * self.cos - y * self.sin, x * self.sin + y * self.cos)
    }

    pub(crate) fn site_from_enu(&self, e: f32, n: f32) -> (f32, f32) {
        (e * self.cos + n * self.sin, n * self.cos - e * self.sin)
    }

    fn stand(&self, x: f32, y: f32, heading: f32) -> Stand {
        let (e, n) = self.enu_from_site(x, y);
        Stand::new(e, n, 0.0, heading + self.heading)
    }
}

fn add_prop(builder: &mut Builder, prop: &Prop, site: &SiteFrame) {
    let stand = site.stand(prop.x, prop.y, prop.heading);
    let dice = Dice::new(u64::from(prop.seed), "prop", "");
    let mut shop = Workshop {
        builder,
        stand,
        dice,
        seed: prop.seed,
    };
    match &prop.kind {
        PropKind::Building(building) => buildings::add(&mut shop, building),
        PropKind::Tree(tree) => {
            let bark = shop.plain(v3(0.09, 0.075, 0.06), 0.0);
            let leaf = shop.finish(Finish::Leaf { tint: tree.tint });
            foliage::trunk(&mut shop.planter(bark), tree);
            shop.builder.close(None, false, 0);
            foliage::crown(&mut shop.planter(leaf), tree);
            shop.builder.close(None, true, 0);
        }
        &PropKind::Bush {
            radius,
            height,
            leaves,
            tint,
        } => {
            let leaf = shop.finish(Finish::Leaf { tint });
            foliage::bush(&mut shop.planter(leaf), radius, height, leaves);
            shop.builder.close(None, true, 0);
        }
        &PropKind::Hedge {
            length,
            width,
            height,
            tint,
        } => {
            let core = shop.plain(tint * 0.4, 0.0);
            shop.block(
                (0.0, 0.0, 0.0),
                (length - 0.3, width - 0.3, height - 0.2),
                core,
            );
            shop.builder.close(None, false, 0);
            let leaf = shop.finish(Finish::Leaf { tint });
            foliage::hedge(&mut shop.planter(leaf), v3(length, width, height));
            shop.builder.close(None, true, 0);
        }
        PropKind::Kerb { points, closed } => {
            let stone = shop.plain(V3::splat(0.33), 0.03);
            kerb(shop.mesh(), site, points, *closed, stone);
        }
        other => furniture::add(&mut shop, other),
    }
    shop.builder.close(None, false, 0);
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
        let stand = site.stand((ax + bx) / 2.0, (ay + by) / 2.0, dy.atan2(dx));
        let size = v3(length + 0.05, width, height);
        mesh.cuboid(&stand, V3::ZERO, size, finish, finish);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::{SITE_KINDS, SiteSpec};

    fn world(kind_index: usize, seed: u64) -> World {
        let spec = SiteSpec {
            kind: Some(SITE_KINDS[kind_index]),
            ..SiteSpec::new(seed)
        };
        World::generate(&spec).expect("the defaults fit")
    }

    /// Since footprints never meet, meshes that stay in theirs never do.
    #[test]
    fn every_prop_stays_in_its_footprints() {
        for kind_index in 0..SITE_KINDS.len() {
            let world = world(kind_index, 6);
            let straight = SiteFrame::new(0.0);
            for prop in &world.props {
                let footprints = prop.footprints();
                if footprints.is_empty() {
                    continue;
                }
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
                add_prop(&mut builder, prop, &straight);
                for vertex in &builder.scene.mesh.vertices {
                    let p = vertex.position;
                    let inside = footprints.iter().any(|f| f.holds(p.x, p.y, p.z, 0.08));
                    assert!(inside, "{prop:?} reaches {p:?}");
                }
            }
        }
    }

    /// The mesh of a vehicle is as long, wide and high as the truth says, accessories apart.
    #[test]
    fn vehicle_meshes_have_the_catalogues_size() {
        for kind_index in 0..SITE_KINDS.len() {
            let world = world(kind_index, 9);
            let scene = build(&world);
            for (object, vehicle) in scene.objects.iter().zip(&world.vehicles) {
                let (sin, cos) = vehicle.front_azimuth_deg.to_radians().sin_cos();
                let [east, north] = vehicle.center_in_enu;
                let mut reach = [0.0_f64; 3];
                let first = object.vertices.start;
                for vertex in &scene.mesh.vertices[first..first + object.body_vertices] {
                    let p = vertex.position;
                    let (de, dn) = (f64::from(p.x) - east, f64::from(p.y) - north);
                    let (along, across) = (de * sin + dn * cos, de * cos - dn * sin);
                    let here = [2.0 * along.abs(), 2.0 * across.abs(), f64::from(p.z)];
                    reach = std::array::from_fn(|k| reach[k].max(here[k]));
                }
                for (got, size) in reach.iter().zip(vehicle.size_m()) {
                    let difference = got - size;
                    assert!(
                        (-0.012..0.005).contains(&difference),
                        "{vehicle:?}: {reach:?}"
                    );
                }
            }
        }
    }
}
