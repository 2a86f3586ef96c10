"""What the network should answer for a crop: heat map, regression maps and their weights."""

import numpy as np

from network import REFERENCE_PX, STRIDE

# Standard deviations of the heat map's rotated bell, as shares of the box's sides, in cells at
# least MIN_SIGMA: small enough that cars parked side by side keep separate peaks.
SIGMA_LONG, SIGMA_SHORT, MIN_SIGMA = 0.14, 0.16, 0.55
# Cells with a bell value above this also learn the box: a peak one cell off still decodes.
REGRESSED_FROM = 0.5
# Boxes shorter than this in the crop are ignored rather than asked for.
SMALLEST_PX = 9.0


def cell_grid(cells):
    at = np.arange(cells, dtype=np.float32)
    return np.meshgrid(at, at)


def in_box_frame(columns, rows, box):
    """Coordinates along and across a box, in cells, of every cell's centre."""
    cx, cy = box[0] / STRIDE - 0.5, box[1] / STRIDE - 0.5
    dx, dy = columns - cx, rows - cy
    c, s = np.cos(box[4]), np.sin(box[4])
    return dx * c + dy * s, dy * c - dx * s, cx, cy


def build(boxes, ignored, crop_px):
    """heat [C, C], heat weight [C, C], maps [6, C, C], map weight [C, C] with C = crop / stride."""
    cells = crop_px // STRIDE
    columns, rows = cell_grid(cells)
    heat = np.zeros((cells, cells), np.float32)
    weight = np.ones((cells, cells), np.float32)
    maps = np.zeros((6, cells, cells), np.float32)
    map_weight = np.zeros((cells, cells), np.float32)
    small = boxes[:, 2] < SMALLEST_PX
    near = np.vstack([ignored, boxes[small]])
    reach = near[:, 2]
    near = near[
        (near[:, 0] > -reach) & (near[:, 1] > -reach)
        & (near[:, 0] < crop_px + reach) & (near[:, 1] < crop_px + reach)
    ]  # fmt: skip
    for box in near:
        u, v, _, _ = in_box_frame(columns, rows, box)
        inside = (np.abs(u) <= box[2] / STRIDE / 2 + 0.5) & (np.abs(v) <= box[3] / STRIDE / 2 + 0.5)
        weight[inside] = 0.0
    for box in boxes[~small]:
        if not (0 <= box[0] < crop_px and 0 <= box[1] < crop_px):
            continue
        u, v, cx, cy = in_box_frame(columns, rows, box)
        sigma_u = max(SIGMA_LONG * box[2] / STRIDE, MIN_SIGMA)
        sigma_v = max(SIGMA_SHORT * box[3] / STRIDE, MIN_SIGMA)
        bell = np.exp(-0.5 * ((u / sigma_u) ** 2 + (v / sigma_v) ** 2)).astype(np.float32)
        column = int(np.clip(round(cx), 0, cells - 1))
        row = int(np.clip(round(cy), 0, cells - 1))
        bell[row, column] = 1.0
        mine = (bell > REGRESSED_FROM) & (bell > heat)
        heat = np.maximum(heat, bell)
        weight[row, column] = 1.0
        maps[0][mine] = (cx - columns)[mine]
        maps[1][mine] = (cy - rows)[mine]
        maps[2][mine] = np.log(box[2] / REFERENCE_PX)
        maps[3][mine] = np.log(max(box[3], 1.0) / REFERENCE_PX)
        maps[4][mine] = np.cos(2 * box[4])
        maps[5][mine] = np.sin(2 * box[4])
        map_weight[mine] = bell[mine]
    return heat, weight, maps, map_weight
