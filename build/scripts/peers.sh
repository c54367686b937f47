#!/usr/bin/env bash
# make bench-peers: measures Gofer's browser tools beside the best others, all
# interleaved in one run, and says which rows of bench/browser/reach.json are
# reached. ROUNDS sets the repetitions of each measurement. PEERS_DIR names a
# folder to install the peers into, or that has them; without it a temporary
# one is used. Without npm or its registry ours is measured alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
. build/scripts/need.sh

# Pinned: the rows were set against these.
peers=(@playwright/mcp@0.0.83 chrome-devtools-mcp@1.11.0 agent-browser@0.41.2)

if [ -z "${CHROMIUM:-}" ]; then
  for b in google-chrome-stable google-chrome chromium chromium-browser microsoft-edge-stable brave-browser; do
    if have "$b"; then CHROMIUM=$(command -v "$b") && break; fi
  done
fi
if [ -z "${CHROMIUM:-}" ]; then
  echo "No Chromium browser was found. Install one, or name it: make bench-peers CHROMIUM=/path/to/chrome" >&2
  exit 1
fi
export CHROMIUM

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOFER_BIN=$PWD/build/bin/gofer-cli
export GOFER_HOME=$work/home # nobody's own data is touched
mkdir -m 700 "$GOFER_HOME"

bench=$PWD/build/cache/browserbench
go build -C bench/browser -buildvcs=false -o "$bench" .

install_peers() {
  have npm || return
  mkdir -p "$PEERS_DIR"
  local p there=1
  for p in "${peers[@]}"; do
    grep -qs "\"version\": \"${p##*@}\"" "$PEERS_DIR/node_modules/${p%@*}/package.json" || there=0
  done
  [ $there = 1 ] && return
  echo "Installing ${peers[*]}"
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 PUPPETEER_SKIP_DOWNLOAD=1 \
    npm install --prefix "$PEERS_DIR" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
    --fetch-retries=1 --fetch-timeout=60000 "${peers[@]}" >"$work/npm.log" 2>&1 || return
  chmod +x "$PEERS_DIR"/node_modules/agent-browser/bin/*
}

config=../gofer.json
export PEERS_DIR=${PEERS_DIR:-$work/peers}
if install_peers; then
  config+=,configs/peers.json
else
  echo "The peers could not be installed because npm or its registry is not reachable; Gofer is measured alone."
fi

mkdir -p build/cache/peers
cd bench/browser
"$bench" compare -config "$config" -rounds "${ROUNDS:-10}" -out ../../build/cache/peers/perf.json -logs ../../build/cache/peers/logs
