#!/usr/bin/env bash
# An installed prefix works from wherever it is moved to. Argument: the build folder.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
"$work/moved/bin/uopc" testdata/demo/gemm.uop -o "$work/gemm"
"$work/moved/bin/uoprun" "$work/gemm" --random 1 --check
"$work/moved/bin/uoprun" testdata/demo/gemm.uop --random 1 --check
