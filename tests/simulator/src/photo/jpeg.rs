//! A baseline JPEG writer: 8 bits, 4:2:0, the Huffman and quantisation tables of ITU-T T.81
//! annex K with the usual quality scale, and application segments of the caller's before them.

/// An 8-bit picture, rows from the top, red green blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `width * height * 3` bytes.
    pub rgb: Vec<u8>,
}

const ZIGZAG: [usize; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
    13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59,
    52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// T.81 tables K.1 and K.2, row by row.
const LUMA_QUANT: [u16; 64] = [
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113,
    92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
];
const CHROMA_QUANT: [u16; 64] = [
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99,
    47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
];

/// T.81 tables K.3 to K.6: codes of each length, then the symbols.
struct HuffmanSpec {
    class_and_id: u8,
    counts: [u8; 16],
    symbols: &'static [u8],
}

const DC_SYMBOLS: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const AC_LUMA_SYMBOLS: [u8; 162] = [
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07,
    0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0,
    0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28,
    0x29, 0x2a, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49,
    0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69,
    0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89,
    0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
    0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5,
    0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2,
    0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
    0xf9, 0xfa,
];
const AC_CHROMA_SYMBOLS: [u8; 162] = [
    0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71,
    0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33, 0x52, 0xf0,
    0x15, 0x62, 0x72, 0xd1, 0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18, 0x19, 0x1a, 0x26,
    0x27, 0x28, 0x29, 0x2a, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
    0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
    0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87,
    0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5,
    0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3,
    0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda,
    0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
    0xf9, 0xfa,
];
const HUFFMAN: [HuffmanSpec; 4] = [
    HuffmanSpec {
        class_and_id: 0x00,
        counts: [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
        symbols: &DC_SYMBOLS,
    },
    HuffmanSpec {
        class_and_id: 0x10,
        counts: [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d],
        symbols: &AC_LUMA_SYMBOLS,
    },
    HuffmanSpec {
        class_and_id: 0x01,
        counts: [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0],
        symbols: &DC_SYMBOLS,
    },
    HuffmanSpec {
        class_and_id: 0x11,
        counts: [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77],
        symbols: &AC_CHROMA_SYMBOLS,
    },
];

/// Code and its length by symbol.
type Codes = [(u16, u8); 256];

fn codes(spec: &HuffmanSpec) -> Codes {
    let mut table = [(0, 0); 256];
    let mut code = 0_u16;
    let mut next = 0;
    for (length, &count) in (1_u8..).zip(&spec.counts) {
        for _ in 0..count {
            table[usize::from(spec.symbols[next])] = (code, length);
            code += 1;
            next += 1;
        }
        code <<= 1;
    }
    table
}

fn scaled_quant(base: &[u16; 64], quality: u8) -> [u8; 64] {
    let quality = u32::from(quality.clamp(1, 100));
    let scale = if quality < 50 {
        5000 / quality
    } else {
        200 - 2 * quality
    };
    base.map(|q| ((u32::from(q) * scale + 50) / 100).clamp(1, 255) as u8)
}

struct BitWriter {
    out: Vec<u8>,
    bits: u64,
    n_bits: u32,
}

impl BitWriter {
    fn put(&mut self, code: u32, length: u8) {
        self.bits = (self.bits << length) | u64::from(code);
        self.n_bits += u32::from(length);
        while self.n_bits >= 8 {
            let byte = (self.bits >> (self.n_bits - 8)) as u8;
            self.out.push(byte);
            if byte == 0xFF {
                self.out.push(0);
            }
            self.n_bits -= 8;
        }
    }

    fn flush(&mut self) {
        if self.n_bits > 0 {
            let pad = 8 - self.n_bits as u8;
            self.put((1 << pad) - 1, pad);
        }
    }
}

/// One-dimensional scaled DCT of Arai, Agui and Nakajima (1988).
fn dct_1d(d: &mut [f32; 64], start: usize, step: usize) {
    let at = |i: usize| start + i * step;
    let (t0, t7) = (d[at(0)] + d[at(7)], d[at(0)] - d[at(7)]);
    let (t1, t6) = (d[at(1)] + d[at(6)], d[at(1)] - d[at(6)]);
    let (t2, t5) = (d[at(2)] + d[at(5)], d[at(2)] - d[at(5)]);
    let (t3, t4) = (d[at(3)] + d[at(4)], d[at(3)] - d[at(4)]);
    let (t10, t13) = (t0 + t3, t0 - t3);
    let (t11, t12) = (t1 + t2, t1 - t2);
    d[at(0)] = t10 + t11;
    d[at(4)] = t10 - t11;
    let z1 = (t12 + t13) * std::f32::consts::FRAC_1_SQRT_2;
    d[at(2)] = t13 + z1;
    d[at(6)] = t13 - z1;
    let (t10, t11, t12) = (t4 + t5, t5 + t6, t6 + t7);
    let z5 = (t10 - t12) * 0.382_683_43;
    let z2 = 0.541_196_1 * t10 + z5;
    let z4 = 1.306_563 * t12 + z5;
    let z3 = t11 * std::f32::consts::FRAC_1_SQRT_2;
    let (z11, z13) = (t7 + z3, t7 - z3);
    d[at(5)] = z13 + z2;
    d[at(3)] = z13 - z2;
    d[at(1)] = z11 + z4;
    d[at(7)] = z11 - z4;
}

/// Divisors that undo the transform's scale and quantise.
fn divisors(quant: &[u8; 64]) -> [f32; 64] {
    const SCALE: [f32; 8] = [
        1.0,
        1.387_039_8,
        1.306_563,
        1.175_875_6,
        1.0,
        0.785_694_96,
        0.541_196_1,
        0.275_899_4,
    ];
    std::array::from_fn(|i| 1.0 / (f32::from(quant[i]) * SCALE[i / 8] * SCALE[i % 8] * 8.0))
}

struct Channel<'a> {
    divisors: &'a [f32; 64],
    dc: &'a Codes,
    ac: &'a Codes,
}

/// Size category and the bits that follow it.
fn magnitude(value: i32) -> (u8, u32) {
    let size = (32 - value.unsigned_abs().leading_zeros()) as u8;
    let bits = if value < 0 { value - 1 } else { value };
    (size, bits as u32 & ((1 << size) - 1))
}

fn encode_block(w: &mut BitWriter, block: &mut [f32; 64], channel: &Channel, last_dc: &mut i32) {
    for row in 0..8 {
        dct_1d(block, row * 8, 1);
    }
    for column in 0..8 {
        dct_1d(block, column, 8);
    }
    let quantised: [i32; 64] = std::array::from_fn(|k| {
        let i = ZIGZAG[k];
        (block[i] * channel.divisors[i]).round() as i32
    });
    let (size, bits) = magnitude(quantised[0] - *last_dc);
    *last_dc = quantised[0];
    let (code, length) = channel.dc[usize::from(size)];
    w.put(u32::from(code), length);
    w.put(bits, size);
    let mut run = 0_u8;
    let last = quantised.iter().rposition(|&q| q != 0).unwrap_or(0);
    for &value in &quantised[1..=last.max(1)] {
        if value == 0 {
            run += 1;
            continue;
        }
        while run >= 16 {
            let (code, length) = channel.ac[0xF0];
            w.put(u32::from(code), length);
            run -= 16;
        }
        let (size, bits) = magnitude(value);
        let (code, length) = channel.ac[usize::from((run << 4) | size)];
        w.put(u32::from(code), length);
        w.put(bits, size);
        run = 0;
    }
    if last < 63 {
        let (code, length) = channel.ac[0];
        w.put(u32::from(code), length);
    }
}

fn marker(out: &mut Vec<u8>, code: u8, body: &[u8]) {
    let length = u16::try_from(body.len() + 2).expect("segments are made shorter than 64 KiB");
    out.extend([0xFF, code]);
    out.extend(length.to_be_bytes());
    out.extend_from_slice(body);
}

/// A segment to put before the tables: marker code (0xE0 to 0xEF, 0xFE) and body, shorter than
/// 65,534 bytes.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) code: u8,
    pub(crate) body: Vec<u8>,
}

/// Luma and the two chromas of a pixel (JFIF), luma and chroma about zero.
fn ycc(rgb: &[u8]) -> [f32; 3] {
    let (r, g, b) = (f32::from(rgb[0]), f32::from(rgb[1]), f32::from(rgb[2]));
    [
        0.299 * r + 0.587 * g + 0.114 * b - 128.0,
        -0.168_736 * r - 0.331_264 * g + 0.5 * b,
        0.5 * r - 0.418_688 * g - 0.081_312 * b,
    ]
}

/// The picture as a JPEG file. Quality 1 to 100 on the usual scale.
pub(crate) fn encode(picture: &Picture, quality: u8, segments: &[Segment]) -> Vec<u8> {
    let quants = [
        scaled_quant(&LUMA_QUANT, quality),
        scaled_quant(&CHROMA_QUANT, quality),
    ];
    let out = header([picture.width, picture.height], &quants, segments);
    let mut writer = BitWriter {
        out,
        bits: 0,
        n_bits: 0,
    };
    encode_scan(&mut writer, picture, &quants);
    writer.flush();
    let mut out = writer.out;
    out.extend(END);
    out
}

/// The same file as [`encode`] makes of a picture that is mid grey (128) all over, without going
/// over its pixels: every block has no coefficient but the first, which does not change.
pub(crate) fn encode_grey(
    [width, height]: [usize; 2],
    quality: u8,
    segments: &[Segment],
) -> Vec<u8> {
    // Four luma blocks of "no change" (00) and "end of block" (1010), two of chroma (00, 00).
    const UNIT: [u8; 4] = [0b0010_1000, 0b1010_0010, 0b1000_1010, 0];
    let quants = [
        scaled_quant(&LUMA_QUANT, quality),
        scaled_quant(&CHROMA_QUANT, quality),
    ];
    let mut out = header([width, height], &quants, segments);
    out.extend(UNIT.repeat(width.div_ceil(16) * height.div_ceil(16)));
    out.extend(END);
    out
}

const END: [u8; 2] = [0xFF, 0xD9];

/// Everything up to the coded blocks.
fn header([width, height]: [usize; 2], quants: &[[u8; 64]; 2], segments: &[Segment]) -> Vec<u8> {
    let mut out = vec![0xFF, 0xD8];
    for segment in segments {
        marker(&mut out, segment.code, &segment.body);
    }
    for (id, quant) in (0_u8..).zip(quants) {
        let mut body = vec![id];
        body.extend(ZIGZAG.iter().map(|&i| quant[i]));
        marker(&mut out, 0xDB, &body);
    }
    let (w, h) = (width as u16, height as u16);
    let mut frame = vec![8];
    frame.extend(h.to_be_bytes());
    frame.extend(w.to_be_bytes());
    frame.extend([3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
    marker(&mut out, 0xC0, &frame);
    for spec in &HUFFMAN {
        let mut body = vec![spec.class_and_id];
        body.extend(spec.counts);
        body.extend(spec.symbols);
        marker(&mut out, 0xC4, &body);
    }
    marker(&mut out, 0xDA, &[3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0]);
    out
}

fn encode_scan(writer: &mut BitWriter, picture: &Picture, quants: &[[u8; 64]; 2]) {
    let tables = [&HUFFMAN[0], &HUFFMAN[1], &HUFFMAN[2], &HUFFMAN[3]].map(codes);
    let (luma_divisors, chroma_divisors) = (divisors(&quants[0]), divisors(&quants[1]));
    let luma = Channel {
        divisors: &luma_divisors,
        dc: &tables[0],
        ac: &tables[1],
    };
    let chroma = Channel {
        divisors: &chroma_divisors,
        dc: &tables[2],
        ac: &tables[3],
    };
    let mut last = [0; 3];
    let (w, h) = (picture.width, picture.height);
    for top in (0..h).step_by(16) {
        for left in (0..w).step_by(16) {
            let mut blocks = [[0.0_f32; 64]; 4];
            let mut colors = [[0.0_f32; 64]; 2];
            for y in 0..16 {
                let row = (top + y).min(h - 1) * w;
                for x in 0..16 {
                    let at = (row + (left + x).min(w - 1)) * 3;
                    let [l, cb, cr] = ycc(&picture.rgb[at..at + 3]);
                    blocks[(y / 8) * 2 + x / 8][(y % 8) * 8 + x % 8] = l;
                    let c = (y / 2) * 8 + x / 2;
                    colors[0][c] += 0.25 * cb;
                    colors[1][c] += 0.25 * cr;
                }
            }
            for block in &mut blocks {
                encode_block(writer, block, &luma, &mut last[0]);
            }
            encode_block(writer, &mut colors[0], &chroma, &mut last[1]);
            encode_block(writer, &mut colors[1], &chroma, &mut last[2]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grey_is_the_grey_picture() {
        for (width, height) in [(64, 48), (37, 21), (16, 16), (1, 1)] {
            let rgb = vec![128; width * height * 3];
            let picture = Picture { width, height, rgb };
            let same = encode_grey([width, height], 80, &[]) == encode(&picture, 80, &[]);
            assert!(same, "{width}x{height}");
        }
    }

    /// An independent decoder gives back the picture, closely at high quality.
    #[test]
    fn another_decoder_reads_it_back() {
        for (width, height) in [(64, 48), (37, 21), (16, 16), (1, 1)] {
            let mut rgb = Vec::new();
            for y in 0..height {
                for x in 0..width {
                    rgb.extend([
                        (x * 4 % 256) as u8,
                        (y * 5 % 256) as u8,
                        ((x + y) * 2 % 256) as u8,
                    ]);
                }
            }
            let picture = Picture { width, height, rgb };
            let bytes = encode(&picture, 97, &[]);
            let decoded = image::load_from_memory(&bytes).expect("a JPEG").to_rgb8();
            assert_eq!(
                (decoded.width() as usize, decoded.height() as usize),
                (width, height)
            );
            let difference: u64 = decoded
                .as_raw()
                .iter()
                .zip(&picture.rgb)
                .map(|(a, b)| u64::from(a.abs_diff(*b)))
                .sum();
            let mean = difference as f64 / picture.rgb.len() as f64;
            assert!(mean < 4.0, "{width}x{height}: mean difference {mean}");
        }
    }
}
