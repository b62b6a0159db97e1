#!/bin/bash
# Installs the Debian packages that are missing, quietly, once. Does nothing, and needs no network, when all are there.
# Usage: tools/dev/setup.sh GROUP...      GROUP: build, test, style (tools/dev/packages.txt)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

command -v dpkg-query >/dev/null || {
    echo "setup: this is no Debian system; install by hand what tools/dev/packages.txt lists" >&2
    exit 1
}

missing=()
for group in "$@"; do
    while read -r package; do
        is_installed "$package" || missing+=("$package")
    done < <(awk -v group="$group" '!/^#/ && $2 == group { print $1 }' "$root/tools/dev/packages.txt")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "setup: ${#missing[@]} packages are missing and there is neither root nor sudo; as root, run:" >&2
        echo "    apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    }
    as_root=(sudo)
fi

mkdir -p "$root/build"
log=$root/build/setup.log
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=180)
echo "setup: installing ${#missing[@]} packages: ${missing[*]}"
# A list that cannot be fetched matters only if a package then cannot be installed.
"${apt[@]}" update >"$log" 2>&1 </dev/null || true
if ! "${apt[@]}" install --no-install-recommends "${missing[@]}" >>"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    echo "setup: apt-get failed; the whole log is $log" >&2
    exit 1
fi
