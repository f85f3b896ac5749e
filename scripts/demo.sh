#!/usr/bin/env bash
# Installs what is missing, builds, then compiles and runs a 256 x 256 matrix product made of a reshape, a multiply and an
# add-reduction, and checks it against the reference interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh release
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
set -x
build/bin/uopc testdata/demo/gemm.uop -o "$out/gemm"
build/bin/uoprun "$out/gemm" --list
build/bin/uoprun "$out/gemm" --random 1 --check
