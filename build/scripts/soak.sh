#!/usr/bin/env bash
# make soak: runs the tests of the browser tools in whole passes, race detector
# on, and stops at the first failure, keeping what was printed. PASSES sets how
# many (20), COUNT how often each test runs in a pass (1), PKGS other packages.
# build/cache/soak.tsv counts, over all soaks since it was last removed, how
# often each test ran and failed; `soak.sh tally` prints a summary of it.
set -euo pipefail
cd "$(dirname "$0")/../.."
GOFLAGS="$(go env GOFLAGS 2>/dev/null || true) -buildvcs=false"
export GOFLAGS
keep=build/cache/soak
tally=build/cache/soak.tsv
read -ra pkgs <<<"${PKGS:-./backend/browser ./backend/tools/browse ./backend/mcpserver}"
mkdir -p "$keep"
touch "$tally"

# count FILE: adds the outcomes in the JSON lines of a pass to the tally.
count() {
  sed -nE 's/.*"Action":"(pass|fail)","Package":"([^"]*)","Test":"([^"]*)".*/\1 \2 \3/p' "$1" |
    awk -v OFS='\t' '
      FILENAME != "-" { runs[$1 OFS $2] = $3; fails[$1 OFS $2] = $4; next }
      { k = $2 OFS $3; runs[k]++; fails[k] += ($1 == "fail") }
      END { for (k in runs) print k, runs[k], fails[k] + 0 }' "$tally" - | sort >"$tally.new"
  mv "$tally.new" "$tally"
}

# said FILE: prints what the failed tests of a pass said, and what belongs to no test.
said() {
  awk '
    /"Action":"fail"/ && match($0, /"Test":"[^"]*"/) { failed[substr($0, RSTART, RLENGTH)] = 1 }
    { line[NR] = $0 }
    END {
      for (i = 1; i <= NR; i++) {
        if (!match(line[i], /"Output":"/)) continue
        out = substr(line[i], RSTART + 10)
        if (match(line[i], /"Test":"[^"]*"/) && !(substr(line[i], RSTART, RLENGTH) in failed)) continue
        print out
      }
    }' "$1" | sed -E 's/(\\n)?"(,"OutputType":"[a-z]*")?\}$//; s/\\t/\t/g; s/\\"/"/g; s/\\u003c/</g; s/\\u003e/>/g' | tail -n 200
}

summary() {
  awk -F'\t' '
    NR == 1 || $3 < least { least = $3 } { n++; runs += $3; failed += $4 }
    END { if (n) printf "%d tests ran %d times in all, the least often run %d times; %d failures\n", n, runs, least, failed
          else print "no test has been counted yet" }' "$tally"
}

if [ "${1:-}" = tally ]; then
  summary
  exit
fi

within=()
if [ "$(uname -s)" = Linux ]; then # on a private display, as in make test
  go build -tags windowtest -o build/cache/within ./backend/windowtest/within
  within=(build/cache/within)
fi
passes=${PASSES:-20}
began=$SECONDS
for ((i = 1; i <= passes; i++)); do
  start=$SECONDS log=$keep/pass-$i.json rc=0
  "${within[@]}" go test -race -json -count="${COUNT:-1}" -timeout 60m "${pkgs[@]}" >"$log" 2>"$keep/stderr" || rc=$?
  count "$log"
  if [ $rc != 0 ]; then
    said "$log" >&2
    cat "$keep/stderr" >&2
    echo "FAILED in pass $i of $passes after $((SECONDS - start)) s; all it printed is in $log" >&2
    exit 1
  fi
  printf 'pass %d of %d: %d s\n' "$i" "$passes" $((SECONDS - start))
  rm -f "$log"
done
printf '%d whole passes without a failure in %d s; ' "$passes" $((SECONDS - began))
summary
