"""Reads exported plans with other people's libraries and prints what they hold as JSON."""

import json
import re
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

from fastkml import KML, Placemark
from fastkml.utils import find_all
from pymavlink import mavwp


def waypoints(path):
    loader = mavwp.MAVWPLoader()
    loader.load(str(path))
    return [[w.command, w.frame, w.x, w.y, w.z, w.param1] for w in loader.wpoints]


def kml(path):
    document = KML.parse(path)
    found = []
    for placemark in find_all(document, of_type=Placemark):
        geometry = placemark.geometry
        first = [list(c) for c in list(getattr(geometry, "exterior", geometry).coords)[:2]]
        found.append([placemark.name, geometry.geom_type, first])
    return found


def wpml(path):
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            root = ElementTree.fromstring(archive.read(name))
            found[name] = tree(root)
    return found


def tree(element):
    """Local name, text, children."""
    name = re.sub(r"{.*}", "", element.tag)
    return [name, (element.text or "").strip(), [tree(child) for child in element]]


READERS = {".waypoints": waypoints, ".kml": kml, ".kmz": wpml}
print(json.dumps({Path(p).name: READERS[Path(p).suffix](Path(p)) for p in sys.argv[1:]}))
