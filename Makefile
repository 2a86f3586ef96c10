# What `make demo`, `make test` and `make bench` need, `make setup` installs.
export OVERLOOK_PYTHON ?= $(CURDIR)/.setup/venv/bin/python
export OVERLOOK_ONNXRUNTIME ?= $(CURDIR)/.setup/onnxruntime
# Real photos that some tests use, beside the repository; without them those tests say so.
export OVERLOOK_SHARED ?= $(CURDIR)/../shared

.PHONY: help setup demo test bench peers

help:
	@echo 'make setup   install what is missing for the others (silent when nothing is)'
	@echo 'make demo    render photos of a car park and find its vehicles: demo-out/'
	@echo 'make test    build everything, check it, run all tests'
	@echo 'make bench   measure, in release builds'
	@echo 'make peers   compare the detector with Ultralytics (1 GB of installs, AGPL, outside the tree)'

setup:
	@scripts/setup

demo: setup
	cargo build -p simulator -p groundstation
	cargo run -q -p simulator -- render --seed 7 --out demo-out/photos
	cargo run -q -p groundstation -- process demo-out/photos demo-out/scene
	@echo 'The photos are in demo-out/photos (what is true of them in truth.json), the scene in demo-out/scene.'
	@echo 'Open the report: $(CURDIR)/demo-out/scene/report.html'

test:
	@scripts/test

bench: setup
	cargo build --locked --release --workspace --bins
	cargo bench --workspace --bench '*'

peers: setup
	@onboard/detector/tests/peers.sh
