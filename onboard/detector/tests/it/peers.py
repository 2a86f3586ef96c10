"""Exports real oriented YOLO models and writes what Ultralytics' own code finds with them.

    PYTHON peers.py FOLDER WEIGHTS PHOTO...
    PYTHON peers.py --export WEIGHTS.pt MODEL.onnx

Needs an installed ultralytics; WEIGHTS is a folder with *-obb.pt files. Everything is written to
FOLDER: crops of the photos as PNG, the exports, and cases.json. Crops have the network's size, so
both sides see the same tensor to the bit.
"""

import json
import shutil
import sys
from pathlib import Path

import ultralytics
from PIL import Image

SIDE = 1024
MIN_SCORE, MAX_PROBIOU = 0.25, 0.7
VEHICLES = ("large vehicle", "small vehicle")


def crops(folder, photos):
    for path in photos:
        photo = Image.open(path).convert("RGB")
        # Cars of about 40 px, as these models like them.
        photo = photo.resize((photo.width * 2 // 5, photo.height * 2 // 5), Image.BOX)
        for index, left in enumerate((0, photo.width - SIDE)):
            target = Path(folder) / f"{Path(path).stem}-{index}.png"
            canvas = Image.new("RGB", (SIDE, SIDE), (114, 114, 114))
            canvas.paste(photo.crop((left, 0, left + SIDE, min(photo.height, SIDE))), (0, 0))
            canvas.save(target)
            yield target


def expected(model, picture):
    names = model.names
    classes = [index for index, name in names.items() if name in VEHICLES]
    result = model.predict(
        str(picture), imgsz=SIDE, conf=MIN_SCORE, iou=MAX_PROBIOU, classes=classes, agnostic_nms=True,
        max_det=1000, verbose=False, device="cpu",
    )[0].obb  # fmt: skip
    return [
        {"corners": corners.tolist(), "score": float(score)}
        for corners, score in zip(result.xyxyxyxy.cpu().numpy(), result.conf.cpu().numpy())
    ]


def export(weights, target):
    """A model for pictures of any size, doubles left in."""
    copy = Path(target).with_suffix(".pt")
    shutil.copy(weights, copy)
    exported = ultralytics.YOLO(str(copy)).export(
        format="onnx", imgsz=SIDE, opset=14, simplify=False, dynamic=True
    )
    copy.unlink()
    Path(exported).replace(target)


def main():
    if sys.argv[1] == "--export":
        return export(*sys.argv[2:])
    folder, weights, *photos = sys.argv[1:]
    pictures = list(crops(folder, photos))
    cases = []
    for path in sorted(Path(weights).glob("yolo*-obb.pt")):
        for name, options in (("static", {}), ("dynamic", {"dynamic": True}), ("nms", {"nms": True})):
            copy = Path(folder) / f"{path.stem}-{name}.pt"
            shutil.copy(path, copy)
            try:
                exported = ultralytics.YOLO(str(copy)).export(
                    format="onnx", imgsz=SIDE, opset=14, simplify=False, conf=MIN_SCORE, iou=MAX_PROBIOU,
                    max_det=1000, agnostic_nms=True, **options,
                )  # fmt: skip
            except Exception as error:
                print(f"not exported: {copy.name}: {error}", file=sys.stderr)
                continue
            model = ultralytics.YOLO(exported, task="obb")
            for picture in pictures:
                boxes = expected(model, picture)
                cases.append({"model": Path(exported).name, "picture": picture.name, "boxes": boxes})
    (Path(folder) / "cases.json").write_text(json.dumps({"version": ultralytics.__version__, "cases": cases}))


if __name__ == "__main__":
    main()
