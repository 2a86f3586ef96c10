"""Training photos: what is read from where, and how crops are drawn from them.

Boxes are rows cx, cy, long, short, angle: continuous pixels (the centre of the first pixel is
(0.5, 0.5)) and radians, clockwise on screen.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

import distractors
from oriented_labels import oriented_from_horizontal

CROP_PX = 256
# The length of a car in the network's input: where training is centred, and its spread.
CAR_PX = 28.0
CAR_SCALE_RANGE = (0.6, 1.65)
CAR_LENGTH_M = 4.5
PAD = (114, 114, 114)
BLURRED_SHARE = 0.25
# So many crops are drawn around a vehicle, the others anywhere: roofs, windows and trees are seen too.
AT_VEHICLE_SHARE = 0.6
# Photos are kept at reduced sizes a factor of sqrt(2) apart, none with cars longer than this.
LONGEST_KEPT_CAR_PX = 80.0
# Vehicles of which this share is seen are asked for; of which less than the second, not at all;
# those between are neither right nor wrong.
VISIBLE_ENOUGH, BARELY_VISIBLE = 0.5, 0.02
# Beyond the place where a car is this long in the photo, and in the sky, the scale stays.
SMALLEST_CAR_PX = 8.0


@dataclass
class Photo:
    levels: list  # (factor, PIL image), largest first
    boxes: np.ndarray  # [n, 5], of the original size
    ignored: np.ndarray  # [m, 5]
    car_px: callable  # length of a car at (x, y) of the original, pixels
    oblique: bool = False
    digest: str = ""
    source: str = ""


def empty_boxes():
    return np.zeros((0, 5))


def pyramid(image, longest_car_px, shortest_car_px=None):
    """Reduced sizes that show the farthest cars large enough and the nearest small enough."""
    levels, factor = [], 1.0
    shortest_car_px = shortest_car_px or longest_car_px
    while min(image.size) * factor >= 64:
        if shortest_car_px * factor <= LONGEST_KEPT_CAR_PX or factor < 0.1:
            size = (round(image.width * factor), round(image.height * factor))
            level = image if factor == 1.0 else image.resize(size, Image.BILINEAR)
            levels.append((factor, level))
        if longest_car_px * factor < CAR_PX * CAR_SCALE_RANGE[0]:
            break
        factor /= math.sqrt(2.0)
    return levels


def read_horizontal(path):
    """A photo with YOLO text labels beside it (class x y w h, normalised): KIT AIS as prepared in
    the vehicles folder."""
    image = Image.open(path).convert("RGB")
    grey = np.asarray(image.convert("L"), dtype=float)
    label_text = path.with_suffix(".txt").read_text()
    hulls = []
    for line in label_text.splitlines():
        _, x, y, w, h = map(float, line.split())
        hulls.append((x - w / 2, y - h / 2, x + w / 2, y + h / 2))
    hulls = np.array(hulls).reshape(-1, 4) * np.array([image.width, image.height] * 2)
    longest = np.maximum(hulls[:, 2] - hulls[:, 0], hulls[:, 3] - hulls[:, 1])
    car_px = float(np.median(longest))
    boxes, ignored = [], []
    for hull in hulls:
        x1, y1, x2, y2 = hull
        if x1 < 2 or y1 < 2 or x2 > image.width - 2 or y2 > image.height - 2:
            ignored.append([(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, 0.0])
            continue
        box = oriented_from_horizontal(grey, hull, car_px)
        box[:2] += 0.5
        boxes.append(box)
    return Photo(
        pyramid(image, car_px),
        np.array(boxes).reshape(-1, 5),
        np.array(ignored).reshape(-1, 5),
        lambda x, y: car_px,
        digest=hashlib.sha256(path.read_bytes() + label_text.encode()).hexdigest(),
        source=path.name,
    )


def read_without_vehicles(path, car_px):
    """A photo that holds no vehicle, taken where a car would be `car_px` long."""
    image = Image.open(path).convert("RGB")
    return Photo(
        pyramid(image, car_px),
        empty_boxes(),
        empty_boxes(),
        lambda x, y: car_px,
        digest=hashlib.sha256(path.read_bytes()).hexdigest(),
        source=path.name,
    )


def rotation_from(wxyz):
    w, x, y, z = wxyz
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def car_length_in(photo):
    """Length of a car across the line of sight on the level ground at a pixel of a rendered photo;
    lens distortion does not matter for this."""
    camera_from_enu = rotation_from(photo["camera_from_enu"]["rotation_wxyz"])
    height = photo["center_in_enu_m"][2]
    lens = photo["intrinsics"]

    def car_px(x, y):
        ray = np.array([(x - lens["cx_px"]) / lens["fx_px"], (y - lens["cy_px"]) / lens["fy_px"], 1.0])
        down = -(camera_from_enu.T @ ray)[2]
        return CAR_LENGTH_M * lens["fx_px"] * max(down, 0.0) / height

    return car_px


def read_rendered(folder):
    """The photos of one scene of `simulator render`, by its truth.json."""
    folder = Path(folder)
    truth = json.loads((folder / "truth.json").read_text())
    for entry in truth["photos"]:
        boxes, ignored = [], []
        for view in truth["views"]:
            if view["photo"] != entry["file"] or view["visible_fraction"] < BARELY_VISIBLE:
                continue
            *place, angle_deg = view["oriented_box"]
            box = [*place, math.radians(angle_deg)]
            (boxes if view["visible_fraction"] >= VISIBLE_ENOUGH else ignored).append(box)
        image = Image.open(folder / entry["file"]).convert("RGB")
        lens = car_length_in(entry)
        nearest = max(lens(image.width / 2, image.height - 1), SMALLEST_CAR_PX)
        farthest = max(min([lens(*box[:2]) for box in boxes], default=nearest), SMALLEST_CAR_PX)
        yield Photo(
            pyramid(image, nearest, farthest),
            np.array(boxes).reshape(-1, 5),
            np.array(ignored).reshape(-1, 5),
            lambda x, y, lens=lens: max(lens(x, y), SMALLEST_CAR_PX),
            oblique=entry["pitch_deg"] > -70,
            digest=entry["sha256"],
            source=f"{folder.name}/{entry['file']}",
        )


def affine(scale, angle, flip, centre, size):
    """Output-from-input 2x3: `centre` of the input goes to the middle of a square of `size`."""
    c, s = math.cos(angle) * scale, math.sin(angle) * scale
    linear = np.array([[c, -s], [s, c]])
    if flip:
        linear = linear @ np.diag([-1.0, 1.0])
    shift = np.array([size / 2, size / 2]) - linear @ np.asarray(centre)
    return np.hstack([linear, shift[:, None]])


def warp(photo, output_from_input, size):
    scale = math.sqrt(abs(np.linalg.det(output_from_input[:, :2])))
    factor, level = photo.levels[0]
    for candidate in photo.levels:
        if candidate[0] >= scale * 0.84:
            factor, level = candidate
    linear = np.linalg.inv(output_from_input[:, :2])
    shift = -linear @ output_from_input[:, 2]
    coefficients = np.hstack([linear, shift[:, None]]) * factor
    return level.transform(
        (size, size), Image.AFFINE, tuple(coefficients.ravel()), Image.BILINEAR, fillcolor=PAD
    )


def move_boxes(boxes, output_from_input):
    linear = output_from_input[:, :2]
    scale = math.sqrt(abs(np.linalg.det(linear)))
    moved = boxes.copy()
    moved[:, :2] = boxes[:, :2] @ linear.T + output_from_input[:, 2]
    along = np.stack([np.cos(boxes[:, 4]), np.sin(boxes[:, 4])], 1) @ linear.T
    moved[:, 2:4] *= scale
    moved[:, 4] = np.arctan2(along[:, 1], along[:, 0])
    return moved


def draw_crop(rng, photo, place=None):
    """One training crop, around `place` where one is given: picture, boxes, ignored boxes, in crop
    pixels."""
    factor, level = photo.levels[0]
    photo_size = np.array([level.width, level.height]) / factor
    if place is not None:
        x, y = place
    elif len(photo.boxes) and rng.random() < AT_VEHICLE_SHARE:
        x, y = photo.boxes[rng.integers(len(photo.boxes)), :2]
    else:
        x, y = rng.uniform(0, photo_size)
    low, high = np.log(CAR_SCALE_RANGE)
    scale = CAR_PX * math.exp(rng.uniform(low, high)) / photo.car_px(x, y)
    # Oblique photos keep "up" roughly up: cars seen from the side do not stand on their heads.
    turn = rng.normal(0.0, 0.15) if photo.oblique else rng.uniform(-math.pi, math.pi)
    reach = 0.4 * CROP_PX / scale
    centre = np.array([x, y]) + rng.uniform(-reach, reach, 2)
    inset = np.minimum(reach, photo_size / 2)
    centre = np.clip(centre, inset, photo_size - inset)
    output_from_input = affine(scale, turn, rng.random() < 0.5, centre, CROP_PX)
    image = warp(photo, output_from_input, CROP_PX)
    boxes = move_boxes(photo.boxes, output_from_input)
    ignored = move_boxes(photo.ignored, output_from_input)
    image = distractors.add(rng, image, boxes, ignored, photo.oblique)
    if rng.random() < BLURRED_SHARE:
        image = image.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.1)))
    return image, boxes, ignored


def data_digest(photos):
    """SHA-256 over the sorted digests of all photos with their labels."""
    total = hashlib.sha256()
    for digest in sorted(photo.digest for photo in photos):
        total.update(bytes.fromhex(digest))
    return total.hexdigest()
