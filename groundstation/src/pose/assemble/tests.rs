//! Solutions of known worlds: true ones must be taken, impossible ones never, whatever the seed.

use super::*;
use crate::ingest::{CameraGroup, Flight, PriorSource, ScenePhoto, SceneSchema};
use crate::pose::model::{Model, ModelPhoto, ModelPoint};
use crate::pose::priors;
use crate::scene::PhotoId;
use crate::seeded;
use calibration::frames::{Camera, Enu, Solution};
use calibration::{Attitude, Geodetic, LocalOrigin, Metres, Pixel, Point, Rotation};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion};
use rand_chacha::ChaCha8Rng;
use record::read_capture;

const SIZE_PX: [u16; 2] = [800, 600];
const FOCAL_PX: f64 = 600.0;

/// Where a photo is and looks.
#[derive(Clone, Copy)]
struct View {
    centre: Vector3<f64>,
    yaw_deg: f64,
    pitch_deg: f64,
}

/// Rings at two heights, looking inwards.
fn rings(n: usize) -> Vec<View> {
    (0..n)
        .map(|idx| {
            let around = idx as f64 * 2.4;
            let (height, pitch_deg) = [(30.0, -90.0), (30.0, -60.0), (45.0, -50.0)][idx % 3];
            let radius = 15.0 + 5.0 * (idx % 5) as f64;
            View {
                centre: Vector3::new(radius * around.sin(), radius * around.cos(), height),
                yaw_deg: around.to_degrees().rem_euclid(360.0) - 180.0,
                pitch_deg,
            }
        })
        .collect()
}

/// Straight down from one height, line after line.
fn lawn(n: usize) -> Vec<View> {
    (0..n)
        .map(|idx| {
            let (line, step) = (idx / 5, idx % 5);
            let there = line % 2 == 0;
            let along = if there { step } else { 4 - step };
            View {
                centre: Vector3::new(15.0 * line as f64, 12.0 * along as f64, 40.0),
                yaw_deg: if there { 0.0 } else { 180.0 },
                pitch_deg: -90.0,
            }
        })
        .collect()
}

/// A JPEG's header with DJI's XMP: enough to be read.
fn header(attributes: &[(&str, String)]) -> Vec<u8> {
    let attributes: String = attributes
        .iter()
        .map(|(name, value)| format!(" drone-dji:{name}=\"{value}\""))
        .collect();
    let xmp = format!(
        "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\
         <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\
         <rdf:Description xmlns:drone-dji=\"http://www.dji.com/drone-dji/1.0/\"{attributes}/>\
         </rdf:RDF></x:xmpmeta>"
    );
    let segment = |kind: u8, body: &[u8]| {
        let length = u16::try_from(body.len() + 2).expect("a short body");
        [&[0xFF, kind], &length.to_be_bytes()[..], body].concat()
    };
    let [width, height] = SIZE_PX.map(u16::to_be_bytes);
    let frame = [&[8], &height[..], &width, &[1, 1, 0x11, 0]].concat();
    [
        vec![0xFF, 0xD8],
        segment(0xE1, xmp.as_bytes()),
        segment(0xC0, &frame),
    ]
    .concat()
}

/// The scene of some views, as their photos tell it: GPS off by `gps_m` (the same for photos of
/// some minutes, and a little of their own), angles by half a degree.
fn scene_of(views: &[View], with_angles: bool, gps_m: f64, rng: &mut ChaCha8Rng) -> Scene {
    let place = Geodetic::from_degrees(48.0, 11.0, Metres(0.0)).expect("a place");
    let frame = LocalOrigin::new(place);
    let common = Vector3::from_fn(|_, _| seeded::normal(rng) * gps_m);
    let photos: Vec<ScenePhoto> = views
        .iter()
        .enumerate()
        .map(|(idx, view)| {
            let mut off = |size: f64| size * seeded::normal(rng);
            let own = Vector3::new(off(0.3), off(0.3), off(0.2));
            let said = view.centre + common + own;
            let place = frame.geodetic_from_enu(Point::new(said.x, said.y, 0.0));
            let mut attributes = vec![
                (
                    "GpsLatitude",
                    format!("{:+.9}", place.latitude().to_degrees()),
                ),
                (
                    "GpsLongitude",
                    format!("{:+.9}", place.longitude().to_degrees()),
                ),
                ("RelativeAltitude", format!("{:+.2}", said.z - common.z)),
            ];
            if with_angles {
                attributes.push((
                    "GimbalYawDegree",
                    format!("{:+.2}", view.yaw_deg + off(0.5)),
                ));
                attributes.push((
                    "GimbalPitchDegree",
                    format!("{:+.2}", view.pitch_deg + off(0.5)),
                ));
                attributes.push(("GimbalRollDegree", "+0.00".to_owned()));
            }
            let name = format!("{idx:03}.jpg");
            ScenePhoto {
                photo_id: PhotoId::from_sha256(format!("{idx:064x}")),
                names: vec![name],
                bytes: 1,
                width_px: SIZE_PX[0].into(),
                height_px: SIZE_PX[1].into(),
                camera: 0,
                flight: 0,
                capture: read_capture(&header(&attributes)).expect("a photo's header"),
            }
        })
        .collect();
    let n_photos = photos.len();
    Scene {
        schema: SceneSchema,
        zone: None,
        photos,
        cameras: vec![CameraGroup {
            make: None,
            model: None,
            serial: None,
            focal_length_mm: None,
            digital_zoom: None,
            prior: camera(),
            focal_sigma_px: 10.0,
            source: PriorSource::Photo {
                source: "test".to_owned(),
            },
            n_photos,
        }],
        flights: vec![Flight {
            n_photos,
            first_utc: None,
            last_utc: None,
            serial: None,
            began_with: "first photo".to_owned(),
        }],
        intervals: None,
        bundles: Vec::new(),
    }
}

fn camera() -> CameraModel {
    CameraModel::pinhole(SIZE_PX[0].into(), SIZE_PX[1].into(), FOCAL_PX)
}

/// What a solver may have done to the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Left and right exchanged.
    Mirrored,
    /// Cameras look up at the points.
    UpsideDown,
    /// Nothing to do with the truth.
    Scrambled,
}

fn solution_of(views: &[View], which: &[usize], fault: Fault, rng: &mut ChaCha8Rng) -> Model {
    let mut any = |size: f64| Vector3::from_fn(|_, _| size * seeded::normal(rng));
    let turn = Rotation3::from_scaled_axis(any(2.0));
    let (scale, shift) = (0.3, any(5.0));
    let mirror = Matrix3::from_diagonal(&match fault {
        Fault::Mirrored => Vector3::new(-1.0, 1.0, 1.0),
        Fault::UpsideDown => Vector3::new(1.0, 1.0, -1.0),
        Fault::None | Fault::Scrambled => Vector3::repeat(1.0),
    });
    let pivot = Vector3::new(0.0, 0.0, 40.0);
    let moved = |place: Vector3<f64>| {
        Point::<Solution>::from_vector(turn * (mirror * (place - pivot)) * scale + shift)
    };
    let photos = which
        .iter()
        .map(|&idx| {
            let view = views[idx];
            let camera_from_enu =
                Attitude::from_degrees(view.yaw_deg, view.pitch_deg, 0.0).camera_from_enu();
            let flip = Matrix3::from_diagonal(&Vector3::new(mirror.determinant(), 1.0, 1.0));
            let matrix = flip * camera_from_enu.quaternion.to_rotation_matrix().matrix() * mirror;
            let mut camera =
                UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix))
                    * UnitQuaternion::from_rotation_matrix(&turn).inverse();
            let mut centre = moved(view.centre + any(0.02));
            if fault == Fault::Scrambled {
                camera = UnitQuaternion::from_scaled_axis(any(3.0));
                centre = Point::from_vector(any(10.0));
            }
            let rotation = Rotation::<Camera, Solution>::from_quaternion(camera);
            ModelPhoto {
                name: format!("{idx:03}.jpg"),
                camera_id: 1,
                camera_from_solution: Rigid::from_centre(rotation, centre),
            }
        })
        .collect();
    let points = (0..100).map(|idx| ModelPoint {
        point_in_solution: moved(Vector3::new(
            f64::from(idx / 10) * 8.0 - 40.0,
            f64::from(idx % 10) * 8.0 - 40.0,
            0.0,
        )),
        error_px: Some(0.5),
        track: (0..which.len().min(4))
            .map(|photo| (photo, Pixel::new(1.0, 1.0)))
            .collect(),
    });
    Model {
        cameras: [(1, camera())].into(),
        photos,
        points: points.collect(),
    }
}

/// Poses from models of a scene.
fn assembled(scene: &Scene, models: Vec<Model>) -> Result<Assembled, String> {
    let priors = priors::gather(scene, None);
    let names: Vec<String> = scene
        .photos
        .iter()
        .map(|photo| photo.name().to_owned())
        .collect();
    let context = Context {
        scene,
        priors: &priors,
        names: &names,
        seed: 0,
    };
    let solved = Solved {
        models,
        stages: Vec::new(),
        stats: DatabaseStats::default(),
        remarks: Vec::new(),
    };
    let engine = EngineIdentity {
        name: "test".to_owned(),
        version: "1".to_owned(),
    };
    from_models(&context, &solved, &engine)
}

/// How many of `n` seeds give a solution that is taken.
fn n_taken(n: u64, views: &[View], size: usize, with_angles: bool, fault: Fault) -> u64 {
    let taken = (0..n).filter(|&seed| {
        let mut rng = seeded::rng(seed, "test", "assemble");
        let scene = scene_of(views, with_angles, 1.5, &mut rng);
        let first = seeded::below(&mut rng, views.len() - size + 1);
        let which: Vec<usize> = (first..first + size).collect();
        let model = solution_of(views, &which, fault, &mut rng);
        assembled(&scene, vec![model]).is_ok()
    });
    taken.count() as u64
}

#[test]
fn true_solutions_are_taken_however_small() {
    for (name, views) in [("rings", rings(15)), ("lawn", lawn(15))] {
        for size in [4, 5, 8, 15] {
            let taken = n_taken(40, &views, size, true, Fault::None);
            // The least ones may stand on a line, or too close together for their scale.
            let least = if size == 4 { 30 } else { 38 };
            assert!(taken >= least, "{name}, {size} photos: {taken} of 40");
        }
    }
}

/// A single line of photos that look straight down is its own mirror image: there the poses of a
/// mirrored solution are the true ones, which is why the lines here are two or more.
#[test]
fn impossible_solutions_are_never_taken() {
    for (name, views, sizes) in [
        ("rings", rings(15), [4, 5, 8, 15]),
        ("lawn", lawn(15), [6, 7, 8, 15]),
    ] {
        for fault in [Fault::Mirrored, Fault::UpsideDown, Fault::Scrambled] {
            for size in sizes {
                let taken = n_taken(60, &views, size, true, fault);
                assert_eq!(taken, 0, "{name}, {fault:?}, {size} photos of 60");
            }
        }
    }
}

/// Where no photo says how it was turned, positions and points alone must tell.
#[test]
fn impossible_solutions_are_refused_without_gimbal_angles_too() {
    for (name, views) in [("rings", rings(15)), ("lawn", lawn(15))] {
        for size in [7, 15] {
            let taken = n_taken(20, &views, size, false, Fault::None);
            assert!(taken >= 19, "{name}, {size} photos: {taken} of 20");
            for fault in [Fault::Mirrored, Fault::UpsideDown, Fault::Scrambled] {
                let taken = n_taken(60, &views, size, false, fault);
                assert_eq!(taken, 0, "{name}, {fault:?}, {size} photos of 60");
            }
        }
    }
}

/// A part whose shared photos the larger one has elsewhere was put together wrongly.
#[test]
fn parts_must_agree_on_the_photos_they_share() {
    let views = rings(20);
    let mut rng = seeded::rng(1, "test", "shared");
    let scene = scene_of(&views, true, 1.0, &mut rng);
    let large: Vec<usize> = (0..14).collect();
    let small: Vec<usize> = (10..18).collect();
    let first = solution_of(&views, &large, Fault::None, &mut rng);
    let second = solution_of(&views, &small, Fault::None, &mut rng);
    let both = assembled(&scene, vec![first.clone(), second.clone()]).expect("true parts");
    assert_eq!(both.posed.n_solved(), 18);
    // The same part under the names of photos 30 m away.
    let mut wrong = second;
    for photo in &mut wrong.photos {
        let idx: usize = photo.name[..3].parse().expect("a number");
        if idx < 14 {
            photo.camera_from_solution = first.photos[(idx + 7) % 14].camera_from_solution;
        }
    }
    let one = assembled(&scene, vec![first, wrong]).expect("the larger part");
    assert_eq!(one.posed.n_solved(), 14);
}

/// A model whose cameras have another size than the photos is of other photos.
#[test]
fn a_model_of_other_photos_is_refused() {
    let views = rings(9);
    let mut rng = seeded::rng(2, "test", "size");
    let scene = scene_of(&views, true, 1.0, &mut rng);
    let which: Vec<usize> = (0..9).collect();
    let mut model = solution_of(&views, &which, Fault::None, &mut rng);
    model.cameras = [(1, CameraModel::pinhole(400, 300, 300.0))].into();
    let refusal = assembled(&scene, vec![model]).expect_err("another size");
    assert!(refusal.contains("400 x 300"), "{refusal}");
}

/// One photo far from where GPS has it was matched with look-alikes; one whose GPS is far from
/// everything is a matter of its GPS.
#[test]
fn a_photo_posed_far_from_its_position_is_left_out() {
    let views = rings(15);
    let mut rng = seeded::rng(3, "test", "stray");
    let scene = scene_of(&views, true, 0.5, &mut rng);
    let which: Vec<usize> = (0..15).collect();
    let mut model = solution_of(&views, &which, Fault::None, &mut rng);
    let stray = &mut model.photos[4].camera_from_solution;
    let shift = Direction::<Solution>::from_vector(Vector3::new(8.0, 6.0, 0.0));
    *stray = Rigid::from_centre(stray.rotation, stray.centre() + shift);
    let found = assembled(&scene, vec![model]).expect("the rest is true");
    assert_eq!(found.posed.n_solved(), 14);
    let photo = &found.posed.photos[4];
    let reason = photo.reason.as_deref().expect("a reason");
    assert!(reason.contains("wrongly matched"), "{reason}");
    let pose = photo.pose.as_ref().expect("posed from its own account");
    let truth = Point::<Enu>::from_vector(views[4].centre);
    let others = found.posed.photos[3].pose.as_ref().expect("solved");
    let between = pose.camera_from_enu.centre() - others.camera_from_enu.centre();
    let expected = truth - Point::from_vector(views[3].centre);
    assert!(
        (between.vector - expected.vector).norm() < 4.0,
        "{between:?}"
    );
    // Points are not seen by a photo that is not where it should be to see them.
    assert!(
        found
            .points
            .iter()
            .all(|point| point.track.iter().all(|(idx, ..)| *idx != 4))
    );
}
