"""A plain scorer in Python: components, tasks, groups and Overall of JSONL predictions, as JSON on stdout.

Written from the paper's Appendix A without a look at the Rust crate: what both say alike is hardly wrong.
Usage: plain.py QUESTIONS ANSWERS PREDICTIONS
"""

import json
import math
import re
import sys
from collections import Counter, defaultdict
from decimal import Decimal

GROUPS = {
    "2D": ["BI", "BV", "SC", "SR", "WU", "VH"],
    "3D": ["LW", "HT", "RD", "AD"],
    "cross_view": ["CC", "CG", "RI"],
    "viewpoint_context": ["CP", "PC", "CL", "CH"],
}
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
INTEGER = re.compile(r"[+-]?[0-9]+")
DIGITS = re.compile(r"[0-9]+")
DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


def label(text):
    return " ".join(text.casefold().split())


def labels(response):
    at = response.find("{")
    while at >= 0:
        try:
            found, _ = DECODER.raw_decode(response, at)
            pair = [found.get("brand"), found.get("model")]
            return tuple("" if value is None else label(str(value)) for value in pair)
        except ValueError:
            at = response.find("{", at + 1)
    return None


def relative_accuracy(value, reference):
    return sum(10 for k in range(1, 11) if abs(value - reference) * 20 <= k * reference)


def number(config, response, reference):
    if not (INTEGER if config.get("format") == "integer" else NUMBER).fullmatch(response):
        return None
    if not math.isfinite(float(response)):
        return None
    value, reference = Decimal(response), Decimal(reference)
    period = config.get("period")
    if period and config.get("normalize"):
        value %= period
    elif (
        (config.get("positive") and value <= 0)
        or ("min" in config and value < config["min"])
        or ("max" in config and value > config["max"])
    ):
        return None
    if config["score"] == "mra":
        return relative_accuracy(value, reference)
    error = abs(value - reference)
    if period:
        error %= period
        error = min(error, period - error)
    if config["score"] == "exact":
        return 100 if error <= Decimal("1e-12") else 0
    return sum(100 / 3 for limit in (5, 10, 15) if error <= limit + Decimal("1e-12"))


def array(response, length):
    try:
        found = json.loads(response, parse_constant=lambda _: None)
    except ValueError:
        return None
    if not isinstance(found, list) or len(found) != length:
        return None
    if any(type(value) not in (int, float) or not math.isfinite(value) for value in found):
        return None
    return found


def box(response, reference):
    found = array(response, 4)
    if found is None:
        return None
    x1, y1, x2, y2 = found
    if not (0 <= x1 < x2 <= 1000 and 0 <= y1 < y2 <= 1000):
        return None
    a1, b1, a2, b2 = reference
    common = max(0, min(x2, a2) - max(x1, a1)) * max(0, min(y2, b2) - max(y1, b1))
    union = (x2 - x1) * (y2 - y1) + (a2 - a1) * (b2 - b1) - common
    return 100 if 2 * common >= union else 0


def gps(response, reference):
    found = array(response, 2)
    if found is None or abs(found[0]) > 90 or abs(found[1]) > 180:
        return None
    (lat, lon), (ref_lat, ref_lon) = (map(math.radians, place) for place in (found, reference))
    a = math.sin((lat - ref_lat) / 2) ** 2
    a += math.cos(ref_lat) * math.cos(lat) * math.sin((lon - ref_lon) / 2) ** 2
    distance = 2 * 6371008.8 * math.asin(min(1, math.sqrt(max(0, a))))
    return sum(100 / 3 for limit in (1e3, 1e4, 1e5) if distance <= limit)


def score(config, response, reference):
    kind = config["type"]
    response = response.strip()
    if kind == "count":
        if not DIGITS.fullmatch(response):
            return None
        return relative_accuracy(int(response), reference)
    if kind == "choice":
        if response not in config["candidates"]:
            return None
        return 100 if response == reference else 0
    if kind == "number":
        return number(config, response, reference)
    return (box if kind == "box" else gps)(response, reference)


def elect(votes):
    counts = Counter(votes)
    most = max(counts.values())
    return min(vote for vote, n in counts.items() if n == most)


def mean(values):
    return math.fsum(values) / len(values)


def score_model(questions, responses):
    points, views = defaultdict(list), defaultdict(list)
    for question in questions:
        response = responses[question["id"]]
        if question["task"] != "BI":
            found = score(question["config"], response, question["reference"])
            points[f"{question['task']}/{question['component']}"].append(found or 0)
            continue
        said = labels(response) or ("", "")
        right = question["label"]
        points["BI/brand"].append(100 * (said[0] == right[0]))
        points["BI/pair"].append(100 * (said == right))
        views[question["scene"], question["vehicle"]].append((said, right))
    for votes in views.values():
        right = votes[0][1]
        points["BV/brand"].append(100 * (elect([said[0] for said, _ in votes]) == right[0]))
        points["BV/pair"].append(100 * (elect([said for said, _ in votes]) == right))
    components = {component: mean(values) for component, values in points.items()}
    tasks = defaultdict(list)
    for component, value in components.items():
        tasks[component.split("/")[0]].append(value)
    groups = {group: mean([mean(tasks[task]) for task in names]) for group, names in GROUPS.items()}
    return {"components": components, "groups": groups, "overall": mean(list(groups.values()))}


def rows(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main():
    questions_path, answers_path, predictions_path = sys.argv[1:]
    answers = {answer["id"]: answer for answer in rows(answers_path)}
    questions = rows(questions_path)
    for question in questions:
        question.update(answers[question["id"]])
        if question["task"] == "BI":
            question["label"] = tuple(label(question["reference"][key]) for key in ("brand", "model"))
    responses = defaultdict(dict)
    with open(predictions_path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            responses[row["model"]][row["id"]] = row["response"]
    json.dump({model: score_model(questions, said) for model, said in responses.items()}, sys.stdout)


if __name__ == "__main__":
    main()
