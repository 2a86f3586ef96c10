"""What the network should answer for a crop: heat map, regression maps and their weights."""

import math

import numpy as np

from network import REFERENCE_PX, STRIDE

# Standard deviations of the heat map's rotated bell, as shares of the box's sides, in cells at
# least MIN_SIGMA: small enough that cars parked side by side keep separate peaks.
SIGMA_LONG, SIGMA_SHORT, MIN_SIGMA = 0.14, 0.16, 0.55
# Cells with a bell value above this also learn the box: a peak one cell off still decodes.
REGRESSED_FROM = 0.5
# Boxes shorter than this in the crop are ignored rather than asked for.
SMALLEST_PX = 9.0


def window_of(box, reach_px, cells):
    """Rows and columns of the cells around a box, as slices."""
    def along(centre):
        first = math.floor((centre - reach_px) / STRIDE - 0.5)
        last = math.ceil((centre + reach_px) / STRIDE - 0.5) + 1
        return slice(min(max(first, 0), cells), min(max(last, 0), cells))

    return along(box[1]), along(box[0])


def in_box_frame(window, box):
    """Coordinates along and across a box, in cells, of the centres of a window's cells."""
    dx = np.arange(window[1].start, window[1].stop) - (box[0] / STRIDE - 0.5)
    dy = (np.arange(window[0].start, window[0].stop) - (box[1] / STRIDE - 0.5))[:, None]
    c, s = np.cos(box[4]), np.sin(box[4])
    return dx * c + dy * s, dy * c - dx * s, dx, dy


def build(boxes, ignored, crop_px):
    """heat [C, C], heat weight [C, C], maps [6, C, C], map weight [C, C] with C = crop / stride."""
    cells = crop_px // STRIDE
    heat = np.zeros((cells, cells), np.float32)
    weight = np.ones((cells, cells), np.float32)
    maps = np.zeros((6, cells, cells), np.float32)
    map_weight = np.zeros((cells, cells), np.float32)
    small = boxes[:, 2] < SMALLEST_PX
    for box in np.vstack([ignored, boxes[small]]):
        window = window_of(box, box[2], cells)
        u, v, _, _ = in_box_frame(window, box)
        inside = (np.abs(u) <= box[2] / STRIDE / 2 + 0.5) & (np.abs(v) <= box[3] / STRIDE / 2 + 0.5)
        weight[window][inside] = 0.0
    for box in boxes[~small]:
        if 0 <= box[0] < crop_px and 0 <= box[1] < crop_px:
            add_vehicle(box, heat, weight, maps, map_weight)
    return heat, weight, maps, map_weight


def add_vehicle(box, heat, weight, maps, map_weight):
    cells = heat.shape[0]
    window = window_of(box, max(box[2], 4 * STRIDE), cells)
    u, v, dx, dy = in_box_frame(window, box)
    sigma_u = max(SIGMA_LONG * box[2] / STRIDE, MIN_SIGMA)
    sigma_v = max(SIGMA_SHORT * box[3] / STRIDE, MIN_SIGMA)
    bell = np.exp(-0.5 * ((u / sigma_u) ** 2 + (v / sigma_v) ** 2)).astype(np.float32)
    column, row = int(box[0] / STRIDE), int(box[1] / STRIDE)
    bell[row - window[0].start, column - window[1].start] = 1.0
    mine = (bell > REGRESSED_FROM) & (bell > heat[window])
    heat[window] = np.maximum(heat[window], bell)
    weight[row, column] = 1.0
    rows, columns = np.nonzero(mine)
    here = (rows + window[0].start, columns + window[1].start)
    maps[0][here] = -dx[columns]
    maps[1][here] = -dy[rows, 0]
    maps[2][here] = math.log(box[2] / REFERENCE_PX)
    maps[3][here] = math.log(max(box[3], 1.0) / REFERENCE_PX)
    maps[4][here] = math.cos(2 * box[4])
    maps[5][here] = math.sin(2 * box[4])
    map_weight[here] = bell[rows, columns]
