#!/usr/bin/env bash
# Installs what is missing, builds, runs every test. The corpus runner's summary comes last.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh release
ctest --test-dir build --output-on-failure
/usr/bin/python3 scripts/run_corpus.py --uoprun build/bin/uoprun --device cpu
