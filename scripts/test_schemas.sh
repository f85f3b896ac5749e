#!/usr/bin/env bash
# Pipelines and manifests fit their schemas. Argument: the folder of uopc and uoprun.
set -euo pipefail
bin=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
schema=passes/pipelines/pipelines.schema.json
pipelines=()
for file in passes/pipelines/*.json; do [ "$file" = "$schema" ] || pipelines+=("$file"); done
for level in 0 1 2 3; do
  "$bin/uopc" --print-pipeline -O$level >"$work/pipeline$level.json"
  pipelines+=("$work/pipeline$level.json")
  "$bin/uopc" testdata/demo/gemm.uop -O$level -o "$work/gemm$level"
done
/usr/bin/python3 scripts/check_schema.py "$schema" "${pipelines[@]}" testdata/pipelines/*.json
"$bin/uopc" testdata/corpus/update_in_place.uop -o "$work/update"
"$bin/uopc" testdata/corpus/scalar_argument.uop -o "$work/scalar"
/usr/bin/python3 scripts/check_schema.py lib/runtime/manifest.schema.json "$work"/*/manifest.json
# Every pass and option of the compiler stands in the schema.
for pass in $("$bin/uopc" --list-passes | sed -n 's/^\([a-z-]*\)$/\1/p'); do
  grep -q "\"$pass\"" "$schema" || { echo "$schema lacks the pass $pass"; exit 1; }
  for option in $("$bin/uopc" --describe "$pass" | sed -n 's/^    \([a-z-]*\): .*/\1/p'); do
    grep -q "\"$option\"" "$schema" || { echo "$schema lacks the option $option of $pass"; exit 1; }
  done
done
