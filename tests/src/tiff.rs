//! EXIF blocks: TIFF directories, little endian.

/// A value of a tag.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Bytes(Vec<u8>),
    Short(u16),
    Long(u32),
    Rationals(Vec<(u32, u32)>),
}

impl Value {
    fn kind(&self) -> u16 {
        match self {
            Value::Bytes(_) => 1,
            Value::Text(_) => 2,
            Value::Short(_) => 3,
            Value::Long(_) => 4,
            Value::Rationals(_) => 5,
        }
    }

    fn count(&self) -> usize {
        match self {
            Value::Bytes(bytes) => bytes.len(),
            Value::Text(text) => text.len() + 1,
            Value::Short(_) | Value::Long(_) => 1,
            Value::Rationals(all) => all.len(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Value::Bytes(bytes) => bytes.clone(),
            Value::Text(text) => [text.as_bytes(), &[0]].concat(),
            Value::Short(value) => value.to_le_bytes().to_vec(),
            Value::Long(value) => value.to_le_bytes().to_vec(),
            Value::Rationals(all) => all
                .iter()
                .flat_map(|(above, below)| [above.to_le_bytes(), below.to_le_bytes()].concat())
                .collect(),
        }
    }
}

/// Tags with their values, in any order.
pub(crate) type Tags = Vec<(u16, Value)>;

const EXIF_DIRECTORY: u16 = 0x8769;
const GPS_DIRECTORY: u16 = 0x8825;
const HEADER_BYTES: usize = 8;

/// A TIFF block of a main directory with those for EXIF and GPS below it.
pub(crate) fn block(mut main: Tags, exif: Tags, gps: Tags) -> Vec<u8> {
    let pointer = Value::Long(0);
    main.push((EXIF_DIRECTORY, pointer.clone()));
    if !gps.is_empty() {
        main.push((GPS_DIRECTORY, pointer));
    }
    let exif_at = HEADER_BYTES + size(&main);
    let gps_at = exif_at + size(&exif);
    for (tag, value) in &mut main {
        match *tag {
            EXIF_DIRECTORY => *value = Value::Long(exif_at as u32),
            GPS_DIRECTORY => *value = Value::Long(gps_at as u32),
            _ => {}
        }
    }
    let mut bytes = b"II\x2A\0\x08\0\0\0".to_vec();
    bytes.extend(directory(main, HEADER_BYTES));
    bytes.extend(directory(exif, exif_at));
    if !gps.is_empty() {
        bytes.extend(directory(gps, gps_at));
    }
    bytes
}

/// Bytes of a directory with its values.
fn size(tags: &Tags) -> usize {
    let outside: usize = tags.iter().map(|(_, value)| outside(value).len()).sum();
    2 + 12 * tags.len() + 4 + outside
}

/// What does not fit into a tag's four bytes, at an even length.
fn outside(value: &Value) -> Vec<u8> {
    let mut bytes = value.bytes();
    if bytes.len() <= 4 {
        return Vec::new();
    }
    if bytes.len() % 2 == 1 {
        bytes.push(0);
    }
    bytes
}

fn directory(mut tags: Tags, at: usize) -> Vec<u8> {
    tags.sort_by_key(|(tag, _)| *tag);
    let mut bytes = (tags.len() as u16).to_le_bytes().to_vec();
    let mut values = Vec::new();
    let values_at = at + 2 + 12 * tags.len() + 4;
    for (tag, value) in &tags {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(value.kind().to_le_bytes());
        bytes.extend((value.count() as u32).to_le_bytes());
        let far = outside(value);
        if far.is_empty() {
            let mut near = value.bytes();
            near.resize(4, 0);
            bytes.extend(near);
        } else {
            bytes.extend(((values_at + values.len()) as u32).to_le_bytes());
            values.extend(far);
        }
    }
    // No directory follows.
    bytes.extend([0; 4]);
    bytes.extend(values);
    bytes
}
