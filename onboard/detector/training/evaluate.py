"""Average precision of a trained network on photos with oriented truth.

    /usr/bin/python3 evaluate.py --weights model.pt --songdo DIR [--car-px 28 ...]

Used while training; the product's own evaluation (with tiles and bands) is in the crate.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from PIL import Image

import network

# Length of a car in the Songdo photos, pixels.
SONGDO_CAR_PX = 96.0
MIN_SCORE = 0.03
MAX_IOU = 0.3


def corners(box):
    cx, cy, length, short, angle = box[:5]
    along = np.array([np.cos(angle), np.sin(angle)]) * length / 2
    across = np.array([-np.sin(angle), np.cos(angle)]) * short / 2
    centre = np.array([cx, cy])
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return [centre + a * along + b * across for a, b in signs]


def clipped_area(subject, clip):
    polygon = subject
    for i in range(4):
        a, b = clip[i], clip[(i + 1) % 4]
        side = lambda p: (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
        kept = []
        for j, now in enumerate(polygon):
            before = polygon[j - 1]
            s, t = side(before), side(now)
            if (s >= 0) != (t >= 0):
                kept.append(before + (now - before) * s / (s - t))
            if t >= 0:
                kept.append(now)
        polygon = kept
        if len(polygon) < 3:
            return 0.0
    x, y = np.array(polygon).T
    return abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def iou(a, b):
    if np.hypot(a[0] - b[0], a[1] - b[1]) > (a[2] + b[2] + a[3] + b[3]) / 2:
        return 0.0
    common = clipped_area(corners(a), corners(b))
    return common / (a[2] * a[3] + b[2] * b[3] - common)


def load(path):
    state = torch.load(path)
    widths = tuple(state[f"{name}.weight"].shape[0] for name in ("to_2.0", "to_4.0.0", "to_8.0.0", "to_16.0.0"))
    model = network.Network(widths, state["from_4.weight"].shape[0])
    model.load_state_dict(state)
    return network.RawLayout(model).eval()


def detect(model, image, factor):
    """[n, 6] boxes with scores in pixels of the given image, searched at `factor`."""
    size = (round(image.width * factor), round(image.height * factor))
    small = np.asarray(image.resize(size, Image.BILINEAR), dtype=np.float32) / 255.0
    multiple = network.INPUT_MULTIPLE
    height, width = (-(-side // multiple) * multiple for side in small.shape[:2])
    padded = np.full((height, width, 3), 114 / 255, np.float32)
    padded[: small.shape[0], : small.shape[1]] = small
    with torch.no_grad():
        raw = model(torch.from_numpy(padded.transpose(2, 0, 1)[None]))[0].numpy()
    raw = raw[:, raw[4] >= MIN_SCORE]
    raw = raw[:, np.argsort(-raw[4], kind="stable")]
    kept = []
    for x, y, w, h, score, angle in raw.T:
        if w < h:
            w, h, angle = h, w, angle + np.pi / 2
        box = np.array([x / factor, y / factor, w / factor, h / factor, angle, score])
        if all(iou(box, other) <= MAX_IOU for other in kept):
            kept.append(box)
    return np.array(kept).reshape(-1, 6)


def average_precision(per_photo, threshold=0.5):
    """`per_photo`: (detections [n, 6], truth [m, 5], ignored [k, 5]) each. Returns AP (area under
    the precision envelope), best F1 with its score, and angle errors of the hits in degrees."""
    rows, total, angles = [], 0, []
    for found, truth, ignored in per_photo:
        total += len(truth)
        taken = set()
        for box in found:
            overlaps = [iou(box, t) for t in truth]
            free = [(v, i) for i, v in enumerate(overlaps) if i not in taken and v >= threshold]
            if free:
                _, index = max(free)
                taken.add(index)
                rows.append((box[5], 1))
                error = np.degrees(box[4] - truth[index][4])
                angles.append(abs((error + 90) % 180 - 90))
            elif not any(iou(box, z) > 0.1 for z in ignored):
                rows.append((box[5], 0))
    rows.sort(key=lambda row: -row[0])
    hits = np.cumsum([row[1] for row in rows])
    recall = hits / max(total, 1)
    precision = hits / np.arange(1, len(rows) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    ap = np.sum(np.diff(np.concatenate([[0], recall])) * envelope)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    best = int(np.argmax(f1))
    return ap, f1[best], rows[best][0], np.array(angles), recall[-1]


def songdo(folder):
    folder = Path(folder)
    for path in sorted((folder / "labels_obb").glob("*.txt")):
        image = Image.open(folder / "images" / f"{path.stem}.jpg").convert("RGB")
        truth, ignored = [], []
        for line in path.read_text().splitlines():
            kind, *values = line.split()
            p = np.array(list(map(float, values))).reshape(4, 2)
            sides = [np.linalg.norm(p[1] - p[0]), np.linalg.norm(p[2] - p[1])]
            along = p[1] - p[0] if sides[0] >= sides[1] else p[2] - p[1]
            box = [*p.mean(0), max(sides), min(sides), np.arctan2(along[1], along[0])]
            # Motorcycles are no vehicles of ours.
            (ignored if kind == "3" else truth).append(box)
        yield image, np.array(truth).reshape(-1, 5), np.array(ignored).reshape(-1, 5)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--songdo", required=True)
    parser.add_argument("--car-px", type=float, nargs="+", default=[28.0])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = load(arguments.weights)
    for car_px in arguments.car_px:
        photos = [
            (detect(model, image, car_px / SONGDO_CAR_PX), truth, ignored)
            for image, truth, ignored in songdo(arguments.songdo)
        ]
        ap, f1, score, angles, recall = average_precision(photos)
        print(
            f"songdo car {car_px:g} px: AP50 {ap:.3f} best F1 {f1:.3f} at {score:.2f} "
            f"recall {recall:.3f} angle median {np.median(angles):.2f} deg",
            flush=True,
        )


if __name__ == "__main__":
    main()
