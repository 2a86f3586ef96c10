//! Just enough TIFF to carry EXIF: directories of tagged values, little endian.

/// One value or list of values.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Bytes of format 1 or 7.
    Byte(Vec<u8>),
    Undefined(Vec<u8>),
    /// Text; the ending zero is added.
    Ascii(String),
    Short(Vec<u16>),
    Long(Vec<u32>),
    /// Numerator and denominator.
    Rational(Vec<(u32, u32)>),
    SignedRational(Vec<(i32, i32)>),
}

impl Value {
    fn format(&self) -> u16 {
        match self {
            Self::Byte(_) => 1,
            Self::Ascii(_) => 2,
            Self::Short(_) => 3,
            Self::Long(_) => 4,
            Self::Rational(_) => 5,
            Self::Undefined(_) => 7,
            Self::SignedRational(_) => 10,
        }
    }

    fn bytes_and_count(&self) -> (Vec<u8>, u32) {
        let (bytes, count) = match self {
            Self::Byte(b) | Self::Undefined(b) => (b.clone(), b.len()),
            Self::Ascii(text) => {
                let mut bytes = text.as_bytes().to_vec();
                bytes.push(0);
                let count = bytes.len();
                (bytes, count)
            }
            Self::Short(v) => (v.iter().flat_map(|x| x.to_le_bytes()).collect(), v.len()),
            Self::Long(v) => (v.iter().flat_map(|x| x.to_le_bytes()).collect(), v.len()),
            Self::Rational(v) => (
                v.iter()
                    .flat_map(|(n, d)| [n.to_le_bytes(), d.to_le_bytes()].concat())
                    .collect(),
                v.len(),
            ),
            Self::SignedRational(v) => (
                v.iter()
                    .flat_map(|(n, d)| [n.to_le_bytes(), d.to_le_bytes()].concat())
                    .collect(),
                v.len(),
            ),
        };
        (bytes, count as u32)
    }
}

/// A directory; tags are sorted when written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    entries: Vec<(u16, Value)>,
}

impl Directory {
    pub(crate) fn set(&mut self, tag: u16, value: Value) {
        self.entries.push((tag, value));
    }

    pub(crate) fn text(&mut self, tag: u16, text: &str) {
        self.set(tag, Value::Ascii(text.to_owned()));
    }

    pub(crate) fn short(&mut self, tag: u16, value: u16) {
        self.set(tag, Value::Short(vec![value]));
    }

    /// Size of the table and of the values that do not fit into it.
    fn size(&self) -> u32 {
        let table = 2 + 12 * self.entries.len() as u32 + 4;
        let outside: u32 = self
            .entries
            .iter()
            .map(|(_, value)| value.bytes_and_count().0.len() as u32)
            .filter(|&n| n > 4)
            .map(|n| n + n % 2)
            .sum();
        table + outside
    }

    /// Appends the directory at offset `at`; `next` is the offset of the following one or 0.
    fn write(&self, out: &mut Vec<u8>, at: u32, next: u32) {
        let mut entries = self.entries.clone();
        entries.sort_by_key(|(tag, _)| *tag);
        let mut outside_at = at + 2 + 12 * entries.len() as u32 + 4;
        let mut outside = Vec::new();
        out.extend((entries.len() as u16).to_le_bytes());
        for (tag, value) in &entries {
            let (mut bytes, count) = value.bytes_and_count();
            out.extend(tag.to_le_bytes());
            out.extend(value.format().to_le_bytes());
            out.extend(count.to_le_bytes());
            if bytes.len() <= 4 {
                bytes.resize(4, 0);
                out.extend(bytes);
            } else {
                out.extend(outside_at.to_le_bytes());
                if bytes.len() % 2 == 1 {
                    bytes.push(0);
                }
                outside_at += bytes.len() as u32;
                outside.extend(bytes);
            }
        }
        out.extend(next.to_le_bytes());
        out.extend(outside);
    }
}

const TAG_EXIF: u16 = 0x8769;
const TAG_GPS: u16 = 0x8825;
const TAG_THUMBNAIL: u16 = 0x0201;
const TAG_THUMBNAIL_LENGTH: u16 = 0x0202;

/// A TIFF block of the main directory with its EXIF and, where given, GPS directories, and a
/// thumbnail directory that points to a JPEG.
pub(crate) fn tiff(
    main: &Directory,
    exif: &Directory,
    gps: Option<&Directory>,
    thumbnail: &[u8],
) -> Vec<u8> {
    let mut main = main.clone();
    main.set(TAG_EXIF, Value::Long(vec![0]));
    if gps.is_some() {
        main.set(TAG_GPS, Value::Long(vec![0]));
    }
    let mut small = Directory::default();
    small.short(0x0103, 6);
    small.set(0x011A, Value::Rational(vec![(72, 1)]));
    small.set(0x011B, Value::Rational(vec![(72, 1)]));
    small.short(0x0128, 2);
    small.set(TAG_THUMBNAIL, Value::Long(vec![0]));
    small.set(
        TAG_THUMBNAIL_LENGTH,
        Value::Long(vec![thumbnail.len() as u32]),
    );
    let main_at = 8;
    let exif_at = main_at + main.size();
    let gps_at = exif_at + exif.size();
    let small_at = gps_at + gps.map_or(0, Directory::size);
    let thumbnail_at = small_at + small.size();
    let point = |directory: &mut Directory, tag: u16, at: u32| {
        for (t, value) in &mut directory.entries {
            if *t == tag {
                *value = Value::Long(vec![at]);
            }
        }
    };
    point(&mut main, TAG_EXIF, exif_at);
    point(&mut main, TAG_GPS, gps_at);
    point(&mut small, TAG_THUMBNAIL, thumbnail_at);
    let mut out = b"II*\0\x08\0\0\0".to_vec();
    main.write(&mut out, main_at, small_at);
    exif.write(&mut out, exif_at, 0);
    if let Some(gps) = gps {
        gps.write(&mut out, gps_at, 0);
    }
    small.write(&mut out, small_at, 0);
    out.extend_from_slice(thumbnail);
    out
}
