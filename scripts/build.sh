#!/usr/bin/env bash
# Builds a preset (release unless named: debug, asan, fuzz). Programs of the release preset: build/bin/uopc, build/bin/uoprun.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset"
