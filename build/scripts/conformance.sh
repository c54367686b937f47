#!/usr/bin/env bash
# make conformance: runs the official MCP conformance tool against
# gofer-cli mcp --http and fails when a scenario fails that is not in
# conformance.yml. CONFORMANCE_DIR names a folder to install the tool into, or
# that has it; without it a temporary one is used. Without npm or its registry
# nothing is tested.
set -euo pipefail
cd "$(dirname "$0")/../.."
. build/scripts/need.sh

# Pinned: the newest that runs on Node 20; later ones have the same scenarios.
tool=@modelcontextprotocol/conformance@0.1.13

work=$(mktemp -d)
started=()
finish() {
  local pid
  for pid in ${started[@]+"${started[@]}"}; do kill "$pid" 2>/dev/null && wait "$pid" || true; done
  rm -rf "$work"
}
trap finish EXIT
export GOFER_HOME=$work/home # nobody's own data is touched
mkdir -m 700 "$GOFER_HOME"

CONFORMANCE_DIR=${CONFORMANCE_DIR:-$work/tool}
install_tool() {
  have npm || return
  grep -qs "\"version\": \"${tool##*@}\"" "$CONFORMANCE_DIR/node_modules/${tool%@*}/package.json" && return
  echo "Installing $tool"
  mkdir -p "$CONFORMANCE_DIR"
  npm install --prefix "$CONFORMANCE_DIR" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
    --fetch-retries=1 --fetch-timeout=60000 "$tool" >"$work/npm.log" 2>&1
}
if ! install_tool; then
  echo "The conformance tool could not be installed because npm or its registry is not reachable; nothing was tested."
  exit 0
fi

# first_line FILE WHAT: waits until a process has said where it listens.
first_line() {
  local i
  for i in $(seq 150); do
    [ -s "$1" ] && head -1 "$1" && return
    sleep 0.2
  done
  echo "$2 did not start." >&2
  cat "$1.err" >&2
  return 1
}

build/bin/gofer-cli mcp --http=0 --headless >"$work/server" 2>"$work/server.err" &
started+=($!)
server=$(first_line "$work/server" "gofer-cli mcp --http")
# The tool cannot send a token; the proxy adds it.
node build/scripts/conformance-proxy.mjs "$server" "$GOFER_HOME/mcp/client-default.token" >"$work/proxy" 2>"$work/proxy.err" &
started+=($!)
proxy=$(first_line "$work/proxy" "The proxy")

status=0
node "$CONFORMANCE_DIR/node_modules/${tool%@*}/dist/index.js" server --url "$proxy" --suite all \
  --expected-failures build/scripts/conformance.yml --output-dir "$work/results" >"$work/report" 2>&1 || status=$?
sed -n '/=== SUMMARY ===/,$p' "$work/report"
[ $status = 0 ] || grep -rh '"errorMessage"' "$work/results" | sort -u
exit $status
