#!/usr/bin/python3
"""Calls that our code never makes; comments and strings do not count. Usage: check_calls.py

* Unbounded string functions and hidden state, anywhere.
* Sleeping in tests: a test waits for the event, with a bound, or uses virtual time.
* Ending the process, printing to stdout and handling signals, in the libraries.
"""
import os
import re
import subprocess
import sys

RULES = [
    (re.compile(r"."), "strcpy strcat stpcpy sprintf vsprintf gets atoi atol atof strtok asctime ctime alloca",
     "unbounded or hidden state: use snprintf, memcpy, strtol, strtok_r"),
    (re.compile(r"^tests/"), "sleep usleep nanosleep clock_nanosleep",
     "a test waits for the event, with a bound, or uses virtual time"),
    (re.compile(r"^(transport|client)/"), "exit _exit quick_exit printf puts putchar signal sigaction",
     "a library never ends the process, prints to stdout, or handles signals"),
]
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def code_of(text):
    """The text with comments and strings blanked; line numbers stay."""
    return NOISE.sub(lambda noise: "\n" * noise.group().count("\n") or " ", text)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    paths = subprocess.run(["tools/dev/our_sources.sh"], check=True, capture_output=True, text=True).stdout.split()
    rules = [(where, re.compile(rf"(?<![\w.>])({'|'.join(names.split())})\s*\("), why) for where, names, why in RULES]
    bad = 0
    for path in paths:
        with open(path, encoding="utf-8") as source:
            lines = code_of(source.read()).split("\n")
        for where, calls, why in rules:
            if not where.search(path):
                continue
            for number, line in enumerate(lines, 1):
                found = calls.search(line)
                if found:
                    print(f"{path}:{number}: {found.group(1)}: {why}")
                    bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
