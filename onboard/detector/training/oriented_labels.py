"""Oriented boxes from horizontal ones: turn a box inside its hull until its edges meet image edges.

For an angle t and an aspect ratio a = w / l the hull (W, H) of an l x w box fixes l, so the search
is over t and a only. A candidate's score is the mean luminance step across its four sides minus a
penalty for not fitting the hull. Not for boxes cut by the image border.
"""

import numpy as np

ANGLES = np.deg2rad(np.arange(-90, 90, 3))
SAMPLES = 9
# How far inside and outside of a side the luminance is compared, as a share of the box's width.
STEP_SHARE = 0.12
HULL_PENALTY = 6.0
ASPECT_PENALTY = 3.0
CAR_ASPECT = 0.42
BUS_ASPECT = 0.25
# Hulls longer than this many car lengths belong to buses and trucks.
LONG_CARS = 1.6


def bilinear(image, x, y):
    """Values of a [H, W] image at pixel-index coordinates, border pixels repeated."""
    height, width = image.shape
    x = np.clip(x, 0, width - 1.001)
    y = np.clip(y, 0, height - 1.001)
    column, row = x.astype(int), y.astype(int)
    fx, fy = x - column, y - row
    top = image[row, column] * (1 - fx) + image[row, column + 1] * fx
    bottom = image[row + 1, column] * (1 - fx) + image[row + 1, column + 1] * fx
    return top * (1 - fy) + bottom * fy


def candidates(width, height, angles, aspects):
    """Long side for each (angle, aspect) by least squares on the hull, and the relative misfit."""
    t, a = np.meshgrid(angles, aspects, indexing="ij")
    t, a = t.ravel(), a.ravel()
    across = np.abs(np.cos(t)) + a * np.abs(np.sin(t))
    down = np.abs(np.sin(t)) + a * np.abs(np.cos(t))
    length = (across * width + down * height) / (across**2 + down**2)
    misfit = np.hypot(across * length - width, down * length - height) / np.hypot(width, height)
    return t, a, length, misfit


def step_across_sides(grey, cx, cy, t, length, short):
    """Mean absolute luminance step across the four sides, for arrays of candidates."""
    along = np.stack([np.cos(t), np.sin(t)], -1)
    across = np.stack([-np.sin(t), np.cos(t)], -1)
    step = (STEP_SHARE * short)[:, None]
    u = np.linspace(-0.8, 0.8, SAMPLES)
    total = 0.0
    for direction, half_here, other, half_other in (
        (along, length / 2, across, short / 2),
        (across, short / 2, along, length / 2),
    ):
        for sign in (-1.0, 1.0):
            side = other[:, None, :] * (u[None, :, None] * half_other[:, None, None])
            outer = direction[:, None, :] * (sign * (half_here[:, None] + step))[..., None] + side
            inner = direction[:, None, :] * (sign * (half_here[:, None] - step))[..., None] + side
            there = bilinear(grey, cx + outer[..., 0], cy + outer[..., 1])
            here = bilinear(grey, cx + inner[..., 0], cy + inner[..., 1])
            total = total + np.abs(here - there).mean(1)
    return total / 4


def oriented_from_horizontal(grey, box, car_px):
    """(cx, cy, long, short, angle) in pixel-index coordinates for a horizontal box (x1, y1, x2, y2)
    of a float luminance image; `car_px` is the usual length of a car in this image."""
    x1, y1, x2, y2 = box
    width, height = x2 - x1, y2 - y1
    cx, cy = (x1 + x2) / 2 - 0.5, (y1 + y2) / 2 - 0.5
    prior = BUS_ASPECT if max(width, height) > LONG_CARS * car_px else CAR_ASPECT
    aspects = prior * np.linspace(0.75, 1.35, 9)
    patch = grey[max(int(y1), 0) : int(y2) + 1, max(int(x1), 0) : int(x2) + 1]
    contrast = patch.std() + 1.0

    def best(angles, aspects):
        t, a, length, misfit = candidates(width, height, angles, aspects)
        score = step_across_sides(grey, cx, cy, t, length, a * length) / contrast
        score = score - HULL_PENALTY * misfit**2 * 10 - ASPECT_PENALTY * np.log(a / prior) ** 2
        i = int(np.argmax(score))
        return t[i], a[i], length[i]

    t, a, _ = best(ANGLES, aspects)
    fine = t + np.deg2rad(np.arange(-2.5, 3.0, 0.5))
    t, a, length = best(fine, np.clip(a * np.linspace(0.92, 1.08, 5), 0.12, 0.8))
    return np.array([cx, cy, length, a * length, t])
