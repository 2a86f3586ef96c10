"""Renders the scenes that the detector is trained on, and others that it is tried on.

    python3 renders.py --simulator PATH --out DIR [--set training|trial] [--scenes N]

The scenes follow from their numbers alone, so the same simulator gives the same photos.
"""

import argparse
import subprocess
from pathlib import Path

FIRST_SEED = {"training": 5001, "trial": 2001}
PHOTOS = 10
SIZE = "1600x1200"
HEIGHTS = ("20,40,70", "30,60,100", "25,50,120", "45,80", "20,30,60", "35,90")
PITCHES = ("30,60,90", "25,45,75", "35,60,90", "30,40,50", "45,90", "20,35,70", "60,75,90")
# Some places are nearly empty: most of what a photo shows is no vehicle.
CARS = (60, 45, 22, 55, 38)
SPACING = (2.5, 2.7, 3.0, 2.5, 4.0)
TRIAL = {"heights": "20,40,60,80,100,120", "pitches": "30,45,60,90"}


def arguments_for(kind, index):
    seed = FIRST_SEED[kind] + index
    heights, pitches = HEIGHTS[index % len(HEIGHTS)], PITCHES[index % len(PITCHES)]
    photos = PHOTOS
    if kind == "trial":
        heights, pitches, photos = TRIAL["heights"], TRIAL["pitches"], 2 * PHOTOS
    return seed, [
        "--seed", str(seed), "--photos", str(photos), "--size", SIZE,
        "--heights", heights, "--pitches", pitches,
        "--cars", str(CARS[index % len(CARS)]), "--spacing", str(SPACING[index % len(SPACING)]),
    ]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulator", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--set", choices=sorted(FIRST_SEED), default="training", dest="kind")
    parser.add_argument("--scenes", type=int, default=64)
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    for index in range(arguments.scenes):
        seed, options = arguments_for(arguments.kind, index)
        out = Path(arguments.out) / f"{arguments.kind}-{seed}"
        if (out / "truth.json").exists():
            continue
        command = [arguments.simulator, "render", "--out", str(out), "--threads", str(arguments.threads)]
        subprocess.run(command + options, check=True)


if __name__ == "__main__":
    main()
