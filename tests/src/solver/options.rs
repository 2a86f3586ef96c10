//! The options that a generation of COLMAP knows, as far as anybody may use them.

use std::collections::BTreeMap;

const PATHS: &[&str] = &[
    "database_path",
    "image_path",
    "output_path",
    "match_list_path",
    "match_type",
    "image_list_path",
    "camera_mode",
    "project_path",
    "random_seed",
];
const IMAGE_READER: &[&str] = &[
    "mask_path",
    "camera_model",
    "single_camera",
    "single_camera_per_folder",
    "single_camera_per_image",
    "existing_camera_id",
    "camera_params",
    "default_focal_length_factor",
    "camera_mask_path",
];
/// Renamed in 3.13.0: before `SiftExtraction.`, since then `FeatureExtraction.`.
const EXTRACTION: &[&str] = &["num_threads", "use_gpu", "gpu_index", "max_image_size"];
const SIFT_EXTRACTION: &[&str] = &[
    "max_num_features",
    "first_octave",
    "num_octaves",
    "octave_resolution",
    "peak_threshold",
    "edge_threshold",
    "estimate_affine_shape",
    "max_num_orientations",
    "upright",
    "domain_size_pooling",
];
/// Renamed in 3.13.0: before `SiftMatching.`, since then `FeatureMatching.`.
const MATCHING: &[&str] = &[
    "num_threads",
    "use_gpu",
    "gpu_index",
    "guided_matching",
    "max_num_matches",
];
const SIFT_MATCHING: &[&str] = &["max_ratio", "max_distance", "cross_check"];
const MAPPER: &[&str] = &[
    "min_num_matches",
    "ignore_watermarks",
    "multiple_models",
    "max_num_models",
    "max_model_overlap",
    "min_model_size",
    "init_num_trials",
    "extract_colors",
    "num_threads",
    "min_focal_length_ratio",
    "max_focal_length_ratio",
    "max_extra_param",
    "ba_refine_focal_length",
    "ba_refine_principal_point",
    "ba_refine_extra_params",
    "ba_global_max_num_iterations",
    "ba_local_max_num_iterations",
];

/// The options of a command in a generation, sorted; `None` for a command that it does not have.
pub(super) fn known(command: &str, version: &str) -> Option<Vec<String>> {
    let is_renamed = generation(version) >= (3, 13);
    let (extraction, matching) = if is_renamed {
        ("FeatureExtraction", "FeatureMatching")
    } else {
        ("SiftExtraction", "SiftMatching")
    };
    let mut names: Vec<String> = PATHS.iter().map(|&name| name.to_owned()).collect();
    let mut add = |group: &str, of_group: &[&str]| {
        names.extend(of_group.iter().map(|name| format!("{group}.{name}")));
    };
    match command {
        "feature_extractor" => {
            add("ImageReader", IMAGE_READER);
            add(extraction, EXTRACTION);
            add("SiftExtraction", SIFT_EXTRACTION);
        }
        "matches_importer" => {
            add(matching, MATCHING);
            add("SiftMatching", SIFT_MATCHING);
        }
        "mapper" => {
            add("Mapper", MAPPER);
            // Since 3.12; before it the option `random_seed` of all commands.
            if is_renamed {
                add("Mapper", &["random_seed"]);
            }
        }
        _ => return None,
    }
    names.sort();
    Some(names)
}

fn generation(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// The options of a call by name, or what COLMAP says of one it does not know.
pub(super) fn parse(
    command: &str,
    version: &str,
    arguments: &[String],
) -> Result<BTreeMap<String, String>, String> {
    let known = known(command, version).unwrap_or_default();
    let mut options = BTreeMap::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let name = argument
            .strip_prefix("--")
            .filter(|name| known.iter().any(|known| known == name))
            .ok_or_else(|| {
                format!("Failed to parse options - unrecognised option '{argument}'.")
            })?;
        let value = rest
            .next()
            .ok_or_else(|| format!("the required argument for option '{argument}' is missing"))?;
        options.insert(name.to_owned(), value.clone());
    }
    Ok(options)
}
