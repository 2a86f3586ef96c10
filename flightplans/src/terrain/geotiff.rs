//! GeoTIFF rasters in degrees (EPSG:4326 and its like): a model pixel scale and one tie point, one
//! band of numbers. Projected rasters are refused: this program has no map projections.

use super::Raster;
use std::io::Cursor;
use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::tags::Tag;

/// GTModelTypeGeoKey: 2 is geographic (degrees). GTRasterTypeGeoKey: 2 is "pixel is point".
const MODEL_TYPE_KEY: u32 = 1024;
const RASTER_TYPE_KEY: u32 = 1025;
const GEOGRAPHIC: u32 = 2;
const PIXEL_IS_POINT: u32 = 2;

pub(super) fn read(bytes: &[u8], name: &str) -> Result<Raster, String> {
    let mut decoder = Decoder::new(Cursor::new(bytes))
        .map_err(|error| error.to_string())?
        .with_limits(Limits::default());
    let (columns, rows) = decoder.dimensions().map_err(|error| error.to_string())?;
    if columns < 2 || rows < 2 {
        return Err(format!(
            "{columns} x {rows} samples, expected at least 2 x 2"
        ));
    }
    let scale = decoder
        .get_tag_f64_vec(Tag::ModelPixelScaleTag)
        .map_err(|_| "no model pixel scale: it is no GeoTIFF in degrees".to_owned())?;
    let tie = decoder
        .get_tag_f64_vec(Tag::ModelTiepointTag)
        .map_err(|_| "no tie point: it is no GeoTIFF in degrees".to_owned())?;
    let keys = decoder
        .get_tag_u32_vec(Tag::GeoKeyDirectoryTag)
        .map_err(|_| "no GeoTIFF keys".to_owned())?;
    let key = |wanted: u32| {
        keys.chunks_exact(4)
            .skip(1)
            .find(|entry| entry[0] == wanted && entry[1] == 0)
            .map(|entry| entry[3])
    };
    if key(MODEL_TYPE_KEY) != Some(GEOGRAPHIC) {
        return Err("it is projected; convert it to degrees (EPSG:4326) first".to_owned());
    }
    let ([step_longitude, step_latitude, ..], [column, row, _, longitude, latitude, ..]) =
        (scale.as_slice(), tie.as_slice())
    else {
        return Err("its pixel scale or tie point is too short".to_owned());
    };
    if !(*step_longitude > 0.0 && *step_latitude > 0.0) {
        return Err(format!(
            "its pixel scale is {scale:?}, expected positive degrees"
        ));
    }
    // Samples are in the middles of pixels unless the file says that they are points.
    let shift = if key(RASTER_TYPE_KEY) == Some(PIXEL_IS_POINT) {
        0.0
    } else {
        0.5
    };
    let void = decoder
        .get_tag_ascii_string(Tag::GdalNodata)
        .ok()
        .and_then(|text| text.trim_matches(['\0', ' ']).parse::<f32>().ok());
    let values = heights(decoder.read_image().map_err(|error| error.to_string())?)?;
    if values.len() != columns as usize * rows as usize {
        return Err("it has several bands, expected one".to_owned());
    }
    Ok(Raster {
        name: name.to_owned(),
        west_deg: longitude + (shift - column) * step_longitude,
        north_deg: latitude - (shift - row) * step_latitude,
        step_longitude_deg: *step_longitude,
        step_latitude_deg: *step_latitude,
        columns: columns as usize,
        rows: rows as usize,
        heights_m: values
            .into_iter()
            .map(|height| (height.is_finite() && Some(height) != void).then_some(height))
            .collect(),
    })
}

fn heights(image: DecodingResult) -> Result<Vec<f32>, String> {
    Ok(match image {
        DecodingResult::F32(values) => values,
        DecodingResult::F64(values) => values.into_iter().map(|v| v as f32).collect(),
        DecodingResult::I16(values) => values.into_iter().map(f32::from).collect(),
        DecodingResult::U16(values) => values.into_iter().map(f32::from).collect(),
        DecodingResult::U8(values) => values.into_iter().map(f32::from).collect(),
        DecodingResult::I32(values) => values.into_iter().map(|v| v as f32).collect(),
        _ => return Err("its samples are neither floats nor 8, 16 or 32-bit integers".to_owned()),
    })
}
