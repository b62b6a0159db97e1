# shellcheck shell=bash
# Sourced by the scripts that run tests: numbered, timed steps under one time limit, and one closing line for all of
# them. Counts go to the file $TQ_TALLY as lines "PASSED FAILED"; a script that finds TQ_TALLY set is a part of a larger
# run: it adds to the file and leaves the closing line to the outermost one.
#   tally_open LIMIT_S       first; the whole run fails when it takes longer
#   step NAME COMMAND...     counts nothing when it succeeds, one failure when it does not (builds, set-up)
#   check NAME COMMAND...    counts one test
#   suite NAME COMMAND...    COMMAND counts by itself; it counts one failure when it fails without having counted one
#   tally_close              last; prints the closing line, exits
# A failed step does not stop the run; `step ... || exit` does.

tally_open() {
    tally_deadline=$(($(date +%s) + $1))
    tally_outermost=
    if [ -z "${TQ_TALLY:-}" ]; then
        TQ_TALLY=$(mktemp)
        export TQ_TALLY
        tally_outermost=yes
    fi
    tally_failed_before=$(tally_failed)
    trap tally_close EXIT
    trap 'tally_stop 130' INT
    trap 'tally_stop 143' TERM
}

tally_failed() { awk '{ n += $2 } END { print n + 0 }' "$TQ_TALLY"; }
tally_add() { echo "$1 $2" >>"$TQ_TALLY"; }

# Ends what runs. A signal that comes between fork and exec is lost, so it is sent until nothing runs any more.
tally_stop() {
    local _
    for _ in {1..50}; do
        [ -n "$(jobs -rp)" ] || break
        # shellcheck disable=SC2046 # one word a process
        kill -TERM $(jobs -rp) 2>/dev/null || true
        sleep 0.1
    done
    tally_add 0 1
    exit "$1"
}

# Runs a command within what is left of the time. In the background, so that an interrupt reaches it through us.
tally_run() {
    local name=$1 begin left status=0
    shift
    begin=$(date +%s)
    left=$((tally_deadline - begin))
    echo "== $name"
    if [ "$left" -le 0 ]; then
        echo "== $name: the time limit of the whole run is over"
        return 124
    fi
    timeout --kill-after=10 "$left" "$@" </dev/null &
    wait $! || status=$?
    if [ "$status" -eq 124 ]; then echo "== $name: stopped by the time limit of the whole run"; fi
    if [ "$status" -eq 0 ]; then
        echo "== $name: ok, $(($(date +%s) - begin)) s"
    else
        echo "== $name: FAILED (exit $status), $(($(date +%s) - begin)) s"
        echo "$name" >>"$TQ_TALLY.failed"
    fi
    return "$status"
}

step() {
    tally_run "$@" && return 0
    tally_add 0 1
    return 1
}

check() {
    if tally_run "$@"; then
        tally_add 1 0
    else
        tally_add 0 1
        return 1
    fi
}

suite() {
    local before
    before=$(tally_failed)
    tally_run "$@" && return 0
    [ "$(tally_failed)" -gt "$before" ] || tally_add 0 1
    return 1
}

tally_close() {
    trap - EXIT
    local failed mine
    failed=$(tally_failed)
    mine=$((failed - tally_failed_before))
    if [ -n "$tally_outermost" ]; then
        if [ -e "$TQ_TALLY.failed" ]; then sed 's/^/== failed: /' "$TQ_TALLY.failed"; fi
        awk '{ p += $1; f += $2 } END { printf "%d passed, %d failed\n", p, f }' "$TQ_TALLY"
        rm -f "$TQ_TALLY" "$TQ_TALLY.failed"
    fi
    [ "$mine" -eq 0 ] || exit 1
    exit 0
}
