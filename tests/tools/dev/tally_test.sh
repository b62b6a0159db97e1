#!/bin/bash
# The closing line counts everything, also in nested runs, and the exit status follows it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset TQ_TALLY
bad=0

# run LIMIT_S COMMANDS: a script that sources tally.sh and runs these.
run() {
    printf 'set -uo pipefail\n. %s/tools/dev/tally.sh\ntally_open %s\n%s\ntally_close\n' "$root" "$1" "$2" >"$work/script.sh"
    bash "$work/script.sh" >"$work/log.txt" 2>&1
}
# expect STATUS LAST_LINE LIMIT_S COMMANDS
expect() {
    local status=0
    run "$3" "$4" || status=$?
    if [ "$status" != "$1" ] || [ "$(tail -n 1 "$work/log.txt")" != "$2" ]; then
        echo "expected exit $1 and '$2' from: $4"
        echo "got exit $status and:"
        cat "$work/log.txt"
        bad=1
    fi
}

expect 0 '2 passed, 0 failed' 60 'check a true; check b true; step c true'
expect 1 '1 passed, 1 failed' 60 'check a true; check b false; step c true'
expect 1 '0 passed, 1 failed' 60 'step c false || exit; check a true'
expect 0 '7 passed, 0 failed' 60 'suite s bash -c "echo 7 0 >>\$TQ_TALLY"'
expect 1 '7 passed, 2 failed' 60 'suite s bash -c "echo 7 2 >>\$TQ_TALLY; exit 1"'
expect 1 '0 passed, 1 failed' 60 'suite s false'
expect 1 '0 passed, 2 failed' 1 'check a sleep 20; check b true'

# A run within a run leaves the closing line to the outer one.
cat >"$work/inner.sh" <<INNER
. $root/tools/dev/tally.sh
tally_open 60
check inner true
check inner false
tally_close
INNER
expect 1 '2 passed, 1 failed' 60 "check a true; suite inner bash $work/inner.sh"
[ "$(grep -c passed "$work/log.txt")" -eq 1 ] || { echo "two closing lines:"; cat "$work/log.txt"; bad=1; }

# An interrupt ends what runs, counts as a failure, and still closes with the line.
printf '. %s/tools/dev/tally.sh\ntally_open 60\necho ready\ncheck a bash -c "echo begun; exec sleep 30"\ntally_close\n' "$root" >"$work/script.sh"
coproc bash "$work/script.sh" 2>&1
pid=$COPROC_PID
exec {out}<&"${COPROC[0]}"
# Not before the step has begun: timeout(1) loses its child to a signal that comes while it forks.
for _ in ready == begun; do read -r -t 10 -u "$out" _; done
kill -TERM "$pid"
last=$(timeout 10 tail -n 1 <&"$out") || true
[ "$last" = '0 passed, 1 failed' ] || { echo "after TERM: '$last'"; bad=1; }
exit $bad
