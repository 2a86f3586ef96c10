//! `groundstation ingest` on folders as people have them.

mod bundles;
mod cameras;
mod duplicates;
mod flights;
mod metadata;
mod odd_files;
mod scene_folder;

use serde_json::Value;
use std::collections::BTreeMap;
use tests::workbench::Workbench;

/// Photos of the scene by the first name they were found under.
fn photos(bench: &Workbench) -> BTreeMap<String, Value> {
    let scene = bench.scene_json();
    let photos = scene["photos"].as_array().expect("a list of photos");
    photos
        .iter()
        .map(|photo| {
            let name = photo["names"][0].as_str().expect("a name");
            (name.to_owned(), photo.clone())
        })
        .collect()
}

/// Photos per flight.
fn flight_sizes(bench: &Workbench) -> Vec<u64> {
    let scene = bench.scene_json();
    let flights = scene["flights"].as_array().expect("a list of flights");
    flights
        .iter()
        .map(|flight| flight["n_photos"].as_u64().expect("a number"))
        .collect()
}
