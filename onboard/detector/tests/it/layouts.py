"""Builds ONNX files of every layout with known answers, and what a NumPy decoder reads from them.

    python3 layouts.py FOLDER    needs: onnx numpy

Writes FOLDER/<case>.onnx (and side files) and FOLDER/cases.json. The networks ignore the picture:
their output is a constant plus nothing times the picture's mean, so the answer is known to the bit.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DOTA = [
    "plane", "ship", "storage tank", "baseball diamond", "tennis court", "basketball court",
    "ground track field", "harbor", "bridge", "large vehicle", "small vehicle", "helicopter",
    "roundabout", "soccer ball field", "swimming pool",
]  # fmt: skip
OURS = {
    "large vehicle": "large_vehicle", "small vehicle": "small_vehicle", "large-vehicle": "large_vehicle",
    "small-vehicle": "small_vehicle", "car": "small_vehicle", "truck": "large_vehicle", "vehicle": "vehicle",
}  # fmt: skip
MIN_SCORE, MAX_IOU = 0.25, 0.3


# The reference: plain loops over a box's corners, nothing shared with the product.
def corners(box):
    x, y, w, h, angle = box
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    flat = np.array([[-w, -h], [w, -h], [w, h], [-w, h]]) / 2
    return flat @ turn.T + [x, y]


def area(polygon):
    x, y = np.asarray(polygon).T
    return abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2


def overlap(a, b):
    polygon, clip = list(corners(a)), corners(b)
    for p, q in zip(clip, np.roll(clip, -1, 0)):
        side = [(q - p)[0] * (v - p)[1] - (q - p)[1] * (v - p)[0] for v in polygon]
        kept = []
        for i, v in enumerate(polygon):
            j = i - 1
            if side[i] * side[j] < 0:
                kept.append(polygon[j] + (v - polygon[j]) * side[j] / (side[j] - side[i]))
            if side[i] >= 0:
                kept.append(v)
        polygon = kept
        if len(polygon) < 3:
            return 0.0
    common = area(polygon)
    return common / (a[2] * a[3] + b[2] * b[3] - common)


def expected(boxes, scores, labels, names):
    """Vehicles in descending score, doubles removed, long side first, angle in [-90, 90)."""
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        if scores[i] < MIN_SCORE or names[labels[i]] not in OURS:
            continue
        box = boxes[i].astype(np.float64)
        if all(overlap(box, other[0]) <= MAX_IOU for other in kept):
            kept.append((box, scores[i], OURS[names[labels[i]]]))
    answer = []
    for (x, y, w, h, angle), score, name in kept:
        if w < h:
            w, h, angle = h, w, angle + np.pi / 2
        degrees = (np.degrees(angle) + 90) % 180 - 90
        answer.append({"x": x, "y": y, "long": w, "short": h, "degrees": degrees, "score": float(score), "class": name})
    return answer


def scattered(rng, count, classes, size, angles, long_first=False):
    """Vehicles on a jittered grid, each several times over, with scores that never tie."""
    across = int(np.ceil(np.sqrt(count)))
    step = size[0] / across, size[1] / across
    boxes, scores, labels = [], [], []
    for i in range(count):
        centre = ((i % across + 0.5) * step[0], (i // across + 0.5) * step[1])
        w, h = rng.uniform(20, 40), rng.uniform(8, 18)
        angle = rng.uniform(*angles)
        if not long_first and rng.random() < 0.4:
            w, h = h, w
        label = rng.integers(classes)
        for _ in range(rng.integers(1, 6)):
            jitter = rng.normal(0, 1.0, 2)
            boxes.append([centre[0] + jitter[0], centre[1] + jitter[1], w, h, angle])
            scores.append(rng.uniform(0.05, 0.95))
            labels.append(label)
    order = rng.permutation(len(boxes))
    return np.array(boxes, np.float32)[order], np.array(scores, np.float32)[order], np.array(labels)[order]


def raw(boxes, scores, labels, classes, anchors, rng):
    """[1, 4 + classes + 1, anchors]; what is not a vehicle is noise with low scores."""
    out = np.zeros((1, classes + 5, anchors), np.float32)
    out[0, :4] = rng.uniform(1, 600, (4, anchors))
    out[0, 4 : 4 + classes] = rng.uniform(0, 0.04, (classes, anchors))
    out[0, -1] = rng.uniform(-0.7, 2.3, anchors)
    at = rng.permutation(anchors)[: len(boxes)]
    out[0, :4, at] = boxes[:, :4]
    out[0, 4 + labels, at] = scores
    out[0, -1, at] = boxes[:, 4]
    return out


def build(path, outputs, shape, metadata=None, declared=None, half=False, opset=17, ir=8, extra=(), declare=True):
    """A network with constant outputs. `outputs`: name -> array; `declared`: name -> stated shape."""
    kind = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    nodes, weights, infos = [], [], []
    nodes.append(helper.make_node("GlobalAveragePool", ["images"], ["pooled"]))
    if half:
        nodes.append(helper.make_node("Cast", ["pooled"], ["pooled32"], to=TensorProto.FLOAT))
    pooled = "pooled32" if half else "pooled"
    weights.append(numpy_helper.from_array(np.array(0.0, np.float32), "zero"))
    nodes.append(helper.make_node("Mul", [pooled, "zero"], ["nothing4"]))
    weights.append(numpy_helper.from_array(np.array([-1], np.int64), "flat"))
    nodes.append(helper.make_node("Reshape", ["nothing4", "flat"], ["nothing_all"]))
    weights.append(numpy_helper.from_array(np.array(0, np.int64), "first"))
    nodes.append(helper.make_node("Gather", ["nothing_all", "first"], ["nothing"], axis=0))
    for name, value in outputs.items():
        weights.append(numpy_helper.from_array(value.astype(np.float32), name + "_values"))
        last = value.dtype != np.float32
        nodes.append(helper.make_node("Add", [name + "_values", "nothing"], [name + "_sum" if last else name]))
        if last:
            to = helper.np_dtype_to_tensor_dtype(value.dtype)
            nodes.append(helper.make_node("Cast", [name + "_sum"], [name], to=to))
        stated = (declared or {}).get(name, list(value.shape))
        infos.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), stated))
    nodes.extend(extra)
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("images", kind, shape)], infos if declare else [], weights
    )
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(n.domain, 1) for n in extra if n.domain]
    model = helper.make_model(graph, opset_imports=imports, ir_version=ir)
    helper.set_model_props(model, {k: str(v) for k, v in (metadata or {}).items()})
    onnx.save(model, path)
    return model


def names_literal(names):
    return "{" + ", ".join(f"{i}: {name!r}" for i, name in enumerate(names)) + "}"


def obb(names, **more):
    return {"task": "obb", "names": names_literal(names), "stride": 32, **more}


class Cases:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.cases = []

    def add(self, name, photo=(640, 640), **what):
        self.cases.append({"name": name, "photo": photo, **what})
        return str(self.folder / f"{name}.onnx")

    def sidecar(self, name, value):
        (self.folder / f"{name}.onnx.json").write_text(json.dumps(value))


def raw_cases(cases, rng):
    quarter = np.pi / 4
    for name, names, shape, photo, anchors, angles, more in [
        ("raw_v8", DOTA, [1, 3, 640, 640], (640, 640), 8400, (-quarter, 3 * quarter), {}),
        ("raw_26_unbounded", DOTA, [1, 3, 640, 640], (640, 640), 8400, (-7.0, 7.0), {"end2end": "False"}),
        ("raw_1024", DOTA, [1, 3, 1024, 1024], (1024, 1024), 21504, (-quarter, 3 * quarter), {}),
        ("raw_480x640", DOTA, [1, 3, 480, 640], (640, 480), 6300, (-quarter, 3 * quarter), {}),
        ("raw_one_class", ["vehicle"], [1, 3, 640, 640], (640, 640), 8400, (-1.5, 1.5), {}),
        ("raw_two_classes", ["car", "truck"], [1, 3, 640, 640], (640, 640), 8400, (-1.5, 1.5), {}),
    ]:
        boxes, scores, labels = scattered(rng, 80, len(names), photo, angles)
        path = cases.add(name, photo, boxes=expected(boxes, scores, labels, names))
        build(path, {"output0": raw(boxes, scores, labels, len(names), anchors, rng)}, shape, obb(names, **more))

    boxes, scores, labels = scattered(rng, 60, 15, (640, 640), (-quarter, 3 * quarter))
    answer = expected(boxes, scores, labels, DOTA)
    value = raw(boxes, scores, labels, 15, 8400, rng)
    free = {"output0": ["batch", 20, "anchors"]}
    shape = ["batch", 3, "height", "width"]
    build(cases.add("raw_dynamic", boxes=answer), {"output0": value}, shape, obb(DOTA), free)
    unknown = {"output0": ["a", "b", "c"]}
    build(cases.add("raw_shape_not_stated", boxes=answer), {"output0": value}, shape, obb(DOTA), unknown)
    build(cases.add("raw_opset12", boxes=answer), {"output0": value}, [1, 3, 640, 640], obb(DOTA), opset=12, ir=7)
    build(cases.add("raw_opset9", boxes=answer), {"output0": value}, [1, 3, 640, 640], obb(DOTA), opset=9, ir=4)
    two = np.concatenate([value, np.zeros_like(value)])
    build(cases.add("raw_batch_of_two", boxes=answer), {"output0": two}, [2, 3, 640, 640], obb(DOTA))
    # Halves: the reference reads the rounded numbers.
    rounded = value.astype(np.float16)
    at = np.flatnonzero(rounded[0, 4:19].max(0) >= 0.05)
    labels = rounded[0, 4:19, at].argmax(1)
    scores = rounded[0, 4:19, at].max(1).astype(np.float32)
    boxes = rounded[0][[0, 1, 2, 3, 19]][:, at].T.astype(np.float32)
    answer = expected(boxes, scores, labels, DOTA)
    build(cases.add("raw_half", boxes=answer), {"output0": rounded}, [1, 3, 640, 640], obb(DOTA), half=True)


def row_cases(cases, rng):
    for name, limit, count, angles, more in [
        ("rows_suppressed", 300, 120, (-0.78, 2.35), {"end2end": "False", "args": "{'nms': True}"}),
        ("rows_end_to_end", 300, 90, (-0.71, 0.82), {"end2end": "True", "args": "{'nms': None}"}),
        ("rows_full", 100, 100, (-0.78, 2.35), {}),
    ]:
        boxes, scores, labels = scattered(rng, count, 15, (640, 640), angles)
        best = np.argsort(-scores)[:limit]
        boxes, scores, labels = boxes[best], scores[best], labels[best]
        out = np.zeros((1, limit, 7), np.float32)
        # Unused rows hold real boxes with the score 0.
        out[0, :, :4] = [300, 300, 40, 20]
        out[0, : len(boxes)] = np.column_stack([boxes[:, :4], scores, labels, boxes[:, 4]])
        hit = limit if len(boxes) == limit else None
        path = cases.add(name, boxes=expected(boxes, scores, labels, DOTA), limit_hit=hit)
        build(path, {"output0": out}, [1, 3, 640, 640], obb(DOTA, **more))
    empty = np.zeros((1, 300, 7), np.float32)
    empty[0, :, :4] = [300, 300, 40, 20]
    build(cases.add("rows_empty", boxes=[]), {"output0": empty}, [1, 3, 640, 640], obb(DOTA))
    build(
        cases.add("rows_dynamic", boxes=[]), {"output0": empty}, ["batch", 3, "height", "width"], obb(DOTA),
        {"output0": ["batch", "rows", 7]},
    )  # fmt: skip


def other_cases(cases, rng):
    names = ["small-vehicle", "large-vehicle", "ship"]
    boxes, scores, labels = scattered(rng, 70, 3, (640, 640), (-np.pi / 2, np.pi / 2), long_first=True)
    answer = expected(boxes, scores, labels, names)
    table = rng.uniform(0, 0.04, (len(boxes), 3)).astype(np.float32)
    table[np.arange(len(boxes)), labels] = scores
    cases.sidecar(
        "mmrotate_without_suppression",
        {
            "class_names": names,
            "normalisation": {"order": "bgr", "mean": [103.53, 116.28, 123.675], "deviation": [57.375, 57.12, 58.395]},
        },
    )
    path = cases.add("mmrotate_without_suppression", boxes=answer)
    build(path, {"scores": table[None], "boxes": boxes[None]}, [1, 3, 640, 640])

    bins = np.zeros((1, 4032, 187), np.float32)
    bins[0, :, :4] = [300, 300, 40, 20]
    whole = np.round(np.degrees(boxes[:, 4])).clip(-90, 89).astype(int)
    pair = np.minimum(labels, 1)
    for i in range(len(boxes)):
        bins[0, i, :4] = boxes[i, :4]
        bins[0, i, 4] = 0.9
        bins[0, i, 5 + pair[i]] = scores[i] / 0.9
        bins[0, i, 7:] = rng.uniform(0, 0.3, 180)
        bins[0, i, 7 + whole[i] + 90] = 0.8
    turned = boxes.copy()
    turned[:, 4] = np.radians(whole)
    product = bins[0, : len(boxes), 4] * bins[0, np.arange(len(boxes)), 5 + pair]
    cases.sidecar("yolov5_obb", {"class_names": ["car", "truck"]})
    path = cases.add("yolov5_obb", boxes=expected(turned, product, pair, ["car", "truck"]))
    build(path, {"output": bins}, [1, 3, 640, 640])

    names = ["vehicle"]
    boxes, scores, labels = scattered(rng, 50, 1, (640, 640), (-np.pi / 2, np.pi / 2))
    room = 600
    padded = np.zeros((room, 5), np.float32)
    padded[: len(boxes)] = boxes
    padded[len(boxes) :] = [10, 10, 5, 5, 0]
    many = np.full(room, 0.99, np.float32)
    many[: len(boxes)] = scores
    cases.sidecar(
        "oriented_det",
        {
            "class_names": names,
            "normalisation": {"order": "rgb", "mean": [123.675, 116.28, 103.53], "deviation": [58.395, 57.12, 57.375]},
        },
    )
    path = cases.add("oriented_det", boxes=expected(boxes, scores, labels, names))
    build(
        path,
        {
            "pre_nms_boxes": padded,
            "pre_nms_scores": many,
            "pre_nms_labels": np.zeros(room, np.int64),
            "pre_nms_count": np.array(len(boxes), np.int64),
        },
        [1, 3, 640, 640],
    )


def stripped_cases(cases, rng):
    boxes, scores, labels = scattered(rng, 40, 2, (640, 640), (-1.5, 1.5))
    value = raw(boxes, scores, labels, 2, 8400, rng)
    answer = expected(boxes, scores, labels, ["car", "truck"])
    cases.sidecar("stripped_with_names", {"class_names": ["car", "truck"]})
    build(cases.add("stripped_with_names", boxes=answer), {"output0": value}, [1, 3, 640, 640])
    build(cases.add("stripped", refused="give the class names"), {"output0": value}, [1, 3, 640, 640])
    cases.sidecar("sidecar_broken", {"class_name": ["car"]})
    build(cases.add("sidecar_broken", refused="class_name"), {"output0": value}, [1, 3, 640, 640])
    path = cases.add("external", boxes=answer)
    model = build(path, {"output0": value}, [1, 3, 640, 640], obb(["car", "truck"]))
    for name in ("external", "external_missing"):
        model = onnx.load(str(cases.folder / "external.onnx"))
        path = str(cases.folder / f"{name}.onnx")
        onnx.save(model, path, save_as_external_data=True, location=f"{name}.onnx_data", size_threshold=64)
    cases.add("external_missing", refused="external_missing.onnx_data")
    (cases.folder / "external_missing.onnx_data").unlink()


def refused_cases(cases, rng):
    shape = [1, 3, 640, 640]
    plain = np.zeros((1, 19, 8400), np.float32)
    build(cases.add("upright_boxes", refused="knows no angles"), {"output0": plain}, shape, obb(DOTA))
    path = cases.add("task_detect", refused='"detect"')
    build(path, {"output0": plain}, shape, {**obb(DOTA), "task": "detect"})
    path = cases.add("polygons", refused="corner polygons")
    polygons = {"boxes": np.zeros((1, 100, 8), np.float32), "scores": np.zeros((1, 15, 100), np.float32)}
    build(path, polygons, shape, obb(DOTA))
    path = cases.add("custom_operator", refused="NMSRotated")
    node = helper.make_node("NMSRotated", ["output0"], ["kept"], domain="mmdeploy")
    build(path, {"output0": np.zeros((1, 20, 8400), np.float32)}, shape, obb(DOTA), extra=[node])
    build(cases.add("no_vehicle", refused="none of the model's classes is a vehicle"),
          {"output0": np.zeros((1, 6, 8400), np.float32)}, shape, obb(["ship"]))  # fmt: skip
    build(cases.add("no_classes", refused="none of the model's classes is a vehicle"),
          {"output0": np.zeros((1, 5, 8400), np.float32)}, shape, obb([]))  # fmt: skip
    value = {"output0": np.zeros((1, 20, 8400), np.float32)}
    build(cases.add("no_outputs", refused="outputs none"), value, shape, obb(DOTA), declare=False)
    build(cases.add("grey_input", refused="three channels"), value, [1, 1, 640, 640], obb(DOTA))
    build(cases.add("channels_last", refused="three channels"), value, [1, 640, 640, 3], obb(DOTA))
    build(cases.add("future_opset", refused="cannot load the model"), value, shape, obb(DOTA), opset=99, ir=8)
    (cases.folder / "no_model.onnx").write_bytes(b"\x00\x01 this is no model")
    cases.add("no_model", refused="not an ONNX model")
    whole = (cases.folder / "grey_input.onnx").read_bytes()
    (cases.folder / "cut_short.onnx").write_bytes(whole[: len(whole) // 2])
    cases.add("cut_short", refused="not an ONNX model")


def failing_cases(cases, rng):
    """Models that load but answer nonsense."""
    shape = [1, 3, 640, 640]
    boxes, scores, labels = scattered(rng, 40, 15, (640, 640), (-1, 1))
    value = raw(boxes, scores, labels, 15, 8400, rng)
    broken = value.copy()
    broken[0, 3, ::7] = np.nan
    build(cases.add("not_a_number", failed="not finite"), {"output0": broken}, shape, obb(DOTA))
    shares = value.copy()
    shares[0, :4] /= 640
    build(cases.add("shares", failed="shares of the picture"), {"output0": shares}, shape, obb(DOTA))
    negative = value.copy()
    negative[0, 2] *= -1
    build(cases.add("negative_sizes", failed="sides of no length"), {"output0": negative}, shape, obb(DOTA))
    # Declares 20 channels, answers with 19.
    path = cases.add("other_shape", failed="expected 20 channels")
    build(path, {"output0": value[:, :19]}, shape, obb(DOTA), {"output0": ["n", 20, 8400]})


def main():
    cases = Cases(sys.argv[1])
    rng = np.random.default_rng(7)
    for make in (raw_cases, row_cases, other_cases, stripped_cases, refused_cases, failing_cases):
        make(cases, rng)
    (cases.folder / "cases.json").write_text(json.dumps(cases.cases))


if __name__ == "__main__":
    main()
