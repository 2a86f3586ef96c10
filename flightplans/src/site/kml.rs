//! Sites in KML: placemarks with polygons and points. What they are is said by `ExtendedData`
//! (`<Data name="role">`), or by a placemark's name that is a role.

use super::{RawFeature, RawShape};
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// Names of placemarks that say a role.
const NAMED_ROLES: [(&str, &str); 7] = [
    ("area", "area"),
    ("keep_out", "keep_out"),
    ("keep-out", "keep_out"),
    ("keepout", "keep_out"),
    ("fence", "fence"),
    ("geofence", "fence"),
    ("home", "home"),
];

/// Where the reader is: local names of the open elements, and what is being collected.
#[derive(Default)]
struct State {
    open: Vec<String>,
    text: String,
    data_key: Option<String>,
    placemark: Option<RawFeature>,
    rings: Vec<Vec<[f64; 2]>>,
    found: Vec<RawFeature>,
}

/// The placemarks of a KML text; what an `ExtendedData` of the document says counts as a placemark
/// without a shape.
pub(super) fn read(text: &str) -> Result<Vec<RawFeature>, String> {
    let mut reader = Reader::from_str(text);
    let mut state = State {
        found: vec![RawFeature {
            label: "the document".to_owned(),
            ..RawFeature::default()
        }],
        ..State::default()
    };
    let mut has_kml = false;
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(element) => {
                has_kml |= local(&element) == "kml";
                state.start(&element);
            }
            Event::End(_) => state.end()?,
            Event::Text(piece) => state.text.push_str(&piece),
            Event::CData(piece) => state.text.push_str(&piece),
            Event::GeneralRef(name) => state.text.push_str(&entity(&name)?),
            Event::Eof => break,
            _ => {}
        }
    }
    if !state.open.is_empty() {
        return Err(format!("ends inside <{}>", state.open.join("> <")));
    }
    if !has_kml {
        return Err("XML without <kml>".to_owned());
    }
    Ok(state.found)
}

/// What `&name;` stands for.
fn entity(name: &BytesRef<'_>) -> Result<String, String> {
    let character = name.resolve_char_ref().map_err(|error| error.to_string())?;
    match character {
        Some(character) => Ok(character.to_string()),
        None => resolve_predefined_entity(name)
            .map(str::to_owned)
            .ok_or_else(|| format!("the unknown entity &{};", &**name)),
    }
}

fn local(element: &BytesStart<'_>) -> String {
    element.local_name().as_ref().to_owned()
}

impl State {
    fn start(&mut self, element: &BytesStart<'_>) {
        let name = local(element);
        self.text.clear();
        match name.as_str() {
            "Placemark" => {
                self.placemark = Some(RawFeature {
                    label: format!("placemark {}", self.found.len()),
                    ..RawFeature::default()
                });
            }
            "Data" | "SimpleData" => {
                self.data_key = element
                    .attributes()
                    .flatten()
                    .find(|attribute| attribute.key.local_name().as_ref() == "name")
                    .map(|attribute| attribute.value.into_owned());
            }
            _ => {}
        }
        self.open.push(name);
    }

    fn end(&mut self) -> Result<(), String> {
        let name = self.open.pop().unwrap_or_default();
        let text = std::mem::take(&mut self.text).trim().to_owned();
        let parent = self.open.last().map(String::as_str).unwrap_or_default();
        match (name.as_str(), parent) {
            ("name", "Placemark") => self.name_placemark(text),
            ("value", "Data") | ("SimpleData", _) => self.set_data(&text)?,
            ("coordinates", "LinearRing") => self.rings.push(coordinates(&text)?),
            ("coordinates", "Point") => {
                if let (Some(placemark), [place, ..]) =
                    (&mut self.placemark, coordinates(&text)?.as_slice())
                {
                    placemark.shape = RawShape::Point(*place);
                }
            }
            ("Polygon", _) => self.end_polygon(),
            ("Placemark", _) => self.found.extend(self.placemark.take()),
            _ => {}
        }
        Ok(())
    }

    fn name_placemark(&mut self, text: String) {
        let Some(placemark) = &mut self.placemark else {
            return;
        };
        let lower = text.to_lowercase();
        if placemark.role.is_none() {
            placemark.role = NAMED_ROLES
                .iter()
                .find(|(name, _)| *name == lower)
                .map(|(_, role)| (*role).to_owned());
        }
        placemark.label = format!("{} ({text})", placemark.label);
        placemark.name = Some(text);
    }

    fn set_data(&mut self, text: &str) -> Result<(), String> {
        let Some(key) = self.data_key.take() else {
            return Ok(());
        };
        let target = match &mut self.placemark {
            Some(placemark) => placemark,
            None => &mut self.found[0],
        };
        let number = || {
            text.parse::<f64>()
                .map(Some)
                .map_err(|_| format!("{key} is {text:?}, expected a number"))
        };
        match key.as_str() {
            "role" => target.role = Some(text.to_owned()),
            "time_zone" => target.time_zone = Some(text.to_owned()),
            "max_height_m" => target.max_height_m = number()?,
            "top_height_m" => target.top_height_m = number()?,
            _ => {}
        }
        Ok(())
    }

    /// Rings come in the file's order, the outer one first by the schema.
    fn end_polygon(&mut self) {
        let rings = std::mem::take(&mut self.rings);
        let Some(placemark) = &mut self.placemark else {
            return;
        };
        match &mut placemark.shape {
            RawShape::Polygons(polygons) => polygons.push(rings),
            shape => *shape = RawShape::Polygons(vec![rings]),
        }
    }
}

/// `longitude,latitude[,height]` tuples between white space.
fn coordinates(text: &str) -> Result<Vec<[f64; 2]>, String> {
    text.split_whitespace()
        .map(|tuple| {
            let mut numbers = tuple.split(',').map(str::parse::<f64>);
            match (numbers.next(), numbers.next()) {
                (Some(Ok(longitude)), Some(Ok(latitude))) => Ok([longitude, latitude]),
                _ => Err(format!("{tuple:?} where longitude,latitude should be")),
            }
        })
        .collect()
}
