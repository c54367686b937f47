#!/usr/bin/env bash
# make run: sets up, builds and starts the app. Without a display the guided
# tour runs in the terminal and ends by itself; its exit code is ours.
set -uo pipefail
cd "$(dirname "$0")/../.."
. build/scripts/need.sh

build/scripts/setup.sh run || echo "Going on with what is there." >&2
go_ok || exit 1

shown() { ! linux || [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; }

if webview_ok && node_ok; then
  "${MAKE:-make}" --no-print-directory build || exit 1
  if shown; then
    echo "Starting Gofer."
    exec build/bin/gofer
  fi
  echo "There is no display here, so Gofer's guided tour runs in this terminal, with a browser that shows no window."
else
  "${MAKE:-make}" --no-print-directory build/bin/gofer-cli || exit 1
  echo "The window cannot be built without what is listed above, so Gofer's guided tour runs in this terminal."
fi
exec build/bin/gofer-cli run --tour --headless
