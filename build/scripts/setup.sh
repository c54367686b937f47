#!/usr/bin/env bash
# Installs what is missing: setup.sh run | test. With everything there it is
# done in a fraction of a second and says nothing. Exit 1 names what is left.
set -uo pipefail
what=${1:-run}
cd "$(dirname "$0")/../.."
. build/scripts/need.sh

say() { printf '%s\n' "$*" >&2; }

# The two tools a person chooses the version of; no package manager's copy is recent enough everywhere.
lacking=0
if ! go_ok; then
  found=$(go_found)
  say "Gofer needs Go 1.26 or newer; found ${found:-none}. Install it from https://go.dev/dl/ and put its bin folder on PATH."
  lacking=1
fi
if ! node_ok; then
  found=$(node_found)
  say "Gofer needs Node.js 20.19 or newer with npm; found ${found:-none}. Install it from https://nodejs.org/en/download."
  lacking=1
fi

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
rooted() { [ "$(id -u)" = 0 ] || { have sudo && sudo -n true 2>/dev/null; }; }

# quiet CMD…: runs it and shows its output only when it fails.
quiet() {
  local log rc
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null
  rc=$?
  [ $rc = 0 ] || tail -n 20 "$log" >&2
  rm -f "$log"
  return $rc
}

look "$what"
if [ ${#names[@]} -gt 0 ]; then
  if [ ${#apt[@]} -gt 0 ] && have apt-get && rooted; then
    say "Installing with apt: ${apt[*]} (this can take some minutes)"
    quiet as_root apt-get update -q || say "The package lists could not be renewed; trying with those at hand."
    quiet as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${apt[@]}"
  elif [ ${#brew[@]} -gt 0 ] && have brew; then
    for b in "${brew[@]}"; do
      say "Installing with brew: $b"
      # shellcheck disable=SC2086 # "--cask chromium" is two words
      quiet brew install $b
    done
  fi
  look "$what"
fi

if [ ${#names[@]} -gt 0 ]; then
  say "Still missing:"
  for n in "${names[@]}"; do say "  $n"; done
  if have apt-get && [ ${#apt[@]} -gt 0 ]; then
    say "Install it with:  sudo apt-get update && sudo apt-get install ${apt[*]}"
  elif have dnf && [ ${#dnf[@]} -gt 0 ]; then
    say "Install it with:  sudo dnf install ${dnf[*]}"
  elif have pacman && [ ${#pacman[@]} -gt 0 ]; then
    say "Install it with:  sudo pacman -S --needed ${pacman[*]}"
  elif [ ${#brew[@]} -gt 0 ]; then
    for b in "${brew[@]}"; do say "Install it with:  brew install $b"; done
  fi
  lacking=1
fi
exit $lacking
