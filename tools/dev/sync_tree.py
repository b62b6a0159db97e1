#!/usr/bin/python3
"""Makes a folder hold exactly the listed files of the current folder; what is equal keeps its time stamp.

Usage: sync_tree.py LIST_FILE FOLDER
"""
import filecmp
import os
import shutil
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as listing:
        wanted = {line.rstrip("\n") for line in listing}
    folder = sys.argv[2]
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if os.path.relpath(path, folder) not in wanted:
                os.remove(path)
    for path in sorted(wanted):
        copy = os.path.join(folder, path)
        if not os.path.exists(copy) or not filecmp.cmp(path, copy, shallow=False):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copyfile(path, copy)
            shutil.copymode(path, copy)


if __name__ == "__main__":
    main()
