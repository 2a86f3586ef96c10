"""What the same model and tiles cost in Python: a bare ONNX Runtime loop, or Ultralytics with SAHI.

    python3 peers.py bare|sahi MODEL PHOTO FACTOR TILE OVERLAP THREADS

Prints one JSON object as the last line; seconds are medians of a few runs. `bare` needs onnxruntime,
numpy and pillow, `sahi` ultralytics and sahi; what is not installed is said to be skipped.
"""

import json
import math
import resource
import statistics
import sys
import time

RUNS = 5


def median_seconds(work):
    work()
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def starts(length, tile, overlap):
    if length <= tile:
        return [0]
    count = -(-(length - overlap) // (tile - overlap))
    return [round((length - tile) * index / (count - 1)) for index in range(count)]


def bare_loop(model, photo, factor, tile, overlap, threads):
    import numpy as np
    import onnxruntime
    from PIL import Image

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    decode = median_seconds(lambda: Image.open(photo).convert("RGB").load())
    picture = Image.open(photo).convert("RGB")
    size = (math.ceil(picture.width * factor - 1e-6), math.ceil(picture.height * factor - 1e-6))
    tiles = 0

    def search():
        nonlocal tiles
        small = np.asarray(picture.resize(size, Image.BILINEAR))
        tiles = 0
        for top in starts(small.shape[0], tile, overlap):
            for left in starts(small.shape[1], tile, overlap):
                part = small[top : top + tile, left : left + tile].astype(np.float32) / 255.0
                session.run(None, {name: np.ascontiguousarray(part.transpose(2, 0, 1)[None])})
                tiles += 1

    return {"decode_s": decode, "after_decode_s": median_seconds(search), "tiles": tiles}


def sahi(model, photo, factor, tile, overlap, threads):
    import torch
    import ultralytics  # noqa: F401
    from PIL import Image
    from sahi import AutoDetectionModel
    from sahi.predict import get_sliced_prediction

    torch.set_num_threads(threads)
    network = AutoDetectionModel.from_pretrained(
        model_type="ultralytics", model_path=model, confidence_threshold=0.25, device="cpu", image_size=tile
    )
    found = 0

    def search():
        nonlocal found
        picture = Image.open(photo).convert("RGB")
        picture = picture.resize((int(picture.width * factor), int(picture.height * factor)), Image.BILINEAR)
        result = get_sliced_prediction(
            picture, network, slice_height=tile, slice_width=tile, overlap_height_ratio=overlap / tile,
            overlap_width_ratio=overlap / tile, perform_standard_pred=False, verbose=0,
        )  # fmt: skip
        found = len(result.object_prediction_list)

    return {"file_to_boxes_s": median_seconds(search), "boxes": found}


def main():
    part, model, photo, factor, tile, overlap, threads = sys.argv[1:]
    work = {"bare": bare_loop, "sahi": sahi}[part]
    try:
        answer = work(model, photo, float(factor), int(tile), int(overlap), int(threads))
    except ImportError as error:
        answer = {"skipped": str(error)}
    answer["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
