//! Where on a vehicle's shell there is paint, glass, light, rubber or a joint.

use crate::noise::{octaves, value_noise};
use crate::render::shade::Surfel;
use crate::scene::profiles::{CAB_LENGTH_SHARE, Profile};
use crate::vec3::{V3, lerp, smoothstep, v3};
use crate::vehicles::{Body, Look, Vehicle};

/// A point on a shell and how coarsely it is seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShellPoint {
    /// Along the shell, 0 front to 1 rear.
    pub(crate) s: f32,
    /// Around the section, 0 sill to 10 middle of the roof.
    pub(crate) t: f32,
    /// To the left of the middle, metres.
    pub(crate) y: f32,
    /// Above the ground, metres.
    pub(crate) z: f32,
    pub(crate) footprint_m: f32,
}

const BLACK_PLASTIC: Surfel = Surfel {
    albedo: V3::splat(0.022),
    f0: 0.03,
    shine: 20.0,
    flake: 0.0,
};

fn glass(look: &Look, brightness: f32) -> Surfel {
    let tint = v3(0.85, 1.0, 0.98);
    Surfel {
        albedo: tint * brightness * lerp(0.5, 1.4, look.glass),
        f0: 0.055,
        shine: 900.0,
        flake: 0.0,
    }
}

fn paint(look: &Look, at: &ShellPoint) -> Surfel {
    let dust = look.dirt
        * (0.5 + 0.5 * octaves(at.s * 5.0, at.y, 1.2, 0.03, 0.7, at.footprint_m, look.seed));
    let dust = (dust * 0.32).clamp(0.0, 0.5) * if at.t < 2.5 { 1.8 } else { 1.0 };
    Surfel {
        albedo: look.paint.mix(v3(0.22, 0.195, 0.165), dust.min(0.6)),
        f0: 0.05 * (1.0 - dust),
        shine: lerp(700.0, 120.0, (look.dirt + dust).min(1.0)),
        flake: look.metallic,
    }
}

/// A thin dark line at a distance (metres), as dark as its share of the footprint.
fn seam(surfel: &mut Surfel, distance_m: f32, half_width_m: f32, footprint_m: f32) {
    let edge = half_width_m.max(footprint_m * 0.5);
    let share = (1.0 - distance_m.abs() / edge).clamp(0.0, 1.0) * (half_width_m / edge);
    surfel.albedo = surfel.albedo * (1.0 - 0.85 * share);
    surfel.f0 *= 1.0 - share;
}

/// What is at a point of the shell.
pub(crate) fn shell_surfel(vehicle: &Vehicle, at: &ShellPoint) -> Surfel {
    let look = &vehicle.look;
    let body = vehicle.model.body;
    let profile = body.profile();
    let [length, width, _] = vehicle.size_m().map(|v| v as f32);
    let shell_length = if body == Body::Truck {
        length * CAB_LENGTH_SHARE
    } else {
        length
    };
    let half_width = width / 2.0;
    if in_wheel_arch(profile, at, shell_length) {
        return Surfel {
            albedo: V3::splat(0.008),
            f0: 0.0,
            shine: 1.0,
            flake: 0.0,
        };
    }
    if let Some(surfel) = glazing(vehicle, profile, at, half_width) {
        return surfel;
    }
    if let Some(surfel) = lamps_and_plates(body, look, at, half_width) {
        return surfel;
    }
    if let Some(surfel) = trims(vehicle, profile, at, half_width) {
        return surfel;
    }
    let mut surfel = paint(look, at);
    seams(&mut surfel, body, profile, at, shell_length);
    surfel
}

fn in_wheel_arch(profile: &Profile, at: &ShellPoint, length: f32) -> bool {
    at.t < 4.7
        && profile.axles.iter().any(|axle| {
            let dx = (at.s - axle) * length;
            let dz = at.z - profile.wheel_radius_m;
            dx.hypot(dz) < profile.wheel_radius_m * 1.12
        })
}

fn glazing(
    vehicle: &Vehicle,
    profile: &Profile,
    at: &ShellPoint,
    half_width: f32,
) -> Option<Surfel> {
    let look = &vehicle.look;
    let body = vehicle.model.body;
    let ShellPoint { s, t, .. } = *at;
    let screen = (profile.cowl + 0.012..profile.screen_top - 0.006).contains(&s);
    if screen && t > 7.25 {
        return Some(windscreen(look, profile, at));
    }
    let rear = (profile.roof_end + 0.010..profile.glass_end - 0.008).contains(&s);
    let has_rear_window = !(look.panelled || matches!(body, Body::Truck | Body::Bus));
    if rear && t > 7.35 && has_rear_window {
        return Some(glass(look, 0.012));
    }
    if (5.25..6.8).contains(&t) && !matches!(body, Body::Truck)
        || (body == Body::Truck && (5.3..6.7).contains(&t))
    {
        let up = (t - 5.0) / 2.0;
        let front = lerp(profile.cowl, profile.screen_top, up) + 0.022;
        let last = if body == Body::Bus {
            0.965
        } else {
            lerp(profile.glass_end, profile.roof_end, up) - 0.03
        };
        let last = if look.panelled {
            profile.pillars[0] + 0.012
        } else {
            last
        };
        let pillar = profile.pillars.iter().any(|p| (s - p).abs() < 0.011);
        if (front..last).contains(&s) && !pillar {
            return Some(glass(look, 0.016));
        }
        if (front - 0.012..last + 0.012).contains(&s) && !look.panelled {
            return Some(BLACK_PLASTIC);
        }
    }
    let on_roof = t > 7.9 && s > profile.screen_top && s < profile.roof_end;
    if on_roof && look.sunroof && at.y.abs() < 0.52 * half_width {
        let span = profile.roof_end - profile.screen_top;
        let (from, to) = (
            profile.screen_top + 0.13 * span,
            profile.screen_top + 0.52 * span,
        );
        if (from..to).contains(&s) {
            return Some(glass(look, 0.01));
        }
    }
    (on_roof && look.dark_roof).then_some(Surfel {
        albedo: V3::splat(0.012),
        f0: 0.05,
        shine: 600.0,
        flake: 0.0,
    })
}

/// Dashboard, seats and perhaps a sun shield behind the windscreen.
fn windscreen(look: &Look, profile: &Profile, at: &ShellPoint) -> Surfel {
    let up = (at.s - profile.cowl) / (profile.screen_top - profile.cowl);
    if look.sun_shield && up < 0.85 {
        return Surfel {
            albedo: V3::splat(0.3),
            f0: 0.055,
            shine: 900.0,
            flake: 0.0,
        };
    }
    let mut surfel = glass(look, 0.016);
    let seat = smoothstep(0.55, 0.8, up) * smoothstep(0.16, 0.05, (at.y.abs() - 0.36).abs() - 0.1);
    surfel.albedo = surfel.albedo.mix(look.seats * 0.5, 0.6 * seat);
    let papers = value_noise(at.y * 5.0, up * 3.0, look.seed);
    if papers > 0.86 && up < 0.35 {
        surfel.albedo = V3::splat(0.12);
    }
    surfel
}

fn lamps_and_plates(body: Body, look: &Look, at: &ShellPoint, half_width: f32) -> Option<Surfel> {
    let ShellPoint { s, t, y, z, .. } = *at;
    let outer = y.abs() / half_width;
    let lamp_length = if matches!(body, Body::Truck | Body::Bus) {
        0.02
    } else {
        0.07
    };
    if s < lamp_length && outer > 0.52 && (2.7..4.75).contains(&t) {
        return Some(Surfel {
            albedo: V3::splat(0.30),
            f0: 0.09,
            shine: 500.0,
            flake: 0.0,
        });
    }
    if s > 1.0 - lamp_length * 0.6 && outer > 0.60 && (2.7..5.1).contains(&t) {
        return Some(Surfel {
            albedo: v3(0.22, 0.012, 0.012),
            f0: 0.06,
            shine: 500.0,
            flake: 0.0,
        });
    }
    let ends = !(0.008..=0.994).contains(&s);
    if ends && y.abs() < 0.26 && (0.32..0.46).contains(&z) {
        return Some(Surfel {
            albedo: v3(0.5, 0.5, 0.46),
            f0: 0.02,
            shine: 50.0,
            flake: 0.0,
        });
    }
    if s < 0.012 && outer < 0.62 && (0.28..0.62).contains(&z) && !matches!(body, Body::Bus) {
        let bars = !look.seed.is_multiple_of(3) && (z * 90.0).sin() > 0.4;
        let albedo = if bars {
            V3::splat(0.06)
        } else {
            V3::splat(0.012)
        };
        return Some(Surfel {
            albedo,
            f0: 0.03,
            shine: 60.0,
            flake: 0.0,
        });
    }
    None
}

fn trims(vehicle: &Vehicle, profile: &Profile, at: &ShellPoint, half_width: f32) -> Option<Surfel> {
    let look = &vehicle.look;
    let body = vehicle.model.body;
    let ShellPoint { s, t, y, .. } = *at;
    // Wipers and vents at the foot of the windscreen.
    if (profile.cowl - 0.014..profile.cowl + 0.014).contains(&s) && t > 5.6 && body != Body::Bus {
        return Some(BLACK_PLASTIC);
    }
    if t < 1.35 && (body == Body::Suv || look.seed.is_multiple_of(2)) {
        return Some(BLACK_PLASTIC);
    }
    if body == Body::Pickup && s > 0.645 && s < 0.965 && t > 5.2 && y.abs() < 0.9 * half_width {
        return Some(Surfel {
            albedo: V3::splat(0.03),
            f0: 0.02,
            shine: 15.0,
            flake: 0.0,
        });
    }
    let rail = (7.35..7.75).contains(&t) && s > profile.screen_top && s < profile.roof_end - 0.02;
    if look.roof_rails && rail {
        let albedo = if look.seed % 5 < 2 {
            V3::splat(0.4)
        } else {
            V3::splat(0.02)
        };
        return Some(Surfel {
            albedo,
            f0: 0.08,
            shine: 200.0,
            flake: 0.0,
        });
    }
    None
}

fn seams(surfel: &mut Surfel, body: Body, profile: &Profile, at: &ShellPoint, length: f32) {
    let ShellPoint {
        s, t, footprint_m, ..
    } = *at;
    let along = |place: f32| (s - place) * length;
    if (0.9..5.2).contains(&t) {
        for door in profile.pillars.iter().take(2) {
            seam(surfel, along(*door), 0.006, footprint_m);
        }
        seam(surfel, along(profile.cowl + 0.05), 0.006, footprint_m);
    }
    if matches!(body, Body::Truck | Body::Bus) {
        return;
    }
    // The bonnet's edge and the boot's.
    if s < profile.cowl && s > 0.035 {
        seam(surfel, (t - 5.25) * 0.12, 0.008, footprint_m);
        if t > 5.25 {
            seam(surfel, along(0.04), 0.008, footprint_m);
            let crease = (t - 7.6).abs() * 0.1;
            surfel.albedo = surfel.albedo * (1.0 - 0.05 * smoothstep(0.05, 0.0, crease));
        }
    }
    if matches!(body, Body::Saloon | Body::Pickup) && s > profile.glass_end {
        seam(surfel, (t - 5.4) * 0.12, 0.008, footprint_m);
        seam(surfel, along(profile.glass_end + 0.012), 0.010, footprint_m);
    }
    if s > profile.screen_top && s < profile.roof_end {
        seam(surfel, (t - 7.85) * 0.11, 0.008, footprint_m);
    }
}

/// A wheel: `u`, `w` from the hub, metres, and the wheel's radius.
pub(crate) fn wheel_surfel(look: &Look, u: f32, w: f32, radius: f32) -> Surfel {
    let r = u.hypot(w) / radius;
    if r > 0.70 {
        return Surfel {
            albedo: V3::splat(0.018),
            f0: 0.01,
            shine: 10.0,
            flake: 0.0,
        };
    }
    let spokes = (w.atan2(u) * (5 + look.seed % 3) as f32).cos();
    let metal = !(0.16..=0.64).contains(&r) || spokes > lerp(-0.4, 0.25, r);
    let albedo = if metal { look.rim } else { V3::splat(0.012) };
    Surfel {
        albedo,
        f0: 0.06,
        shine: 120.0,
        flake: 0.0,
    }
}
