#!/bin/bash
# Calls that our code never makes: unbounded string functions everywhere; sleeping in tests, where a test must wait for
# an event or use virtual time; exit, printf to stdout and signal handlers in the libraries.
set -euo pipefail
cd "$(dirname "$0")/../.."
bad=0
# forbid WHY PATTERN FILES-PATTERN: comments and strings are taken out first, line numbers stay.
forbid() {
    local file hits
    while read -r file; do
        hits=$(gcc -fpreprocessed -dD -E -P -w "$file" 2>/dev/null | sed 's/"\([^"\\]\|\\.\)*"/""/g' | grep -E "$2" || true)
        if [ -n "$hits" ]; then
            grep -nE "$2" "$file" | head -n 3 | sed "s|^|$file:|"
            echo "    $1"
            bad=1
        fi
    done < <(tools/dev/our_sources.sh | grep -E "$3")
}
word='(^|[^A-Za-z0-9_.>])'
forbid "unbounded or hidden state: use snprintf, memcpy, strtol, strtok_r" \
    "$word(strcpy|strcat|stpcpy|sprintf|vsprintf|gets|atoi|atol|atof|strtok|asctime|ctime|alloca)[ ]*\(" '.'
forbid "a test waits for the event, with a bound, or uses virtual time" \
    "$word(sleep|usleep|nanosleep|clock_nanosleep)[ ]*\(" '^tests/'
forbid "a library never ends the process, prints to stdout, or handles signals" \
    "$word(exit|_exit|quick_exit|printf|puts|putchar|signal|sigaction)[ ]*\(" '^(transport|client)/'
exit $bad
