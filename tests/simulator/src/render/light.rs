//! Sun, sky and air: how much light falls where, what a mirror would show, and what distance does.
//!
//! Units: an upright white sheet in full clear sun has radiance one times its reflectance; sky
//! and air follow in proportion.

use crate::dice::Dice;
use crate::site::{Weather, World};
use crate::vec3::{V3, lerp, smoothstep, v3};

/// The light of one flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Light {
    /// Unit vector towards the sun.
    pub(crate) to_sun: V3,
    /// Light of the sun on a surface square to it; zero when overcast.
    pub(crate) sun: V3,
    /// Light of the whole sky on level ground.
    pub(crate) sky: V3,
    zenith: V3,
    horizon: V3,
    /// Colour of the air in front of things far away.
    air: V3,
    /// Distance after which 63 % of the contrast is gone, metres.
    visibility_m: f32,
    /// Light thrown up by the ground around.
    pub(crate) bounce: V3,
}

impl Light {
    pub(crate) fn new(world: &World) -> Self {
        let mut dice = Dice::new(world.seed, "light", "");
        let elevation = world.sun.elevation_deg.to_radians() as f32;
        let azimuth = world.sun.azimuth_deg.to_radians() as f32;
        let to_sun = v3(
            elevation.cos() * azimuth.sin(),
            elevation.cos() * azimuth.cos(),
            elevation.sin().max(0.05),
        )
        .unit();
        // Through more air the sun is weaker and warmer.
        let air_mass = 1.0 / to_sun.z.max(0.08);
        let direct = v3(
            (-0.10 * air_mass).exp(),
            (-0.135 * air_mass).exp(),
            (-0.22 * air_mass).exp(),
        );
        let direct = direct * (1.0 / (-0.13_f32).exp());
        let clear_zenith = v3(0.13, 0.23, 0.45) * dice.range32(0.85, 1.1);
        let clear_horizon = v3(0.42, 0.50, 0.60) * dice.range32(0.85, 1.1);
        let (sun, zenith, horizon, visibility_m) = match world.weather {
            Weather::Clear => (
                direct * dice.range32(0.95, 1.08),
                clear_zenith,
                clear_horizon,
                dice.range32(4500.0, 9000.0),
            ),
            Weather::Hazy => (
                direct * dice.range32(0.50, 0.68),
                clear_zenith.mix(V3::splat(0.42), 0.6),
                v3(0.62, 0.64, 0.66),
                dice.range32(1300.0, 2600.0),
            ),
            Weather::Overcast => {
                let gray = dice.range32(0.45, 0.62);
                let tint = v3(0.97, 1.0, 1.05);
                (
                    V3::ZERO,
                    tint * gray * 1.25,
                    tint * gray * 0.65,
                    dice.range32(2200.0, 5000.0),
                )
            }
        };
        let sky = zenith * 0.55 + horizon * 0.30;
        let bounce = (sun * to_sun.z + sky) * 0.12;
        Self {
            to_sun,
            sun,
            sky,
            zenith,
            horizon,
            air: horizon.mix(zenith, 0.15) * 0.9,
            visibility_m,
            bounce,
        }
    }

    /// What is seen in a direction past everything on the ground.
    pub(crate) fn environment(&self, direction: V3) -> V3 {
        if direction.z <= 0.0 {
            return self
                .bounce
                .mix(self.horizon * 0.6, smoothstep(-0.12, 0.0, direction.z));
        }
        let up = direction.z.sqrt();
        let mut sky = self.horizon.mix(self.zenith, up);
        let toward_sun = direction.dot(self.to_sun).max(0.0);
        if self.sun.x > 0.0 {
            sky += self.sun * (0.12 * toward_sun.powi(6) + 0.25 * toward_sun.powi(40));
        }
        // Trees and houses stand along the horizon.
        let skyline = smoothstep(0.16, 0.04, direction.z);
        sky.mix(
            v3(0.07, 0.085, 0.07) * lerp(0.6, 1.2, self.sky.y),
            0.75 * skyline,
        )
    }

    /// A colour after this distance of air.
    pub(crate) fn through_air(&self, color: V3, distance_m: f32) -> V3 {
        let kept = (-distance_m / self.visibility_m).exp();
        self.air.mix(color, kept)
    }
}
