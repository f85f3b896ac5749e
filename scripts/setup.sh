#!/usr/bin/env bash
# Installs what building and testing need and is not there yet (Debian 12).
set -euo pipefail
packages=(g++ cmake ninja-build pkg-config ccache llvm-19-dev clang-19 libclang-19-dev libclang-cpp19-dev liblld-19-dev
  libclang-rt-19-dev libcli11-dev nlohmann-json3-dev libspdlog-dev libfmt-dev catch2 libz3-dev libgraphviz-dev libxxhash-dev
  libzip-dev libmd-dev python3-numpy)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing: ${missing[*]}"
sudo=""
[ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
