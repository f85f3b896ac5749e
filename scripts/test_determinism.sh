#!/usr/bin/env bash
# The same program gives the same bytes: 20 times over, from other folders, under other names, umasks and environments; and
# compiled on from each dump. Argument: the folder of uopc.
set -euo pipefail
bin=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
programs=(demo/gemm corpus/softmax_base2 corpus/four_reductions corpus/update_in_place corpus/kernels/attention_online corpus/edge/call_nested)

sums() { (cd "$1" && find . -type f | sort | xargs sha256sum | sha256sum); }

again() {  # program, run: in a folder of its own, with other surroundings
  local source="$root/testdata/$1.uop" run=$2 dir="$work/run$2"
  mkdir -p "$dir"
  cp "$source" "$dir/p$run.uop"
  (cd "$dir" && umask "0$((run % 3))2" && env -i "PATH=$PATH" "HOME=$dir" "LANG=$([ $((run % 2)) = 0 ] && echo C || echo C.UTF-8)" "JUNK=$(printf '%*s' $((run * 97)) x)" \
    "$bin/uopc" "p$run.uop" -o "out$run" --no-cache)
  sums "$dir/out$run"
  rm -rf "$dir"
}

for program in "${programs[@]}"; do
  first=$(again "$program" 0)
  for run in $(seq 1 19); do
    [ "$(again "$program" "$run")" = "$first" ] || { echo "$program: compile $run gives other bytes"; exit 1; }
  done
done
echo "${#programs[@]} programs, 20 compiles each: the same bytes"

# From a dump after each pass of the list.
for program in "${programs[@]}"; do
  source="testdata/$program.uop"
  "$bin/uopc" "$source" -o "$work/whole" --no-cache
  "$bin/uopc" "$source" -o "$work/x" --no-cache --dump-after all --dump-dir "$work/dumps"
  for dump in "$work"/dumps/*.uop; do
    pass=$(basename "$dump" .uop)
    pass=${pass#*-}
    "$bin/uopc" "$dump" --start-after "$pass" --original "$source" -o "$work/on" --no-cache
    [ "$(sums "$work/on")" = "$(sums "$work/whole")" ] || { echo "$program: compiled on after $pass it gives other bytes"; exit 1; }
    rm -rf "$work/on"
  done
  rm -rf "$work/whole" "$work/x" "$work/dumps"
done
echo "compiled on from every dump: the same bytes"
