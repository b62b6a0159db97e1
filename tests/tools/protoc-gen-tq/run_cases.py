#!/usr/bin/python3
"""Runs protoc-gen-tq over the small .proto files of cases/: each is turned into C that compiles everywhere, or refused.

A case is a file cases/NAME.proto, or a folder cases/NAME whose files are generated in one run. Its first lines say what
is expected (in a folder: those of the file that has them):

    // ok: why the case exists
    // refused: a piece of the message         each such line must be found, with FILE:LINE where it says so
    // generate: FILE ...                      what to generate, when it is not the file or all files of the folder

Of an ok case every .c compiles with gcc and clang as C11 and C17, every header alone as C11, C17 and C++17, without a
warning; all objects link into one; a second run, under another locale, writes the same bytes; no file has the name of one
that --cpp_out writes; a build with -fshort-enums, with which protobuf-c would corrupt memory, stops. A refused case writes
no file. Usage: run_cases.py PROTOC_GEN_TQ [NAME ...]
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CASES = HERE / "cases"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
COMPILE = [("gcc", "c11"), ("gcc", "c17"), ("clang", "c11"), ("clang", "c17")]
HEADERS = [("gcc", "c", "c11"), ("clang", "c", "c17"), ("g++", "c++", "c++17"), ("clang++", "c++", "c++17")]
MAX_SECONDS = 60
# What generating one case may take. A sanitizer needs more address space.
GENERATE_SECONDS, GENERATE_BYTES = 10, 256 << 20


class Case:
    def __init__(self, path):
        self.name = path.stem if path.is_file() else path.name
        self.folder = CASES if path.is_file() else path
        files = [path] if path.is_file() else sorted(path.rglob("*.proto"))
        self.generate = [str(file.relative_to(self.folder)) for file in files]
        self.kind, self.fragments = None, []
        for file in files:
            for line in file.read_text(encoding="utf-8", errors="replace").split("\n"):
                self.read_line(line)
        if self.kind is None:
            raise ValueError(f"{self.name}: no line '// ok' or '// refused: ...'")

    def read_line(self, line):
        match = re.match(r"// (ok|refused|generate)(?:: (.*))?$", line)
        if match is None:
            return
        if match.group(1) == "generate":
            self.generate = match.group(2).split()
            return
        self.kind = match.group(1)
        if self.kind == "refused":
            self.fragments.append(match.group(2))


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=MAX_SECONDS, **more)


def generate(plugin, case, out, locale):
    limits = ["prlimit", f"--cpu={GENERATE_SECONDS}"]
    if not os.environ.get("TQ_SANITIZE"):
        limits.append(f"--as={GENERATE_BYTES}")
    return run([*limits, "protoc", f"--plugin=protoc-gen-tq={plugin}", f"--tq_out={out}", f"-I{case.folder}",
                f"-I{ROOT}/idl", "-I/usr/include", *case.generate], env={**os.environ, "LC_ALL": locale})


def written(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def check_refused(case, done, out):
    if done.returncode == 0:
        return "was accepted"
    if written(out):
        return f"refused, but left {sorted(written(out))}"
    for fragment in case.fragments:
        if fragment not in done.stderr:
            return f"refused without '{fragment}': {done.stderr.strip()}"
    return None


def check_beside_cpp(case, files, scratch):
    """The C++ generator of protobuf may write into the same folder."""
    done = run(["protoc", f"--cpp_out={scratch}", f"-I{case.folder}", f"-I{ROOT}/idl", *case.generate])
    if done.returncode != 0:
        return None  # names that are none in C++
    both = set(files) & set(written(scratch))
    return f"written by --cpp_out as well: {sorted(both)}" if both else None


def first_failure(commands):
    for command in commands:
        done = run(command)
        if done.returncode != 0 or done.stderr:
            return " ".join(command) + "\n" + done.stderr
    return None


def check_compiles(out, scratch):
    include = [f"-I{out}", f"-I{ROOT}/transport/include"]
    files = written(out)
    sources = [name for name in files if name.endswith(".c")]
    commands = []
    for name in sources:
        for compiler, standard in COMPILE:
            commands.append([compiler, f"-std={standard}", *WARNINGS, *include, "-fsyntax-only", str(out / name)])
    for name in files:
        if name.endswith(".h"):
            alone = scratch / (re.sub(r"[^A-Za-z0-9]", "_", name) + ".inc")
            alone.write_text(f'#include "{name}"\n')
            for compiler, language, standard in HEADERS:
                commands.append([compiler, "-x", language, f"-std={standard}", *WARNINGS, *include, "-fsyntax-only",
                                 str(alone)])
    objects = []
    for number, name in enumerate(sources):
        objects.append(str(scratch / f"{number}.o"))
        commands.append(["gcc", "-std=c11", "-O1", *WARNINGS, *include, "-c", "-o", objects[-1], str(out / name)])
    commands.append(["gcc", "-r", "-nostdlib", "-o", str(scratch / "all.o"), *objects])
    return first_failure(commands)


def check_short_enums(out, name):
    done = run(["gcc", "-std=c11", "-fshort-enums", f"-I{out}", f"-I{ROOT}/transport/include", "-fsyntax-only",
                str(out / name)])
    return None if "build without -fshort-enums" in done.stderr else f"{name} compiles with -fshort-enums"


def check_ok(plugin, case, done, out, scratch):
    if done.returncode != 0:
        return f"was refused: {done.stderr.strip()}"
    again, cpp = scratch / "again", scratch / "cpp"
    again.mkdir()
    cpp.mkdir()
    generate(plugin, case, again, "C.UTF-8")
    if written(again) != written(out):
        return "a second run under another locale wrote other bytes"
    for name in case.generate:
        for suffix in (".pb-c.c", ".pb-c.h", ".tq.c", ".tq.h"):
            if not (out / (name[:-len(".proto")] + suffix)).exists():
                return f"{name[:-len('.proto')]}{suffix} is missing"
    source = case.generate[0][:-len(".proto")] + ".tq.c"
    return (check_beside_cpp(case, written(out), cpp) or check_compiles(out, scratch) or
            check_short_enums(out, source))


def judge(plugin, case):
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="tq-case-"))
    try:
        out = scratch / "out"
        out.mkdir()
        done = generate(plugin, case, out, "C")
        if case.kind == "refused":
            return check_refused(case, done, out)
        return check_ok(plugin, case, done, out, scratch)
    except subprocess.TimeoutExpired as late:
        return f"took longer than {MAX_SECONDS} s: {late.cmd}"
    finally:
        shutil.rmtree(scratch)


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    plugin, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    paths = sorted(path for path in CASES.iterdir() if path.is_dir() or path.suffix == ".proto")
    cases = [case for case in map(Case, paths) if not wanted or case.name in wanted]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda case: judge(plugin, case), cases))
    failed = 0
    for case, verdict in zip(cases, verdicts):
        if verdict is not None:
            failed += 1
            print(f"{case.name}: {verdict}")
    kinds = [case.kind for case in cases]
    print(f"{len(cases)} cases ({kinds.count('ok')} compile, {kinds.count('refused')} are refused), {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
