//! KML for people: the site, the photos, the paths. Longitude comes first; heights are above the
//! sea when terrain gave home's, else above the ground (take-off height is assumed everywhere).

use super::escaped;
use super::geojson::paths;
use crate::plan::{CellState, FlightPlan};
use std::fmt::Write as _;

pub(super) fn write(plan: &FlightPlan) -> Vec<u8> {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <kml xmlns=\"http://www.opengis.net/kml/2.2\">\n<Document>\n",
    );
    line(
        &mut text,
        &format!("<name>{}</name>", escaped(&plan.site.name)),
    );
    for (id, colour) in [
        ("area", "ff00a5ff"),
        ("keep_out", "ff0000ff"),
        ("fence", "ff00ffff"),
    ] {
        line(
            &mut text,
            &format!(
                "<Style id=\"{id}\"><LineStyle><color>{colour}</color><width>2</width></LineStyle>\
                 <PolyStyle><fill>0</fill></PolyStyle></Style>"
            ),
        );
    }
    folder(&mut text, "Site", &site(plan));
    folder(&mut text, "Photos", &photos(plan));
    folder(&mut text, "Paths", &ways(plan));
    text.push_str("</Document>\n</kml>\n");
    text.into_bytes()
}

fn line(text: &mut String, content: &str) {
    text.push_str(content);
    text.push('\n');
}

fn folder(text: &mut String, name: &str, content: &str) {
    line(text, &format!("<Folder><name>{name}</name>"));
    text.push_str(content);
    line(text, "</Folder>");
}

fn site(plan: &FlightPlan) -> String {
    let mut text = String::new();
    let site = &plan.site;
    for rings in &site.area {
        polygon(&mut text, "area", "area", rings);
    }
    for zone in &site.keep_outs {
        polygon(&mut text, &zone.name, "keep_out", &zone.rings);
    }
    if let Some(fence) = &site.fence {
        polygon(&mut text, "fence", "fence", fence);
    }
    line(
        &mut text,
        &format!(
            "<Placemark><name>home</name><Point><coordinates>{:.8},{:.8}</coordinates></Point></Placemark>",
            site.home.longitude_deg, site.home.latitude_deg
        ),
    );
    text
}

fn polygon(text: &mut String, name: &str, role: &str, rings: &[Vec<[f64; 2]>]) {
    write!(
        text,
        "<Placemark><name>{}</name><styleUrl>#{role}</styleUrl><ExtendedData><Data name=\"role\">\
         <value>{role}</value></Data></ExtendedData><Polygon>",
        escaped(name)
    )
    .expect("writing to a String does not fail");
    for (index, ring) in rings.iter().enumerate() {
        let boundary = if index == 0 {
            "outerBoundaryIs"
        } else {
            "innerBoundaryIs"
        };
        let corners: Vec<String> = ring
            .iter()
            .map(|[longitude, latitude]| format!("{longitude:.8},{latitude:.8}"))
            .collect();
        write!(
            text,
            "<{boundary}><LinearRing><coordinates>{}</coordinates></LinearRing></{boundary}>",
            corners.join(" ")
        )
        .expect("writing to a String does not fail");
    }
    line(text, "</Polygon></Placemark>");
}

fn height_mode(plan: &FlightPlan) -> (&'static str, f64) {
    match plan.site.home_height_above_sea_level_m {
        Some(home_m) => ("absolute", home_m),
        None => ("relativeToGround", 0.0),
    }
}

fn photos(plan: &FlightPlan) -> String {
    let (mode, base_m) = height_mode(plan);
    let mut text = String::new();
    for cell in &plan.cells {
        let pose = &cell.pose;
        let state = match cell.state {
            CellState::Planned => "planned".to_owned(),
            CellState::Infeasible => {
                let words: Vec<String> = cell.reasons.iter().map(ToString::to_string).collect();
                format!("infeasible: {}", words.join("; "))
            }
        };
        writeln!(
            text,
            "<Placemark><name>{}</name><description>{} m, {} deg down, heading {:.1} deg; {}\
             </description><Point><altitudeMode>{mode}</altitudeMode><coordinates>{:.8},{:.8},{:.2}\
             </coordinates></Point></Placemark>",
            escaped(&cell.id),
            cell.height_m,
            cell.pitch_down_deg,
            pose.yaw_deg,
            escaped(&state),
            pose.longitude_deg,
            pose.latitude_deg,
            base_m + pose.height_above_takeoff_m
        )
        .expect("writing to a String does not fail");
    }
    text
}

fn ways(plan: &FlightPlan) -> String {
    let (mode, base_m) = height_mode(plan);
    let mut text = String::new();
    for (index, path) in paths(plan).iter().enumerate() {
        let places: Vec<String> = path
            .iter()
            .map(|[lon, lat, height_m]| format!("{lon:.8},{lat:.8},{:.2}", base_m + height_m))
            .collect();
        writeln!(
            text,
            "<Placemark><name>sortie {}</name><LineString><altitudeMode>{mode}</altitudeMode>\
             <coordinates>{}</coordinates></LineString></Placemark>",
            index + 1,
            places.join(" ")
        )
        .expect("writing to a String does not fail");
    }
    text
}
