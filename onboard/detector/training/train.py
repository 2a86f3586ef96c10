"""Trains the vehicle detector and writes its ONNX file.

    OMP_WAIT_POLICY=PASSIVE /usr/bin/python3 train.py --vehicles DIR [--renders DIR ...]
        [--without-vehicles DIR:CAR_PX ...] --out model.onnx

Needs Debian's python3-torch, python3-numpy and python3-pil. Seeds are fixed: on one kind of
machine with one thread the same command gives the same file.
"""

import argparse
import copy
import math
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import data
import mining
import network
import targets

BATCH = 16
GREY_SHARE = 0.1
# How often a crop comes from real photos, rendered ones, and photos without vehicles.
KIT_SHARE, RENDERED_SHARE, WITHOUT_SHARE = 0.4, 0.5, 0.1
# After these shares of the steps the network's false alarms are collected; from then on so many
# crops are drawn around one.
MINED_AFTER = (0.2, 0.4, 0.6, 0.8)
HARD_SHARE = 0.3
# What the product is told: the length of a car at which average precision is highest on rendered
# scenes that were not trained on (longer than the middle of the training), lengths that lose less
# than 0.03 of it, and the score of the best F1 there.
BEST_CAR_PX, CAR_PX_RANGE, SCORE_THRESHOLD = 38.0, (24.0, 48.0), 0.5
# Standard deviation of the corners along x and along y there, as a share of the long side.
CORNER_SIGMA = 0.04
WARM_UP_STEPS = 60
PEAK_RATE = 3e-3
WEIGHT_DECAY = 1e-4
AVERAGE_DECAY = 0.998
BOX_LOSS_WEIGHT = 1.0
ANGLE_LOSS_WEIGHT = 1.5


def focal_loss(heat, wanted, weight):
    """CenterNet's penalty-reduced focal loss, per vehicle."""
    p = torch.sigmoid(heat).clamp(1e-4, 1 - 1e-4)
    positive = (wanted == 1.0).float() * weight
    hit = torch.log(p) * (1 - p) ** 2 * positive
    miss = torch.log(1 - p) * p**2 * (1 - wanted) ** 4 * (1 - positive) * weight
    return -(hit.sum() + miss.sum()) / positive.sum().clamp(min=8.0)


def box_loss(maps, wanted, weight):
    each = F.smooth_l1_loss(maps, wanted, reduction="none", beta=0.1)
    channel_weight = torch.ones(1, 6, 1, 1)
    channel_weight[:, network.ANGLE] = ANGLE_LOSS_WEIGHT
    total = (each * channel_weight * weight[:, None]).sum()
    return total / weight.sum().clamp(min=4.0)


class Sampler:
    """Draws batches: a group by its share, then a photo of it, then a crop."""

    def __init__(self, groups, seed):
        self.groups = [(share, photos) for share, photos in groups if photos]
        total = sum(share for share, _ in self.groups)
        self.shares = [share / total for share, _ in self.groups]
        self.rng = np.random.default_rng(seed)
        self.hard = [[] for _ in self.groups]

    def mine(self, model):
        """Collects what the model takes for vehicles though it is none."""
        self.hard = [
            [(photo, place) for photo in photos for place in mining.false_alarms(model, photo)]
            for _, photos in self.groups
        ]
        return [len(places) for places in self.hard]

    def draw(self):
        group = self.rng.choice(len(self.groups), p=self.shares)
        hard = self.hard[group]
        if hard and self.rng.random() < HARD_SHARE:
            return data.draw_crop(self.rng, *hard[self.rng.integers(len(hard))])
        photos = self.groups[group][1]
        return data.draw_crop(self.rng, photos[self.rng.integers(len(photos))])

    def batch(self):
        """Pictures [B, 3, H, W] in 0..1, then heat, heat weight, maps and map weight."""
        columns = [[], [], [], [], []]
        for _ in range(BATCH):
            image, boxes, ignored = self.draw()
            built = targets.build(boxes, ignored, data.CROP_PX)
            for column, value in zip(columns, (np.asarray(image), *built)):
                column.append(value)
        pictures, *wanted = (torch.from_numpy(np.stack(column)) for column in columns)
        return change_light(self.rng, pictures), *wanted


def change_light(rng, pictures):
    """Exposure, contrast, colour, gamma, noise, and now and then grey, each picture its own way:
    uint8 [B, H, W, 3] to float32 [B, 3, H, W] in 0..1, channels last in memory."""

    def uniform(low, high, *shape):
        size = (len(pictures), *shape) + (1,) * (3 - len(shape))
        return torch.from_numpy(rng.uniform(low, high, size).astype(np.float32))

    x = pictures.float().div_(255.0)
    saturation = uniform(0.5, 1.5)
    saturation[torch.from_numpy(rng.random(len(pictures)) < GREY_SHARE)] = 0.0
    grey = x.mean(3, keepdim=True)
    gain = torch.from_numpy(rng.uniform(0.9, 1.1, (len(pictures), 1, 1, 3)).astype(np.float32))
    x.sub_(grey).mul_(saturation).add_(grey).mul_(gain)
    mean = x.mean((1, 2, 3), keepdim=True)
    x.sub_(mean).mul_(uniform(0.6, 1.4)).add_(mean + uniform(-0.15, 0.15))
    x.clamp_(0.0, 1.0).pow_(uniform(0.7, 1.4))
    x.add_(torch.randn(x.shape).mul_(uniform(-0.04, 0.04).clamp_(min=0.0)))
    return x.clamp_(0.0, 1.0).permute(0, 3, 1, 2)


def rate_at(step, steps):
    if step < WARM_UP_STEPS:
        return PEAK_RATE * (step + 1) / WARM_UP_STEPS
    return PEAK_RATE * 0.5 * (1 + math.cos(math.pi * step / steps)) + 1e-5


def train(sampler, steps, widths, head, seed):
    torch.manual_seed(seed)
    model = network.Network(widths, head).to(memory_format=torch.channels_last)
    averaged = copy.deepcopy(model).eval()
    print(f"{sum(p.numel() for p in model.parameters())} parameters", flush=True)
    optimiser = torch.optim.AdamW(model.parameters(), PEAK_RATE, weight_decay=WEIGHT_DECAY)
    started, recent = time.process_time(), []
    model.train()
    mined_after = {round(share * steps) for share in MINED_AFTER}
    for step in range(steps):
        if step in mined_after:
            print(f"false alarms per group: {sampler.mine(averaged)}", flush=True)
        for group in optimiser.param_groups:
            group["lr"] = rate_at(step, steps)
        images, heat, weight, maps, map_weight = sampler.batch()
        images = images.contiguous(memory_format=torch.channels_last)
        # Half the time of full precision on processors that have it, and no worse.
        with torch.cpu.amp.autocast(dtype=torch.bfloat16):
            heat_out, maps_out = model(images)
        loss_heat = focal_loss(heat_out[:, 0].float(), heat, weight)
        loss_box = box_loss(maps_out.float(), maps, map_weight)
        loss = loss_heat + BOX_LOSS_WEIGHT * loss_box
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimiser.step()
        average(averaged, model, min(AVERAGE_DECAY, (step + 1) / (step + 10)))
        recent.append((loss_heat.item(), loss_box.item()))
        if (step + 1) % 50 == 0:
            heat_mean, box_mean = np.mean(recent, 0)
            cpu = time.process_time() - started
            print(f"step {step + 1} heat {heat_mean:.3f} box {box_mean:.3f} cpu {cpu:.0f} s", flush=True)
            recent = []
    return averaged


def average(averaged, model, decay):
    with torch.no_grad():
        for mean, now in zip(averaged.state_dict().values(), model.state_dict().values()):
            if mean.dtype.is_floating_point:
                mean.mul_(decay).add_(now, alpha=1 - decay)
            else:
                mean.copy_(now)


def read_groups(arguments):
    kit = sorted(p for p in Path(arguments.vehicles).glob("M*.png"))
    groups = [(KIT_SHARE, [data.read_horizontal(path) for path in kit])]
    rendered = []
    for folder in arguments.renders:
        for truth in sorted(Path(folder).glob("training-*/truth.json")):
            rendered += data.read_rendered(truth.parent)
    groups.append((RENDERED_SHARE, rendered))
    without = []
    for entry in arguments.without_vehicles:
        folder, car_px = entry.rsplit(":", 1)
        paths = sorted(p for p in Path(folder).iterdir() if p.suffix.lower() in (".jpg", ".png"))
        without += [data.read_without_vehicles(path, float(car_px)) for path in paths]
    groups.append((WITHOUT_SHARE, without))
    return groups


def metadata(photos, steps):
    return {
        "description": "Overlook vehicle detector (oriented boxes)",
        "task": "obb",
        "names": "{0: 'vehicle'}",
        "stride": str(network.INPUT_MULTIPLE),
        "channels": "3",
        "license": "Apache-2.0 OR MIT; trained in part on KIT AIS (CC BY 3.0), see the model card",
        "overlook_best_car_px": f"{BEST_CAR_PX:g}",
        "overlook_car_px_range": "[{:g}, {:g}]".format(*CAR_PX_RANGE),
        "overlook_score_threshold": f"{SCORE_THRESHOLD:g}",
        "overlook_corner_sigma": f"{CORNER_SIGMA:g}",
        "overlook_training_data_sha256": data.data_digest(photos),
        "overlook_training_photos": str(len(photos)),
        "overlook_training_steps": str(steps),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vehicles", required=True, help="folder with the KIT AIS photos and labels")
    parser.add_argument("--renders", action="append", default=[], help="folder that renders.py filled")
    parser.add_argument("--without-vehicles", action="append", default=[], metavar="DIR:CAR_PX")
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=7200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--widths", type=int, nargs=4, default=(16, 32, 48, 80))
    parser.add_argument("--head", type=int, default=32)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    groups = read_groups(arguments)
    photos = [photo for _, group in groups for photo in group]
    for share, group in groups:
        print(f"share {share}: {len(group)} photos, {sum(len(p.boxes) for p in group)} boxes", flush=True)
    model = train(Sampler(groups, arguments.seed), arguments.steps, arguments.widths, arguments.head, arguments.seed)
    torch.save(model.state_dict(), Path(arguments.out).with_suffix(".pt"))
    network.export(model, arguments.out, metadata(photos, arguments.steps))
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
