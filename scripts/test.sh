#!/usr/bin/env bash
# Installs what is missing, builds, runs every test. The runner's own summary comes last.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh release
ctest --test-dir build --output-on-failure
