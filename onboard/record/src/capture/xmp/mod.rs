//! XMP packets as a list of properties: attributes and child elements alike, structures flattened
//! to `Parent/Child`, lists joined by commas. Namespaces are told by their address, whatever the
//! prefix; where the XML is broken, known prefixes are searched for in the raw text.

mod scan;
#[cfg(test)]
mod tests;

use super::number::{parse_number, trim};
use super::remark::Remark;
use super::values::{Block, Source};
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::collections::BTreeSet;

/// Properties kept per photo; the richest drone photos have about 150.
const MAX_PROPERTIES: usize = 4096;
/// Longest value kept; longer ones (embedded images, sensor logs) are cut.
const MAX_VALUE_BYTES: usize = 4096;
/// Text of all values together.
const MAX_TOTAL_BYTES: usize = 1 << 20;
/// Deepest nesting of elements.
const MAX_DEPTH: usize = 64;

/// The vocabularies that are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespace {
    /// DJI, and newer Autel firmware which writes DJI's vocabulary with the prefix `drone`.
    Dji,
    /// Pix4D's `Camera`, also written by Parrot, senseFly and older Autel firmware.
    Camera,
    Skydio,
    Parrot,
    Exif,
    Xmp,
    Tiff,
    GPano,
    Flir,
    Aux,
    ExifEx,
    Rdf,
    Other,
}

/// Addresses (without trailing slash, lower case) and usual prefixes of the known vocabularies.
/// Sources: exiftool `XMP.pm` and `DJI.pm`, ISO 16684-1, developer.parrot.com photo-metadata,
/// OpenAthenaAndroid `MetadataExtractor`, and the photos of the tests.
const KNOWN: [(Namespace, &str, &str); 19] = [
    (
        Namespace::Dji,
        "http://www.dji.com/drone-dji/1.0",
        "drone-dji",
    ),
    (Namespace::Dji, "http://www.dji.com", "DJI"),
    (Namespace::Dji, "http://www.dji.com/drone-dji/1.0", "drone"),
    (Namespace::Camera, "http://pix4d.com/camera/1.0", "Camera"),
    (
        Namespace::Camera,
        "http://www.pix4d.com/camera/1.0",
        "Camera",
    ),
    (
        Namespace::Camera,
        "http://ns.flyingfishtechs.com/camera/1.0",
        "Camera",
    ),
    (
        Namespace::Camera,
        "http://ns.sensefly.com/camera/1.0",
        "Camera",
    ),
    (Namespace::Camera, "camera", "Camera"),
    // Parrot's ANAFI names the vocabulary by the article that describes it.
    (
        Namespace::Camera,
        "https://support.pix4d.com/hc/en-us/articles/205732309-exif-and-xmp-tag-information-read-by-pix4d-desktop",
        "Camera",
    ),
    (
        Namespace::Skydio,
        "https://www.skydio.com/drone-skydio/1.0",
        "drone-skydio",
    ),
    (
        Namespace::Parrot,
        "http://www.parrot.com/drone-parrot/1.0",
        "drone-parrot",
    ),
    (Namespace::Exif, "http://ns.adobe.com/exif/1.0", "exif"),
    (Namespace::Xmp, "http://ns.adobe.com/xap/1.0", "xmp"),
    (Namespace::Tiff, "http://ns.adobe.com/tiff/1.0", "tiff"),
    (
        Namespace::GPano,
        "http://ns.google.com/photos/1.0/panorama",
        "GPano",
    ),
    (Namespace::Flir, "http://www.dji.com/flir/1.0", "FLIR"),
    (Namespace::Aux, "http://ns.adobe.com/exif/1.0/aux", "aux"),
    (Namespace::ExifEx, "http://cipa.jp/exif/1.0", "exifEX"),
    (
        Namespace::Rdf,
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rdf",
    ),
];

fn by_address(uri: &str) -> Option<Namespace> {
    let uri = uri.trim_end_matches('/').to_ascii_lowercase();
    KNOWN
        .iter()
        .find(|(_, known, _)| *known == uri)
        .map(|(namespace, _, _)| *namespace)
}

fn by_prefix(prefix: &str) -> Option<Namespace> {
    KNOWN
        .iter()
        .find(|(_, _, known)| *known == prefix)
        .map(|(namespace, _, _)| *namespace)
}

/// One property of a packet.
#[derive(Clone, Debug, PartialEq)]
struct Property {
    namespace: Namespace,
    /// `prefix:Name` as the file spells it; `prefix:Parent/Child` inside structures.
    label: String,
    /// Name without prefix; `Parent/Child` inside structures.
    path: String,
    value: String,
}

/// All properties of a photo's packets, in order; the first of a name counts.
#[derive(Debug, Default)]
pub(super) struct Xmp {
    properties: Vec<Property>,
    n_bytes: usize,
}

impl Xmp {
    /// Adds a packet's properties. Whatever is wrong with it becomes a remark.
    pub(super) fn add_packet(&mut self, packet: &[u8], remarks: &mut Vec<Remark>) {
        let text = String::from_utf8_lossy(packet);
        let text = xml_part(&text);
        if text.is_empty() {
            return;
        }
        let mut parse = Parse {
            xmp: self,
            frames: Vec::new(),
            bindings: Vec::new(),
            problem: None,
            unknown: BTreeSet::new(),
        };
        parse.document(text);
        for (prefix, uri) in std::mem::take(&mut parse.unknown) {
            remarks.push(Remark::XmpUnknownNamespace { prefix, uri });
        }
        if let Some(problem) = parse.problem.take() {
            remarks.push(Remark::XmpMalformed { problem });
            for (namespace, label, path, value) in scan::known_properties(text) {
                if self.find(namespace, path).is_none() {
                    self.push(namespace, label.to_owned(), path.to_owned(), value);
                }
            }
        }
    }

    fn push(&mut self, namespace: Namespace, label: String, path: String, value: &str) {
        let value = trim(value);
        let value = &value[..value.floor_char_boundary(MAX_VALUE_BYTES)];
        let n_bytes = label.len() + path.len() + value.len();
        if value.is_empty()
            || self.properties.len() >= MAX_PROPERTIES
            || self.n_bytes + n_bytes > MAX_TOTAL_BYTES
        {
            return;
        }
        self.n_bytes += n_bytes;
        self.properties.push(Property {
            namespace,
            label,
            path,
            value: value.to_owned(),
        });
    }

    fn find(&self, namespace: Namespace, path: &str) -> Option<&Property> {
        self.properties
            .iter()
            .find(|property| property.namespace == namespace && property.path == path)
    }

    /// The text of the first of `names` that is there and not empty.
    pub(super) fn text(&self, namespace: Namespace, names: &[&str]) -> Option<(&str, Source)> {
        names.iter().find_map(|name| {
            let property = self.find(namespace, name)?;
            let source = Source::new(Block::Xmp, property.label.clone());
            Some((property.value.as_str(), source))
        })
    }

    /// The number of the first of `names` that is there and can be read.
    pub(super) fn number(&self, namespace: Namespace, names: &[&str]) -> Option<(f64, Source)> {
        names.iter().find_map(|name| {
            let (text, source) = self.text(namespace, &[name])?;
            Some((parse_number(text)?, source))
        })
    }
}

/// The part of a packet from the first element to the end of the last: what stands around it
/// (processing instructions, padding, a cut-off trailer) says nothing.
fn xml_part(text: &str) -> &str {
    let Some(start) = ["<x:xmpmeta", "<rdf:RDF"]
        .iter()
        .filter_map(|tag| text.find(tag))
        .min()
    else {
        // Another prefix for RDF, or no XML at all: leave it to the parser.
        return trim(text);
    };
    let end = ["</x:xmpmeta>", "</rdf:RDF>"]
        .iter()
        .filter_map(|tag| text.rfind(tag).map(|at| at + tag.len()))
        .max()
        .filter(|end| *end > start)
        .unwrap_or(text.len());
    &text[start..end]
}

/// An element that is open.
struct Frame {
    /// Name and namespace; `None` for elements that only give structure.
    name: Option<(Namespace, String, String)>,
    is_list_item: bool,
    text: String,
    n_bindings_before: usize,
}

struct Parse<'a> {
    xmp: &'a mut Xmp,
    frames: Vec<Frame>,
    bindings: Vec<(String, String)>,
    problem: Option<String>,
    unknown: BTreeSet<(String, String)>,
}

impl Parse<'_> {
    fn document(&mut self, text: &str) {
        let mut reader = Reader::from_str(text);
        loop {
            match reader.read_event() {
                Ok(Event::Start(element)) => self.open(&element),
                Ok(Event::Empty(element)) => {
                    self.open(&element);
                    self.close();
                }
                Ok(Event::End(_)) => self.close(),
                Ok(Event::Text(piece)) => self.add_text(&piece),
                Ok(Event::CData(piece)) => self.add_text(&piece),
                Ok(Event::GeneralRef(entity)) => {
                    let resolved = match entity.resolve_char_ref() {
                        Ok(Some(character)) => Some(character.to_string()),
                        _ => resolve_predefined_entity(&entity).map(str::to_owned),
                    };
                    match resolved {
                        Some(text) => self.add_text(&text),
                        None => self.complain(|| format!("unknown entity &{};", &*entity)),
                    }
                }
                Ok(Event::Eof) => {
                    if !self.frames.is_empty() {
                        self.complain(|| "ends inside an element".to_owned());
                    }
                    return;
                }
                Ok(_) => {}
                Err(error) => {
                    self.complain(|| error.to_string());
                    return;
                }
            }
            if self.frames.len() > MAX_DEPTH {
                self.complain(|| format!("more than {MAX_DEPTH} nested elements"));
                return;
            }
        }
    }

    /// Keeps the first problem.
    fn complain(&mut self, problem: impl FnOnce() -> String) {
        if self.problem.is_none() {
            self.problem = Some(problem());
        }
    }

    fn open(&mut self, element: &BytesStart) {
        let n_bindings_before = self.bindings.len();
        let mut attributes = Vec::new();
        let mut seen = BTreeSet::new();
        for attribute in element.attributes().with_checks(false) {
            let attribute = match attribute {
                Ok(attribute) => attribute,
                Err(error) => {
                    self.complain(|| error.to_string());
                    break;
                }
            };
            let name = attribute.key.as_ref().to_owned();
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .unwrap_or_else(|_| attribute.value.clone())
                .into_owned();
            if !seen.insert(name.clone()) {
                self.complain(|| format!("attribute {name} stated twice"));
            }
            if let Some(prefix) = name.strip_prefix("xmlns:") {
                self.bindings.push((prefix.to_owned(), value));
            } else if name != "xmlns" {
                attributes.push((name, value));
            }
        }
        let name = self.named(element.name().as_ref());
        let is_list_item = matches!(&name, Some((Namespace::Rdf, _, local)) if local == "li");
        self.frames.push(Frame {
            // Elements of RDF and the x:xmpmeta wrapper only give structure.
            name: name.filter(|(namespace, label, _)| {
                *namespace != Namespace::Rdf && label != "x:xmpmeta" && label != "x:xapmeta"
            }),
            is_list_item,
            text: String::new(),
            n_bindings_before,
        });
        for (name, value) in attributes {
            self.attribute(&name, &value);
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        let Some((namespace, label, local)) = self.named(name) else {
            return;
        };
        // rdf:about tells old Autel firmware from new; the rest of RDF is structure.
        if namespace == Namespace::Rdf && local != "about" {
            return;
        }
        self.push(namespace, &label, &local, value);
    }

    fn push(&mut self, namespace: Namespace, label: &str, local: &str, value: &str) {
        let path = self.path_to(local);
        let prefix = label.strip_suffix(local).unwrap_or_default();
        self.xmp
            .push(namespace, format!("{prefix}{path}"), path, value);
    }

    fn close(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        self.bindings.truncate(frame.n_bindings_before);
        match frame.name {
            Some((namespace, label, local)) => {
                self.push(namespace, &label, &local, &frame.text);
            }
            None => {
                let text = trim(&frame.text);
                if frame.is_list_item && !text.is_empty() {
                    self.add_list_item(text);
                }
            }
        }
    }

    /// A list item belongs to the nearest element with a name.
    fn add_list_item(&mut self, item: &str) {
        let Some(frame) = self.frames.iter_mut().rev().find(|f| f.name.is_some()) else {
            return;
        };
        if frame.text.len() + item.len() < MAX_VALUE_BYTES {
            let kept = trim(&frame.text).to_owned();
            frame.text = if kept.is_empty() {
                item.to_owned()
            } else {
                format!("{kept},{item}")
            };
        }
    }

    fn add_text(&mut self, text: &str) {
        if let Some(frame) = self.frames.last_mut()
            && frame.text.len() < MAX_VALUE_BYTES
        {
            let end = text.floor_char_boundary(MAX_VALUE_BYTES);
            frame.text.push_str(&text[..end]);
        }
    }

    fn path_to(&self, local: &str) -> String {
        let mut path = String::new();
        for frame in &self.frames {
            if let Some((_, _, parent)) = &frame.name {
                path.push_str(parent);
                path.push('/');
            }
        }
        path.push_str(local);
        path
    }

    /// Namespace, `prefix:Name` and name; nothing for names without prefix.
    fn named(&mut self, name: &str) -> Option<(Namespace, String, String)> {
        let (prefix, local) = name.split_once(':')?;
        let bound = self
            .bindings
            .iter()
            .rev()
            .find(|(known, _)| known == prefix)
            .map(|(_, uri)| uri.clone());
        let namespace = match bound {
            None => by_prefix(prefix),
            Some(uri) => by_address(&uri).or_else(|| {
                let guess = by_prefix(prefix)?;
                self.unknown.insert((prefix.to_owned(), uri));
                Some(guess)
            }),
        };
        Some((
            namespace.unwrap_or(Namespace::Other),
            name.to_owned(),
            local.to_owned(),
        ))
    }
}
