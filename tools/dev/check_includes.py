#!/usr/bin/python3
"""Checks the arrow of the architecture: tools, tests -> server, client -> gen/v1 -> transport -> gen/wire.

Every #include "..." of our C files must name a file of this repository, from its root or from a folder of public or
generated headers, and that file must lie in a layer that the including file may see. Usage: check_includes.py [ROOT]
"""
import os
import re
import subprocess
import sys

# What a layer may include, besides itself. The first prefix that matches a path names its layer.
LAYERS = ["transport/include/", "server/include/", "client/include/", "gen/wire/", "gen/v1/", "gen/fuzz/",
          "transport/base/", "transport/rpc/", "transport/bulk/", "server/", "client/", "tools/", "tests/",
          "examples/"]
TRANSPORT = ["transport/base/", "transport/rpc/", "transport/bulk/", "transport/include/", "gen/wire/"]
MAY_SEE = {
    "transport/include/": [],
    "server/include/": ["transport/include/", "gen/v1/"],
    "client/include/": ["transport/include/", "gen/v1/"],
    "gen/wire/": [],
    "gen/v1/": ["transport/include/"],
    "gen/fuzz/": ["gen/v1/"] + TRANSPORT,
    "transport/base/": [],  # and BASE_HEADERS
    "transport/rpc/": ["transport/base/", "transport/include/", "gen/wire/"],
    "transport/bulk/": TRANSPORT,
    "server/": ["server/include/", "gen/v1/"] + TRANSPORT,
    "client/": ["client/include/", "gen/v1/"] + TRANSPORT,
    "tools/": LAYERS,
    "tests/": LAYERS,
    "examples/": ["transport/include/", "server/include/", "client/include/", "gen/v1/"],
}
BASE_HEADERS = {"transport/include/tq/status.h", "transport/include/tq/bytes.h", "transport/include/tq/init.h"}
SEARCH = ["", "transport/include/", "server/include/", "client/include/", "gen/wire/", "gen/v1/"]
WRITTEN_ALONE = ("gen/v1/", "gen/wire/", "gen/fuzz/", "examples/")  # may include by a path from their own folder
MADE_AT_BUILD_TIME = ("tools/", "tests/")  # may include what a build makes
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def layer_of(path):
    return next((layer for layer in LAYERS if path.startswith(layer)), None)


def resolve(name, files):
    return next((folder + name for folder in SEARCH if folder + name in files), None)


def judge(path, name, files):
    """The reason why `path` may not include `name`, or None."""
    layer = layer_of(path)
    target = resolve(name, files)
    if target is None:
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if beside in files:
            return None if layer in WRITTEN_ALONE else "written relative to its folder"
        return None if layer in MADE_AT_BUILD_TIME else "not a file of this repository"
    seen = layer_of(target)
    if seen is None:
        return "outside of every layer"
    if layer == "transport/base/" and target in BASE_HEADERS:
        return None
    if seen != layer and seen not in MAY_SEE[layer]:
        return f"{layer} may not include {seen}"
    return None


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    os.chdir(root)
    listing = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], check=True,
                             capture_output=True, text=True).stdout.split("\n")
    files = {path for path in listing if path.endswith((".c", ".h")) and os.path.exists(path)}
    bad = 0
    for path in sorted(files):
        if layer_of(path) is None:
            print(f"{path}: in no folder of the architecture")
            bad += 1
            continue
        with open(path, encoding="utf-8", errors="replace") as source:
            for number, line in enumerate(source, 1):
                match = INCLUDE.match(line)
                reason = match and judge(path, match.group(1), files)
                if reason:
                    print(f'{path}:{number}: "{match.group(1)}": {reason}')
                    bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
