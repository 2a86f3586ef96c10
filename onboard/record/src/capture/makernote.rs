//! DJI's maker notes of the Phantom 3 and 4 generation: aircraft and camera angles as floats in a
//! TIFF directory without header.
//!
//! Source: exiftool's `DJI.pm` (tags 0003 to 000B), whose output on real photos is the oracle of
//! the tests. The notes of newer models (text blocks in brackets, video chip dumps) hold no angles
//! whose unit is documented, so they are left alone; those models write XMP.

/// The angles of one note, in degrees as written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DjiNote {
    pub(super) pitch_deg: Option<f64>,
    pub(super) yaw_deg: Option<f64>,
    pub(super) roll_deg: Option<f64>,
    pub(super) camera_pitch_deg: Option<f64>,
    pub(super) camera_yaw_deg: Option<f64>,
    pub(super) camera_roll_deg: Option<f64>,
}

const ENTRY_BYTES: usize = 12;
const TYPE_FLOAT: u16 = 11;
/// More entries than any DJI note has; a larger count means the other byte order.
const MAX_ENTRIES: u16 = 64;

/// The note's angles; nothing when it is another kind of note or damaged.
pub(super) fn parse_dji(note: &[u8]) -> Option<DjiNote> {
    let count: [u8; 2] = *note.first_chunk()?;
    // The order of bytes is not that of the EXIF block in every model: take the one that gives a
    // sensible count.
    let little = match (u16::from_le_bytes(count), u16::from_be_bytes(count)) {
        (1..=MAX_ENTRIES, _) => true,
        (_, 1..=MAX_ENTRIES) => false,
        _ => return None,
    };
    let n_entries = usize::from(if little {
        u16::from_le_bytes(count)
    } else {
        u16::from_be_bytes(count)
    });
    let mut found = DjiNote::default();
    let mut n_floats = 0;
    for entry in note[2..].chunks_exact(ENTRY_BYTES).take(n_entries) {
        let Some((tag, value)) = float_entry(entry, little) else {
            continue;
        };
        n_floats += 1;
        let slot = match tag {
            0x06 => &mut found.pitch_deg,
            0x07 => &mut found.yaw_deg,
            0x08 => &mut found.roll_deg,
            0x09 => &mut found.camera_pitch_deg,
            0x0A => &mut found.camera_yaw_deg,
            0x0B => &mut found.camera_roll_deg,
            _ => continue,
        };
        *slot = Some(value);
    }
    (n_floats > 0).then_some(found)
}

/// Tag and value of a directory entry that is one finite float.
fn float_entry(entry: &[u8], little: bool) -> Option<(u16, f64)> {
    let u16_at = |at: usize| {
        let raw: [u8; 2] = entry.get(at..at + 2)?.try_into().ok()?;
        Some(if little {
            u16::from_le_bytes(raw)
        } else {
            u16::from_be_bytes(raw)
        })
    };
    let u32_at = |at: usize| {
        let raw: [u8; 4] = entry.get(at..at + 4)?.try_into().ok()?;
        Some(if little {
            u32::from_le_bytes(raw)
        } else {
            u32::from_be_bytes(raw)
        })
    };
    if u16_at(2)? != TYPE_FLOAT || u32_at(4)? != 1 {
        return None;
    }
    let value = f32::from_bits(u32_at(8)?);
    value
        .is_finite()
        .then_some((u16_at(0)?, round_float(value)))
}

/// The shortest decimal that is this float: 81.5, not 81.50000000298.
fn round_float(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(little: bool, entries: &[(u16, f32)]) -> Vec<u8> {
        let u16_bytes = |x: u16| {
            if little {
                x.to_le_bytes()
            } else {
                x.to_be_bytes()
            }
        };
        let u32_bytes = |x: u32| {
            if little {
                x.to_le_bytes()
            } else {
                x.to_be_bytes()
            }
        };
        let mut bytes = u16_bytes(entries.len() as u16).to_vec();
        for (tag, value) in entries {
            bytes.extend(u16_bytes(*tag));
            bytes.extend(u16_bytes(TYPE_FLOAT));
            bytes.extend(u32_bytes(1));
            bytes.extend(u32_bytes(value.to_bits()));
        }
        bytes
    }

    #[test]
    fn both_byte_orders() {
        for little in [true, false] {
            let bytes = note(little, &[(0x06, 2.1), (0x07, 81.5), (0x09, -75.1)]);
            let found = parse_dji(&bytes).unwrap();
            assert_eq!(found.pitch_deg, Some(2.1));
            assert_eq!(found.yaw_deg, Some(81.5));
            assert_eq!(found.camera_pitch_deg, Some(-75.1));
            assert_eq!(found.roll_deg, None);
        }
    }

    #[test]
    fn other_notes_and_damage_give_nothing() {
        assert_eq!(
            parse_dji(b"[ae_dbg_info:x][GimbalDegree(Y,P,R):1,2,3]"),
            None
        );
        assert_eq!(parse_dji(&[]), None);
        assert_eq!(parse_dji(&[1]), None);
        assert_eq!(parse_dji(&[0, 9, 0, 6]), None);
        let nan = note(true, &[(0x06, f32::NAN)]);
        assert_eq!(parse_dji(&nan), None);
        let cut = &note(true, &[(0x06, 1.0), (0x07, 2.0)])[..20];
        assert_eq!(parse_dji(cut).unwrap().pitch_deg, Some(1.0));
        assert_eq!(parse_dji(cut).unwrap().yaw_deg, None);
    }
}
