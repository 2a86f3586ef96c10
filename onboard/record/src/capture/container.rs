//! Finds the metadata in a file: tells what kind of file it is, and walks a JPEG's segments up to
//! the picture data. Only the header is read, whatever the picture's size.

use super::remark::Remark;
use crate::error::PhotoError;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Seek, SeekFrom};

/// Segments looked at before giving up; thermal photos of DJI have a few dozen.
const MAX_SEGMENTS: usize = 4096;
/// Stray bytes skipped in search of the next marker.
const MAX_JUNK_BYTES: u64 = 1 << 20;
/// Most XMP packets and extended pieces kept; files have one packet, a depth map a hundred pieces.
const MAX_XMP_SEGMENTS: usize = 64;

const EXIF_ID: &[u8] = b"Exif\0";
const XMP_ID: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
const EXTENDED_XMP_ID: &[u8] = b"http://ns.adobe.com/xmp/extension/\0";
const FLIR_ID: &[u8] = b"FLIR\0";

/// A kind of file that is no JPEG.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    /// No bytes at all.
    Empty,
    /// PNG image.
    Png,
    /// GIF image.
    Gif,
    /// WebP image.
    Webp,
    /// Windows bitmap.
    Bmp,
    /// TIFF image that is no DNG.
    Tiff,
    /// Adobe's raw format, a TIFF with a DNGVersion tag.
    Dng,
    /// HEIC image (or HEIF, its family).
    Heic,
    /// AVIF image.
    Avif,
    /// MP4 or QuickTime.
    Video,
    /// PDF document.
    Pdf,
    /// ZIP archive.
    Zip,
    /// Text in UTF-8.
    Text,
    /// Anything else.
    Unknown,
}

impl std::fmt::Display for FileFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FileFormat::Empty => "an empty file",
            FileFormat::Png => "PNG image",
            FileFormat::Gif => "GIF image",
            FileFormat::Webp => "WebP image",
            FileFormat::Bmp => "BMP image",
            FileFormat::Tiff => "TIFF image",
            FileFormat::Dng => "DNG raw image",
            FileFormat::Heic => "HEIC image",
            FileFormat::Avif => "AVIF image",
            FileFormat::Video => "MP4 or QuickTime video",
            FileFormat::Pdf => "PDF document",
            FileFormat::Zip => "ZIP archive",
            FileFormat::Text => "text",
            FileFormat::Unknown => "unknown format",
        })
    }
}

/// What a JPEG's header holds.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub(super) width_px: u32,
    pub(super) height_px: u32,
    /// The TIFF structure of the EXIF segment.
    pub(super) exif: Option<Vec<u8>>,
    /// XMP packets in order.
    pub(super) xmp: Vec<Vec<u8>>,
    /// Extended XMP, put together; `None` without or when incomplete.
    pub(super) extended_xmp: Option<Vec<u8>>,
    /// Whether a FLIR segment (radiometric data) is there.
    pub(super) has_flir: bool,
    /// Bytes in APP3 segments, where DJI keeps the raw thermal image.
    pub(super) app3_bytes: u64,
    pub(super) remarks: Vec<Remark>,
}

/// Reads a JPEG's header.
pub(super) fn read_header<R: Read + Seek>(reader: &mut R) -> Result<Header, ScanError> {
    let mut start = [0; 64];
    let n_start = read_up_to(reader, &mut start)?;
    let start = &start[..n_start];
    if !start.starts_with(&[0xFF, 0xD8]) {
        return Err(ScanError::Photo(PhotoError::NotJpeg {
            found: format_of(start, reader)?,
        }));
    }
    reader.seek(SeekFrom::Start(2))?;
    let mut walk = Walk {
        at: 2,
        ..Walk::default()
    };
    let complete = walk.segments(reader)?;
    walk.finish(complete)
}

/// Why a header could not be read.
#[derive(Debug)]
pub(super) enum ScanError {
    Photo(PhotoError),
    Io(io::Error),
}

impl From<io::Error> for ScanError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[derive(Default)]
struct Walk {
    header: Header,
    at: u64,
    n_junk: u64,
    extended: Vec<Vec<u8>>,
}

impl Walk {
    /// Walks to the picture data. `false` when the file ends or breaks before.
    fn segments<R: Read + Seek>(&mut self, reader: &mut R) -> io::Result<bool> {
        for _ in 0..MAX_SEGMENTS {
            let Some(marker) = self.next_marker(reader)? else {
                return Ok(false);
            };
            match marker {
                // Start of scan, end of image.
                0xDA | 0xD9 => return Ok(true),
                // Markers without contents.
                0x01 | 0xD0..=0xD8 => continue,
                _ => {}
            }
            let mut length = [0; 2];
            if read_up_to(reader, &mut length)? < 2 {
                return Ok(false);
            }
            let length = u64::from(u16::from_be_bytes(length));
            let Some(n_body) = length.checked_sub(2) else {
                return Ok(false);
            };
            self.at += length;
            if !self.segment(marker, n_body, reader)? {
                return Ok(false);
            }
            reader.seek(SeekFrom::Start(self.at))?;
        }
        Ok(false)
    }

    /// The next marker's code, past fill bytes and stray bytes.
    fn next_marker<R: Read + Seek>(&mut self, reader: &mut R) -> io::Result<Option<u8>> {
        let mut byte = [0; 1];
        let mut after_fill = false;
        while self.n_junk <= MAX_JUNK_BYTES {
            if read_up_to(reader, &mut byte)? == 0 {
                return Ok(None);
            }
            self.at += 1;
            match (after_fill, byte[0]) {
                (_, 0xFF) => after_fill = true,
                (true, code) if code != 0 => return Ok(Some(code)),
                _ => {
                    after_fill = false;
                    self.n_junk += 1;
                }
            }
        }
        Ok(None)
    }

    /// Takes what matters from one segment. `false` when it is cut short.
    fn segment<R: Read>(&mut self, marker: u8, n_body: u64, reader: &mut R) -> io::Result<bool> {
        match marker {
            0xE1 => {
                let Some(body) = body(reader, n_body)? else {
                    return Ok(false);
                };
                self.app1(body);
            }
            0xE3 => self.header.app3_bytes += n_body,
            // Every start-of-frame; C4, C8 and CC are tables.
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                let Some(body) = body(reader, n_body.min(5))? else {
                    return Ok(false);
                };
                if let [_, h1, h0, w1, w0] = body[..] {
                    self.header.height_px = u32::from(u16::from_be_bytes([h1, h0]));
                    self.header.width_px = u32::from(u16::from_be_bytes([w1, w0]));
                }
            }
            _ => {}
        }
        Ok(true)
    }

    fn app1(&mut self, body: Vec<u8>) {
        if let Some(rest) = body.strip_prefix(EXIF_ID) {
            // One padding byte, zero by the standard.
            if self.header.exif.is_none() && rest.len() > 1 {
                self.header.exif = Some(rest[1..].to_vec());
            }
        } else if let Some(packet) = body.strip_prefix(XMP_ID) {
            if self.header.xmp.len() < MAX_XMP_SEGMENTS {
                self.header.xmp.push(packet.to_vec());
            }
        } else if let Some(piece) = body.strip_prefix(EXTENDED_XMP_ID) {
            if self.extended.len() < MAX_XMP_SEGMENTS {
                self.extended.push(piece.to_vec());
            }
        } else if body.starts_with(FLIR_ID) {
            self.header.has_flir = true;
        }
    }

    fn finish(mut self, complete: bool) -> Result<Header, ScanError> {
        let (width_px, height_px) = (self.header.width_px, self.header.height_px);
        if width_px == 0 && height_px == 0 {
            return Err(ScanError::Photo(PhotoError::NoPicture {
                scanned_bytes: self.at,
            }));
        }
        if width_px == 0 || height_px == 0 {
            return Err(ScanError::Photo(PhotoError::EmptyFrame {
                width_px,
                height_px,
            }));
        }
        if self.n_junk > 0 {
            self.header.remarks.push(Remark::JunkBetweenSegments {
                n_bytes: self.n_junk,
            });
        }
        if !complete {
            self.header.remarks.push(Remark::HeaderCutShort);
        }
        if !self.extended.is_empty() {
            self.header.extended_xmp = join_extended(&self.extended);
            if self.header.extended_xmp.is_none() {
                self.header.remarks.push(Remark::ExtendedXmpIncomplete);
            }
        }
        Ok(self.header)
    }
}

/// Extended XMP (XMP specification part 3, section 1.1.3.1): each piece starts with the packet's
/// 32-byte digest, its full length and the piece's offset. Pieces of the first digest are joined.
fn join_extended(pieces: &[Vec<u8>]) -> Option<Vec<u8>> {
    const HEAD: usize = 32 + 4 + 4;
    let digest = pieces.first()?.get(..32)?;
    let mut parts: Vec<(usize, &[u8])> = Vec::new();
    let mut full = None;
    for piece in pieces {
        let (head, data) = piece.split_at_checked(HEAD)?;
        if &head[..32] != digest {
            continue;
        }
        let number = |range: std::ops::Range<usize>| -> Option<usize> {
            usize::try_from(u32::from_be_bytes(head.get(range)?.try_into().ok()?)).ok()
        };
        full = Some(number(32..36)?);
        parts.push((number(36..40)?, data));
    }
    parts.sort_by_key(|(offset, _)| *offset);
    let mut joined = Vec::new();
    for (offset, data) in parts {
        if offset != joined.len() {
            return None;
        }
        joined.extend_from_slice(data);
    }
    (Some(joined.len()) == full).then_some(joined)
}

/// The segment's bytes; nothing when the file ends first. A segment has at most 65,533.
fn body<R: Read>(reader: &mut R, n_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader.take(n_bytes).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 == n_bytes).then_some(bytes))
}

fn read_up_to<R: Read>(reader: &mut R, buffer: &mut [u8]) -> io::Result<usize> {
    let mut n_read = 0;
    while n_read < buffer.len() {
        match reader.read(&mut buffer[n_read..]) {
            Ok(0) => break,
            Ok(n_bytes) => n_read += n_bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_read)
}

fn format_of<R: Read + Seek>(start: &[u8], reader: &mut R) -> io::Result<FileFormat> {
    let has = |at: usize, magic: &[u8]| start.get(at..at + magic.len()) == Some(magic);
    Ok(if start.is_empty() {
        FileFormat::Empty
    } else if has(0, b"\x89PNG\r\n\x1a\n") {
        FileFormat::Png
    } else if has(0, b"GIF8") {
        FileFormat::Gif
    } else if has(0, b"RIFF") && has(8, b"WEBP") {
        FileFormat::Webp
    } else if has(0, b"II*\0") || has(0, b"MM\0*") {
        if is_dng(start, reader)? {
            FileFormat::Dng
        } else {
            FileFormat::Tiff
        }
    } else if has(4, b"ftyp") {
        match start.get(8..12) {
            Some(b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"mif1" | b"msf1") => {
                FileFormat::Heic
            }
            Some(b"avif" | b"avis") => FileFormat::Avif,
            _ => FileFormat::Video,
        }
    } else if has(0, b"%PDF") {
        FileFormat::Pdf
    } else if has(0, b"PK\x03\x04") {
        FileFormat::Zip
    } else if has(0, b"BM") && has(6, &[0; 4]) {
        FileFormat::Bmp
    } else if is_text(start) {
        FileFormat::Text
    } else {
        FileFormat::Unknown
    })
}

/// UTF-8 without NULs; the last character may be cut.
fn is_text(start: &[u8]) -> bool {
    let cut_or_whole = match std::str::from_utf8(start) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    cut_or_whole && !start.contains(&0)
}

/// A TIFF is a DNG when its first directory has the tag DNGVersion (C612).
fn is_dng<R: Read + Seek>(start: &[u8], reader: &mut R) -> io::Result<bool> {
    const DNG_VERSION: u16 = 0xC612;
    const ENTRY_BYTES: usize = 12;
    let little = start.starts_with(b"II");
    let u16_at = |bytes: &[u8]| match bytes {
        [a, b, ..] if little => u16::from_le_bytes([*a, *b]),
        [a, b, ..] => u16::from_be_bytes([*a, *b]),
        _ => 0,
    };
    let Some(&[a, b, c, d]) = start.get(4..8).and_then(|raw| raw.first_chunk::<4>()) else {
        return Ok(false);
    };
    let offset = if little {
        u32::from_le_bytes([a, b, c, d])
    } else {
        u32::from_be_bytes([a, b, c, d])
    };
    reader.seek(SeekFrom::Start(u64::from(offset)))?;
    let mut count = [0; 2];
    read_up_to(reader, &mut count)?;
    let mut entries = vec![0; usize::from(u16_at(&count)) * ENTRY_BYTES];
    let n_read = read_up_to(reader, &mut entries)?;
    Ok(entries[..n_read]
        .chunks_exact(ENTRY_BYTES)
        .any(|entry| u16_at(entry) == DNG_VERSION))
}
