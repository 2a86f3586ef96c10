"""Painted things that are no vehicles: markings, window fronts and shadows, drawn into training crops.

Roads of the world hold more of them than any set of free photos.
"""

import math

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

# Painted at this multiple of the crop's size and reduced, so that edges are smooth.
FINER = 2
MARKED_SHARE, SHADED_SHARE = 0.35, 0.25
TEXTS = ("50", "30", "60", "P", "BUS", "STOP", "TAXI", "8", "20", "A1", "ONLY")
PAINTS = ((240, 240, 235), (240, 240, 235), (225, 190, 60), (190, 70, 60), (90, 150, 200))


def corners(box, grow=1.0):
    along = np.array([math.cos(box[4]), math.sin(box[4])]) * box[2] / 2 * grow
    across = np.array([-math.sin(box[4]), math.cos(box[4])]) * box[3] / 2 * grow
    return [box[:2] + a * along + b * across for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


class Brush:
    """Draws in a frame that is turned and moved; lengths in crop pixels."""

    def __init__(self, draw, place, angle):
        self.draw, self.place = draw, np.asarray(place)
        c, s = math.cos(angle), math.sin(angle)
        self.turn = np.array([[c, -s], [s, c]])

    def shape(self, points, fill):
        moved = (np.asarray(points) @ self.turn.T + self.place) * FINER
        self.draw.polygon([tuple(point) for point in moved], fill=fill)

    def bar(self, x, y, length, width, fill):
        a, b = length / 2, width / 2
        self.shape([(x - a, y - b), (x + a, y - b), (x + a, y + b), (x - a, y + b)], fill)


def crossing(rng, brush, reach, fill):
    width, length = rng.uniform(2.0, 4.5), rng.uniform(0.5, 1.2) * reach
    for y in np.arange(-reach, reach, width * rng.uniform(1.7, 2.2)):
        brush.bar(0, y, length, width, fill)


def dashes(rng, brush, reach, fill):
    length, width = rng.uniform(6, 22), rng.uniform(1.0, 2.4)
    for row in range(rng.integers(1, 4)):
        for x in np.arange(-reach, reach, length * rng.uniform(1.5, 2.5)):
            brush.bar(x, row * rng.uniform(4, 12), length, width, fill)


def arrow(rng, brush, reach, fill):
    head, width = 0.35 * reach, rng.uniform(1.5, 3.0)
    brush.bar(0, 0, 2 * reach - head, width, fill)
    brush.shape([(reach - head, -head / 2), (reach, 0), (reach - head, head / 2)], fill)


def frames(rng, brush, reach, fill):
    aspect, line = rng.uniform(0.3, 1.0), rng.uniform(1.0, 2.0)
    for share in np.linspace(1.0, 0.3, rng.integers(1, 4)):
        a, b = reach * share, reach * share * aspect
        for y in (-b, b):
            brush.bar(0, y, 2 * a, line, fill)
        for x in (-a, a):
            brush.bar(x, 0, line, 2 * b, fill)


def windows(rng, brush, reach, fill):
    wall = tuple(rng.integers(60, 245, 3)) + (255,)
    glass = tuple(rng.integers(10, 120, 3)) + (255,)
    if rng.random() < 0.3:
        glass = tuple(rng.integers(170, 255, 3)) + (255,)
    if rng.random() < 0.7:
        brush.bar(0, 0, 2.2 * reach, 2.2 * reach, wall)
    width, height = rng.uniform(4, 20), rng.uniform(3, 14)
    for x in np.arange(-reach, reach, width * rng.uniform(1.3, 2.2)):
        for y in np.arange(-reach, reach, height * rng.uniform(1.4, 2.5)):
            brush.bar(x, y, width, height, glass)


def shadow(rng, brush, reach, fill):
    dark, slant = (0, 0, 0, int(rng.uniform(70, 170))), rng.uniform(-0.4, 0.4)
    a, b = reach * rng.uniform(0.4, 1.0), reach * rng.uniform(0.2, 0.5)
    brush.shape([(-a, -b), (a, -b), (a + slant * b, b), (-a + slant * b, b)], dark)


KINDS = (crossing, dashes, arrow, frames, windows, shadow)


def lettering(rng, layer, place, fill):
    text = TEXTS[rng.integers(len(TEXTS))]
    font = ImageFont.load_default()
    left, top, right, bottom = font.getbbox(text)
    glyphs = Image.new("L", (right, bottom), 0)
    ImageDraw.Draw(glyphs).text((0, 0), text, font=font, fill=255)
    size = (int(rng.uniform(10, 40) * FINER), int(rng.uniform(12, 36) * FINER))
    glyphs = glyphs.resize(size, Image.BICUBIC).rotate(rng.uniform(0, 360), expand=True)
    corner = (int(place[0] * FINER - glyphs.width / 2), int(place[1] * FINER - glyphs.height / 2))
    layer.paste(fill, corner, glyphs)


def free_place(rng, boxes, size, reach):
    for _ in range(4):
        place = rng.uniform(0, size, 2)
        apart = np.hypot(boxes[:, 0] - place[0], boxes[:, 1] - place[1]) - boxes[:, 2] / 2
        if not len(boxes) or apart.min() > 1.3 * reach:
            return place
    return None


def add_markings(rng, image, boxes):
    """Some painted things where no vehicle is; `boxes` are all that must stay free."""
    size = image.width
    layer = Image.new("RGBA", (size * FINER, size * FINER), (0, 0, 0, 0))
    draw = ImageDraw.Draw(layer)
    for _ in range(rng.integers(1, 5)):
        reach = rng.uniform(8, 45)
        place = free_place(rng, boxes, size, reach)
        if place is None:
            continue
        fill = PAINTS[rng.integers(len(PAINTS))] + (int(rng.uniform(120, 250)),)
        kind = rng.integers(len(KINDS) + 1)
        if kind == len(KINDS):
            lettering(rng, layer, place, fill)
        else:
            KINDS[kind](rng, Brush(draw, place, rng.uniform(0, math.pi)), reach, fill)
    layer = layer.resize(image.size, Image.BOX)
    return Image.alpha_composite(image.convert("RGBA"), layer).convert("RGB")


def add_shadows(rng, image, boxes):
    """A cast shadow beside every vehicle, all in one direction."""
    size = image.width * FINER
    mask = Image.new("L", (size, size), 0)
    draw = ImageDraw.Draw(mask)
    direction = rng.uniform(0, 2 * math.pi)
    length = rng.uniform(0.2, 0.7)
    for box in boxes:
        shift = np.array([math.cos(direction), math.sin(direction)]) * box[3] * length * 1.5
        near = corners(box)
        far = [point + shift for point in near]
        parts = [far] + [[near[i], near[i - 1], far[i - 1], far[i]] for i in range(4)]
        for part in parts:
            draw.polygon([tuple(point * FINER) for point in part], fill=255)
    for box in boxes:
        draw.polygon([tuple(point * FINER) for point in corners(box, 0.96)], fill=0)
    mask = mask.resize(image.size, Image.BOX).filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 0.8)))
    dark = image.point(lambda level, share=rng.uniform(0.3, 0.65): int(level * share))
    return Image.composite(dark, image, mask)


def add(rng, image, boxes, ignored, oblique):
    """What a crop gets of all this; seen from low, painted flat things would not lie on the ground."""
    if not oblique and len(boxes) and rng.random() < SHADED_SHARE:
        image = add_shadows(rng, image, boxes)
    if rng.random() < MARKED_SHARE:
        image = add_markings(rng, image, np.vstack([boxes, ignored]))
    return image
