//! EXIF tags as text and numbers. Damaged blocks are read as far as they can be.

use super::number::{parse_number, trim};
use super::remark::Remark;
use exif::{Context, In, Tag, Value};

/// TIFF tags that kamadak-exif has no name for.
const CAMERA_SERIAL_NUMBER: Tag = Tag(Context::Tiff, 0xC62F);

/// Longest text kept from a tag.
const MAX_TEXT_CHARS: usize = 1024;

/// The readable tags of one EXIF block; empty when there is none.
#[derive(Default)]
pub(super) struct ExifTags {
    exif: Option<exif::Exif>,
}

impl ExifTags {
    /// Parses a TIFF structure of at most one JPEG segment.
    pub(super) fn parse(block: Vec<u8>, remarks: &mut Vec<Remark>) -> Self {
        let read = exif::Reader::new()
            .continue_on_error(true)
            .read_raw(block)
            .or_else(|error| {
                error.distill_partial_result(|errors| {
                    if let Some(first) = errors.first() {
                        remarks.push(Remark::ExifDamaged {
                            n_errors: errors.len(),
                            first: first.to_string(),
                        });
                    }
                })
            });
        match read {
            Ok(exif) => Self { exif: Some(exif) },
            Err(error) => {
                remarks.push(Remark::ExifUnreadable {
                    problem: error.to_string(),
                });
                Self { exif: None }
            }
        }
    }

    fn value(&self, tag: Tag) -> Option<&Value> {
        Some(&self.exif.as_ref()?.get_field(tag, In::PRIMARY)?.value)
    }

    /// A text without padding; nothing when it is empty. Text that is not UTF-8 is mended.
    pub(super) fn text(&self, tag: Tag) -> Option<String> {
        let first = match self.value(tag)? {
            // Old DJI firmware pads with NULs, which split into empty parts.
            Value::Ascii(parts) => parts.iter().find(|part| !part.is_empty())?,
            // Parrot writes its serial number as bytes of no type.
            Value::Byte(bytes) | Value::Undefined(bytes, _) => bytes,
            _ => return None,
        };
        let text = String::from_utf8_lossy(first);
        let text: String = trim(&text).chars().take(MAX_TEXT_CHARS).collect();
        (!text.is_empty()).then_some(text)
    }

    /// A finite number, also from text.
    pub(super) fn number(&self, tag: Tag) -> Option<f64> {
        self.numbers(tag)?.into_iter().next()?
    }

    /// The numbers of a tag; a fraction with denominator zero is nothing.
    pub(super) fn numbers(&self, tag: Tag) -> Option<Vec<Option<f64>>> {
        let finite = |value: f64| value.is_finite().then_some(value);
        Some(match self.value(tag)? {
            Value::Byte(v) => v.iter().map(|x| Some(f64::from(*x))).collect(),
            Value::Short(v) => v.iter().map(|x| Some(f64::from(*x))).collect(),
            Value::Long(v) => v.iter().map(|x| Some(f64::from(*x))).collect(),
            Value::SByte(v) => v.iter().map(|x| Some(f64::from(*x))).collect(),
            Value::SShort(v) => v.iter().map(|x| Some(f64::from(*x))).collect(),
            Value::SLong(v) => v.iter().map(|x| Some(f64::from(*x))).collect(),
            Value::Float(v) => v.iter().map(|x| finite(f64::from(*x))).collect(),
            Value::Double(v) => v.iter().map(|x| finite(*x)).collect(),
            Value::Rational(v) => v.iter().map(|x| finite(x.to_f64())).collect(),
            Value::SRational(v) => v.iter().map(|x| finite(x.to_f64())).collect(),
            Value::Ascii(parts) => parts
                .iter()
                .map(|part| parse_number(&String::from_utf8_lossy(part)))
                .collect(),
            Value::Undefined(..) | Value::Unknown(..) => return None,
        })
    }

    /// A whole number from 0 up.
    pub(super) fn uint(&self, tag: Tag) -> Option<u32> {
        match self.value(tag)? {
            // Some writers give one byte or text where the standard asks for a SHORT.
            value @ (Value::Byte(_) | Value::Short(_) | Value::Long(_)) => value.get_uint(0),
            _ => {
                let number = self.number(tag)?;
                let whole = number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0;
                // Checked to be whole and in range just above.
                whole.then_some(number as u32)
            }
        }
    }

    /// The bytes of the maker notes.
    pub(super) fn maker_note(&self) -> Option<&[u8]> {
        match self.value(Tag::MakerNote)? {
            Value::Undefined(bytes, _) => Some(bytes),
            Value::Byte(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The serial number that DNG defines for cameras (C62F); Parrot and senseFly write it.
    pub(super) fn camera_serial(&self) -> Option<String> {
        self.text(CAMERA_SERIAL_NUMBER)
    }
}
