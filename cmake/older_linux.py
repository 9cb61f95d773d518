"""Lets what is linked here run on a Linux with glibc 2.28 and the libstdc++ of GCC 8: that of the tag manylinux_2_28.

    older_linux.py names FOLDER CC

writes libraries without code that have, of this machine's libc, libm and libstdc++, the names that were there then, each in
its newest version of then. Linked in place of the libraries themselves they decide which versions are asked for.

    older_linux.py copy LIBRARY TO CC

copies a compiled library so that it asks libc for versions of then, where they are the very same functions (by lief).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11)}
SECTIONS = {
    "FUNC": (".text", "function"),
    "IFUNC": (".text", "function"),
    "OBJECT": (".bss", "object"),
    "TLS": ('.section .tbss, "awT", @nobits', "tls_object"),
}

Versions = dict[str, tuple[str, int, str]]
"""Address, size and kind of a name in each of its versions."""


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version))


def was_there(version: str) -> bool:
    kind, _, number = version.partition("_")
    return number[:1].isdigit() and kind in NEWEST and numbers(version) <= NEWEST[kind]


def newest_of_then(known: Versions) -> str | None:
    return max(filter(was_there, known), key=numbers, default=None)


def run(*command: str) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def names_of(library: str, cc: str) -> dict[str, Versions]:
    file = run(cc, f"-print-file-name={library}").strip()
    found: dict[str, Versions] = {}
    for row in (line.split() for line in run("readelf", "-W", "--dyn-syms", file).splitlines()):
        if len(row) == 8 and "@" in row[7] and row[3] in SECTIONS and row[6] != "UND":
            name, version = re.split("@+", row[7])
            found.setdefault(name, {})[version] = (row[1], int(row[2], 0), row[3])
    return found


def write_names(library: str, to: Path, cc: str) -> None:
    versions: dict[str, list[str]] = {}
    code = ['.section .note.GNU-stack, ""']
    for name, known in names_of(library, cc).items():
        if (then := newest_of_then(known)) is None:
            continue
        versions.setdefault(then, []).append(name)
        _, size, kind = known[then]
        section, what = SECTIONS[kind]
        code += [section, f".globl {name}", f".type {name}, @{what}", f".size {name}, {size}", f"{name}: .zero {size}"]
    source, script = to.with_suffix(".s"), to.with_suffix(".map")
    source.write_text("\n".join(code) + "\n")
    script.write_text("".join(f"{v} {{ global: {'; '.join(names)}; }};\n" for v, names in versions.items()))
    run(cc, "-shared", "-nostdlib", f"-Wl,-soname,{library},--version-script={script}", str(source), "-o", str(to))


def copy(library: str, to: str, cc: str) -> None:
    import lief

    libc = names_of("libc.so.6", cc)
    binary = lief.parse(library)
    entries = {v.name: v for part in binary.symbols_version_requirement for v in part.get_auxiliary_symbols()}
    spare = [v for name, v in entries.items() if name.startswith("GLIBC_") and not was_there(name)]
    wanted = []
    for symbol in binary.dynamic_symbols:
        version = symbol.symbol_version
        if not (symbol.imported and version and version.has_auxiliary_version):
            continue
        now = version.symbol_version_auxiliary.name
        if now not in [v.name for v in spare]:
            continue
        known = libc[symbol.name]
        then = newest_of_then(known)
        if then is None or known[then] != known[now]:
            raise SystemExit(f"older_linux: {library} needs {symbol.name} of {now}")
        wanted.append((version, then))
    for version, then in wanted:
        if then not in entries:
            entries[then] = spare.pop()
            entries[then].name = then
        version.value = entries[then].other
    for entry in spare:  # nothing asks for it any longer
        entry.name = min(filter(was_there, entries), key=numbers)
    binary.write(to)


def main(what: str, *paths: str) -> None:
    if what == "copy":
        copy(*paths)
        return
    folder, cc = Path(paths[0]), paths[1]
    folder.mkdir(parents=True, exist_ok=True)
    for library in ("libc.so.6", "libm.so.6", "libstdc++.so.6"):
        write_names(library, folder / library, cc)


if __name__ == "__main__":
    main(*sys.argv[1:])
