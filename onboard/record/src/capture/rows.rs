//! A capture as rows for people: label, value, source, uncertainty, in a fixed order.

use super::values::{AttitudeReading, Height, Stated};
use super::{Capture, PhotoKind, TimeBasis};
use serde::Serialize;

/// One line about a photo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What it is about.
    pub label: &'static str,
    /// The value with its unit.
    pub value: String,
    /// Where it was read.
    pub source: String,
    /// How far off it may be; empty where that makes no sense.
    pub uncertainty: String,
}

impl Capture {
    /// Everything the photo says, one row per value; every photo gives its rows in the same order,
    /// and what is missing gives none. Remarks come last.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Rows(Vec::new());
        self.picture_rows(&mut rows);
        self.time_rows(&mut rows);
        self.place_rows(&mut rows);
        self.optics_rows(&mut rows);
        for remark in &self.remarks {
            rows.add("remark", remark.to_string(), "", "");
        }
        rows.0
    }

    fn picture_rows(&self, rows: &mut Rows) {
        let size = format!("{} x {} px", self.width_px, self.height_px);
        rows.add("picture", size, "JPEG frame header", "");
        if let Some(orientation) = self.orientation {
            let value = orientation.exif_value().to_string();
            rows.add("orientation", value, "EXIF Orientation", "");
        }
        let kind = match self.kind.value {
            PhotoKind::Photo => "photo",
            PhotoKind::Thermal => "thermal",
            PhotoKind::Panorama => "panorama",
        };
        rows.add("kind", kind, self.kind.source.to_string(), "");
        let camera = &self.camera;
        for (label, stated) in [
            ("make", &camera.make),
            ("model", &camera.model),
            ("lens", &camera.lens),
            ("camera serial", &camera.camera_serial),
            ("body serial", &camera.body_serial),
            ("drone", &camera.drone_model),
            ("drone serial", &camera.drone_serial),
            ("software", &self.software),
            ("description", &self.image_description),
        ] {
            rows.stated(label, stated.as_ref());
        }
    }

    fn time_rows(&self, rows: &mut Rows) {
        if let Some(local) = &self.local_time {
            let shown = local.shown.to_string();
            rows.add("camera clock", shown, local.source.to_string(), "");
        }
        if let Some(time) = self.time() {
            let seconds = time.plus_minus.get();
            let plus_minus = if seconds >= 3600.0 {
                format!("+- {:.0} h", seconds / 3600.0)
            } else {
                format!("+- {} s", short(seconds))
            };
            let source = match time.basis {
                TimeBasis::UnknownZone => format!("{}, zone unknown", time.source),
                TimeBasis::SiteZone => format!("zone {}", time.source.key),
                _ => time.source.to_string(),
            };
            rows.add("UTC", time.utc.to_string(), source, plus_minus);
        }
    }

    fn place_rows(&self, rows: &mut Rows) {
        if let Some(position) = &self.position {
            let value = format!(
                "{:.8}, {:.8} deg",
                position.latitude.to_degrees(),
                position.longitude.to_degrees()
            );
            let sigma = sigma(position.sigma.get(), "m");
            rows.add("position", value, position.source.to_string(), sigma);
        }
        for (label, height) in [
            ("height above take-off", &self.height_above_takeoff),
            ("height above ground", &self.height_above_ground),
            ("height above sea level", &self.height_above_sea_level),
            ("height above ellipsoid", &self.height_above_ellipsoid),
            ("EXIF GPS height", &self.exif_gps_height),
        ] {
            rows.height(label, height.as_ref());
        }
        rows.attitude("gimbal", self.gimbal.as_ref());
        rows.attitude("aircraft", self.aircraft.as_ref());
        if let Some(rtk) = &self.rtk {
            let value = format!("{:?} ({})", rtk.state, rtk.flag).to_lowercase();
            let std = |metres: Option<calibration::Metres>| {
                metres.map_or("?".to_owned(), |m| m.get().to_string())
            };
            let stds = format!(
                "std east {}, north {}, up {} m",
                std(rtk.std_longitude),
                std(rtk.std_latitude),
                std(rtk.std_height)
            );
            rows.add("RTK", value, rtk.source.to_string(), stds);
        }
    }

    fn optics_rows(&self, rows: &mut Rows) {
        if let Some(focal) = &self.focal_length_mm {
            let value = format!("{} mm", short(focal.value));
            rows.add("focal length", value, focal.source.to_string(), "");
        }
        if let Some(zoom) = &self.digital_zoom {
            let value = short(zoom.value).to_string();
            rows.add("digital zoom", value, zoom.source.to_string(), "");
        }
        for (hint_idx, hint) in self.focal_hints.iter().enumerate() {
            let label = if hint_idx == 0 {
                "focal length in pixels"
            } else {
                "(or)"
            };
            let mut value = format!("{:.1} px", hint.focal_px);
            if let Some([x, y]) = hint.principal_point_px {
                value = format!("{value}, centre {x:.1}, {y:.1}");
            }
            let sigma = sigma((hint.sigma_px * 10.0).round() / 10.0, "px");
            rows.add(label, value, hint.source.to_string(), sigma);
        }
    }
}

fn sigma(value: f64, unit: &str) -> String {
    format!("sigma {} {unit}", short(value))
}

/// At most four decimals, and no minus before zero.
fn short(value: f64) -> f64 {
    (value * 1e4).round() / 1e4 + 0.0
}

struct Rows(Vec<Row>);

impl Rows {
    fn add(
        &mut self,
        label: &'static str,
        value: impl Into<String>,
        source: impl Into<String>,
        uncertainty: impl Into<String>,
    ) {
        self.0.push(Row {
            label,
            value: value.into(),
            source: source.into(),
            uncertainty: uncertainty.into(),
        });
    }

    fn stated(&mut self, label: &'static str, stated: Option<&Stated<String>>) {
        if let Some(stated) = stated {
            self.add(label, &stated.value, stated.source.to_string(), "");
        }
    }

    fn height(&mut self, label: &'static str, height: Option<&Height>) {
        if let Some(height) = height {
            let value = format!("{} m", short(height.height.get()));
            let sigma = sigma(height.sigma.get(), "m");
            self.add(label, value, height.source.to_string(), sigma);
        }
    }

    fn attitude(&mut self, label: &'static str, reading: Option<&AttitudeReading>) {
        if let Some(reading) = reading {
            let angle = |radians: calibration::Radians| {
                // A hundredth of a degree is what vendors write.
                short((radians.to_degrees() * 100.0).round() / 100.0)
            };
            let value = format!(
                "yaw {}, pitch {}, roll {} deg",
                angle(reading.attitude.yaw),
                angle(reading.attitude.pitch),
                angle(reading.attitude.roll)
            );
            let uncertainty = format!(
                "sigma yaw {}, tilt {} deg",
                angle(reading.yaw_sigma),
                angle(reading.tilt_sigma)
            );
            self.add(label, value, reading.source.to_string(), uncertainty);
        }
    }
}
