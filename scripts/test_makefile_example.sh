#!/usr/bin/env bash
# The Makefile of testdata/makefile_example rebuilds just what changed. Argument: the folder of uopc and uoprun.
set -euo pipefail
bin=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp testdata/makefile_example/* "$work"
build() { make -s -C "$work" UOPC="$bin/uopc" UOPRUN="$bin/uoprun" "$@"; }
build
build -q all || { echo "make does not settle"; exit 1; }
before=$(stat -c %Y.%i "$work/build/row_sums/manifest.json")
sleep 1
touch "$work/scale.uop"
build -q all && { echo "a changed program is not noticed"; exit 1; }
build
[ "$before" = "$(stat -c %Y.%i "$work/build/row_sums/manifest.json")" ] || { echo "what did not change was built again"; exit 1; }
build run
