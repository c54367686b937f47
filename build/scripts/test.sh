#!/usr/bin/env bash
# make test: sets up, then runs every group of tests and stops at the first
# that fails. Groups can be named: test.sh vet go ui. Each prints its runner's
# own lines, so that one can see which tests ran.
set -euo pipefail
cd "$(dirname "$0")/../.."
# A copy that belongs to somebody else must build too, so Go does not ask git.
GOFLAGS="$(go env GOFLAGS 2>/dev/null || true) -buildvcs=false"
export GOFLAGS
make="${MAKE:-make} --no-print-directory --silent"
[ -t 1 ] || export NO_COLOR=1
mark=windowtest # the tag under which the private desktop is built

groups=(page vet lint go bindings build ui window)

# Unit tests, types, lint and format of the page.
page() {
  $make frontend/node_modules/.installed
  (
    cd frontend
    npx --no-install prettier --check .
    npx --no-install eslint --max-warnings 0 .
    npm run --silent check
    npx --no-install vitest run
  )
}

vet() {
  go vet ./...
  go vet -tags uitest,windowtest,widgettest ./...
  GOOS=windows go vet ./...
  GOOS=darwin CGO_ENABLED=0 go vet ./backend/...
}

lint() {
  $make tools
  build/cache/golangci-lint run ./...
}

# desktop CMD…: runs it on a private display with its own bus.
desktop() {
  if [ "$(uname -s)" = Linux ]; then
    mkdir -p build/cache
    go build -tags $mark -o build/cache/within ./backend/windowtest/within
    build/cache/within "$@"
  else
    "$@"
  fi
}

# The browser's mechanics and tools are tested once more with a window: a browser
# without one differs in prompts, printing, focus and covered windows. What only
# reads pages, plays at random or brings about faults does not; it runs once.
go_tests() {
  $make backend/browser/widgettest/testdata/node_modules/.installed
  desktop go test -race -timeout 20m -tags widgettest . ./backend/...
  GOFER_TEST_HEADFUL=1 desktop go test -timeout 20m -skip 'RandomActions|EveryCall|CallsThat|CancelledCall|AsWritten' ./backend/browser ./backend/tools/browse
}

# The front end's view of the Go methods is generated and kept in git.
bindings() {
  local kept=frontend/src/lib/wailsjs old
  old=$(mktemp -d)
  cp -Rp $kept/. "$old"
  go run -tags bindings . >/dev/null
  if ! diff -r "$old" $kept; then
    echo "The bindings were stale and have been written again; commit $kept." >&2
    return 1
  fi
  # the same bytes keep their times, so that nothing is built again
  rm -rf $kept && mv "$old" $kept
  echo "ok  	bindings"
}

build() { $make build; }

# The real page in a browser without a window, on the real bindings.
ui() {
  $make frontend/dist/index.html
  go test -count=1 -tags uitest -parallel 4 -timeout 10m -run 'UI' . ./backend/uitest
}

# The real window. It is driven over AT-SPI, which only Linux has.
window() {
  if [ "$(uname -s)" != Linux ]; then
    echo "The window's own tests need AT-SPI and run on Linux only."
    return
  fi
  $make build/bin/gofer
  go test -count=1 -v -tags $mark -timeout 10m ./backend/windowtest
}

group() {
  local name=$1 start=$SECONDS
  printf '\n== %s\n' "$name"
  # A subshell with errexit of its own: "if group" would switch it off.
  set +e
  (
    set -e
    case $name in go) go_tests ;; *) "$name" ;; esac
  )
  local rc=$?
  set -e
  if [ $rc != 0 ]; then
    printf '\nFAILED: %s (%d s). Run it alone: build/scripts/test.sh %s\n' "$name" $((SECONDS - start)) "$name" >&2
    exit 1
  fi
  printf '== %s passed (%d s)\n' "$name" $((SECONDS - start))
}

case ${1:-} in
help | -h | --help)
  echo "groups: ${groups[*]}"
  exit 0
  ;;
'')
  build/scripts/setup.sh test
  set -- "${groups[@]}"
  ;;
esac
for g in "$@"; do
  [[ " ${groups[*]} " == *" $g "* ]] || { echo "There is no group $g; there are: ${groups[*]}" >&2; exit 2; }
done
for g in "$@"; do group "$g"; done
printf '\nAll passed: %s (%d s)\n' "$*" "$SECONDS"
