"""COLMAP's commands feature_extractor, matches_importer and mapper on top of pycolmap 4.x.

Takes the option names of COLMAP 3.13 and later, prints COLMAP's own progress lines, and writes
the same database and binary model, so that one adapter drives both.
"""

import os
import sys


def parse(arguments):
    options = {}
    names = iter(arguments)
    for name in names:
        if not name.startswith("--"):
            sys.exit(f"unexpected argument {name}")
        options[name[2:]] = next(names)
    return options


def put(target, path, value):
    *parents, leaf = path.split(".")
    for parent in parents:
        target = getattr(target, parent)
    kind = type(getattr(target, leaf))
    setattr(target, leaf, bool(int(value)) if kind is bool else kind(value))


def put_all(target, options, prefix, inner=""):
    for name, value in options.items():
        if name.startswith(prefix):
            put(target, inner + name[len(prefix):], value)


def extract(pycolmap, options):
    with open(options["image_list_path"]) as listed:
        names = listed.read().split()
    reader = pycolmap.ImageReaderOptions()
    reader.camera_model = options["ImageReader.camera_model"]
    reader.camera_params = options["ImageReader.camera_params"]
    if "ImageReader.existing_camera_id" in options:
        reader.existing_camera_id = int(options["ImageReader.existing_camera_id"])
    if "ImageReader.mask_path" in options:
        reader.mask_path = options["ImageReader.mask_path"]
    extraction = pycolmap.FeatureExtractionOptions()
    put_all(extraction, options, "FeatureExtraction.")
    put_all(extraction, options, "SiftExtraction.", "sift.")
    pycolmap.extract_features(
        database_path=options["database_path"],
        image_path=options["image_path"],
        image_names=names,
        camera_mode=pycolmap.CameraMode.SINGLE,
        reader_options=reader,
        extraction_options=extraction,
        device=pycolmap.Device.cpu,
    )


def match(pycolmap, options):
    matching = pycolmap.FeatureMatchingOptions()
    put_all(matching, options, "FeatureMatching.")
    pairing = pycolmap.ImportedPairingOptions()
    pairing.match_list_path = options["match_list_path"]
    pycolmap.match_image_pairs(
        database_path=options["database_path"],
        matching_options=matching,
        pairing_options=pairing,
        device=pycolmap.Device.cpu,
    )


def map_photos(pycolmap, options):
    pipeline = pycolmap.IncrementalPipelineOptions()
    put_all(pipeline, options, "Mapper.")
    pipeline.random_seed = 0
    models = pycolmap.incremental_mapping(
        database_path=options["database_path"],
        image_path=options["image_path"],
        output_path=options["output_path"],
        options=pipeline,
    )
    if not models:
        print("ERROR: failed to create sparse model")
        sys.exit(1)


def main(command, *arguments):
    try:
        import pycolmap
    except ImportError as error:
        sys.exit(f"pycolmap cannot be imported: {error}")
    if command == "help":
        print(f"COLMAP {pycolmap.__version__} -- pycolmap (without CUDA)")
        return
    if list(arguments) == ["--help"]:
        print("--FeatureExtraction.use_gpu")
        return
    # Lines must arrive as they are printed.
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    options = parse(arguments)
    commands = {
        "feature_extractor": extract,
        "matches_importer": match,
        "mapper": map_photos,
    }
    if command not in commands:
        sys.exit(f"unknown command {command}")
    commands[command](pycolmap, options)


main(*sys.argv[1:])
