#!/usr/bin/python3
"""Checks that files stay under 700 lines and functions under 70.

Our format puts the braces of a function, and only these, alone at the start of a line. Usage: check_lengths.py
"""
import os
import subprocess
import sys

FILE_LINES_MAX = 700
FUNCTION_LINES_MAX = 70
KINDS = (".c", ".h", ".py", ".sh", ".proto", ".cmake")


def functions(lines):
    """Yields (line of the opening brace, lines from the signature's last line to the closing brace)."""
    begin = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            yield begin, number - begin + 2
            begin = None


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    listing = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], check=True,
                             capture_output=True, text=True).stdout.split("\n")
    bad = 0
    for path in listing:
        if not path.endswith(KINDS) or path.startswith("gen/") or "/golden/" in path or not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as source:
            lines = source.read().split("\n")
        if len(lines) > FILE_LINES_MAX:
            print(f"{path}: {len(lines)} lines; at most {FILE_LINES_MAX}")
            bad += 1
        if path.endswith((".c", ".h")):
            for begin, length in functions(lines):
                if length > FUNCTION_LINES_MAX:
                    print(f"{path}:{begin}: a function of {length} lines; at most {FUNCTION_LINES_MAX}")
                    bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
