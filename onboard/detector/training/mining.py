"""Finds where the network under training sees vehicles that are none."""

import numpy as np
import torch

import data
import network

# A false alarm is worth another look from this score.
MIN_SCORE = 0.15
PER_PHOTO = 25
# Only where a car is about this long in the searched size, as shares of the best length.
SIZES = (0.65, 1.5)
# The largest picture searched at once, pixels: photos from low heights need no more.
MOST_PIXELS = 2_500_000


def levels_to_search(photo):
    """Sizes of the photo at which its cars have a usual length somewhere: two at the most."""
    factor, largest = photo.levels[0]
    width, height = largest.width / factor, largest.height / factor
    ends = [photo.car_px(width / 2, y) for y in (0.5, height / 2, height - 1)]
    wanted = {data.CAR_PX / length for length in (max(ends), float(np.median(ends)))}
    chosen = set()
    for target in wanted:
        chosen.add(min(photo.levels, key=lambda level: abs(np.log(level[0] / target)))[0])
    return [level for level in photo.levels if level[0] in chosen]


def is_near_a_vehicle(x, y, boxes):
    if not len(boxes):
        return False
    dx, dy = x - boxes[:, 0], y - boxes[:, 1]
    c, s = np.cos(boxes[:, 4]), np.sin(boxes[:, 4])
    along, across = np.abs(dx * c + dy * s), np.abs(dy * c - dx * s)
    return bool(np.any((along < 0.65 * boxes[:, 2]) & (across < 0.65 * boxes[:, 3])))


def search(model, image):
    """Score and place (in pixels of the image) of every peak."""
    multiple = network.INPUT_MULTIPLE
    size = (image.width // multiple * multiple, image.height // multiple * multiple)
    if min(size) < multiple or size[0] * size[1] > MOST_PIXELS:
        return []
    pixels = np.asarray(image.crop((0, 0, *size)), dtype=np.float32) / 255.0
    with torch.no_grad(), torch.cpu.amp.autocast(dtype=torch.bfloat16):
        heat, _ = model(torch.from_numpy(pixels.transpose(2, 0, 1)[None].copy()))
    score = torch.sigmoid(heat.float())
    score = (score * (torch.nn.functional.max_pool2d(score, 3, 1, 1) == score))[0, 0].numpy()
    rows, columns = np.nonzero(score >= MIN_SCORE)
    return [
        (score[row, column], (column + 0.5) * network.STRIDE, (row + 0.5) * network.STRIDE)
        for row, column in zip(rows, columns)
    ]


def false_alarms(model, photo):
    """Places (x, y) of the photo, the most certain first."""
    found = []
    everything = np.vstack([photo.boxes, photo.ignored])
    for factor, image in levels_to_search(photo):
        for score, x, y in search(model, image):
            place = (x / factor, y / factor)
            length = photo.car_px(*place) * factor / data.CAR_PX
            if SIZES[0] <= length <= SIZES[1] and not is_near_a_vehicle(*place, everything):
                found.append((score, place))
    found.sort(key=lambda one: -one[0])
    return [place for _, place in found[:PER_PHOTO]]
