#!/usr/bin/python3
"""Checks the .proto files of a folder: their style, and that peers of older versions still understand them.

    idl_check.py lint FOLDER                      the rules of lint.py
    idl_check.py breaking FOLDER BASELINE         the rules of breaking.py against the committed facts
    idl_check.py baseline FOLDER                  prints the facts of today: the next baseline
    idl_check.py rules                            prints the names of all rules

-I PATH: a further folder for imports. Exit status: 0, 1 when a rule is broken, 2 for wrong usage.
"""
import sys

import breaking
import lint
from schema import Schema


def report_lint(schema):
    found = lint.lint(schema)
    for place, name, message in found:
        print(f"{place}: {name}: {message}")
    return 1 if found else 0


def report_breaking(schema, path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    found = breaking.breaking(schema, [line for line in lines if line and not line.startswith("#")])
    for name, message in found:
        print(f"{name}: {message}")
    return 1 if found else 0


def print_baseline(schema):
    print("# What peers of released versions rely on. Written by: tools/idl-check/idl_check.py baseline idl")
    print("# Lines may be added. A line that must go is a break: say so in CHANGELOG.md.")
    print("\n".join(breaking.facts(schema)))
    return 0


def main(arguments):
    include = []
    while "-I" in arguments[:-1]:
        at = arguments.index("-I")
        include.append(arguments[at + 1])
        del arguments[at:at + 2]
    command = arguments[0] if arguments else ""
    if command == "rules":
        print("\n".join([*lint.RULES, *breaking.RULES]))
        return 0
    if (command, len(arguments)) not in (("lint", 2), ("breaking", 3), ("baseline", 2)):
        print(__doc__, file=sys.stderr)
        return 2
    schema = Schema(arguments[1], include)
    if command == "lint":
        return report_lint(schema)
    return report_breaking(schema, arguments[2]) if command == "breaking" else print_baseline(schema)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
