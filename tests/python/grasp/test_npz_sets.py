"""Sets of grasps in NPZ files: the same bytes out of them as out of HDF5, and every malformed one refused."""

from __future__ import annotations

import io
import json
import os
import resource
import struct
import subprocess
import zipfile
import zlib

import h5py
import numpy as np
import pytest
from arrays import require_module
from program import DONE, INVALID, PROGRAM, ROOT, garra, table_of

BOX = (
    np.array([[x, y, z] for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (-0.05, 0.05)]),
    np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
             + [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]),
)  # fmt: skip
STUDY = """schema = 1
job = "grasp_set"
[set]
file = "grasps"
[contacts]
friction_factor = { uniform = [0.6, 1.2] }
[load]
force_radius = "1 N"
[sampling]
samples = 20
friction_samples = 2
chunk = 7000
max_unsolved = 0.001
"""


def ragged(count: int) -> dict[str, np.ndarray]:
    """Pinches of two to four contacts, one with its normals turned; every kind of number that a set may have."""
    rng = np.random.default_rng(5)
    contacts = rng.integers(2, 5, count)
    first = np.concatenate([[0], np.cumsum(contacts)])
    m = first[-1]
    side = np.where((np.arange(m) - np.repeat(first[:-1], contacts)) % 2 == 0, 1.0, -1.0)
    point = np.stack([0.03 * side, *rng.uniform(-0.01, 0.01, (2, m))], axis=1)
    normal = np.stack([-side, *rng.normal(0, 0.05, (2, m))], axis=1)
    normal[first[2] : first[3]] *= -1
    return {
        "first": first,
        "point": point,
        "normal": normal.astype(np.float32),
        "friction": rng.uniform(0.4, 0.6, m),
        "force_limit": rng.integers(5, 9, m).astype(np.int32),
        "mass": rng.uniform(0.3, 0.7, count),
        "com": np.zeros((count, 3), np.int8),
        "gravity": np.tile(np.array([0, 0, -10], np.int16), (count, 1)),
        "name": np.array([f"pinch {g} \u00b5" for g in range(count)]),
    }


def write_h5(path, arrays):
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            text = array.dtype.kind == "U"
            file.create_dataset(name, data=array.astype(object) if text else array, **({"dtype": h5py.string_dtype()} if text else {}))  # fmt: skip


def ranked(folder, name, *more):
    """Numbers of a ranking, and of a run in chunks, of a file in this folder."""
    (folder / "study.toml").write_text(STUDY.replace('"grasps"', f'"{name}"'))
    out = folder / f"{name}.ranking.h5"
    garra("grasp", "rank", folder / name, folder / "study.toml", "-o", out, "--no-report", *more)
    garra("check", folder / "study.toml")
    garra("run", folder / "study.toml", "-o", folder / f"{name}.run", "--no-report", *more)
    garra("verify", folder / f"{name}.run", "--fraction", "0.4")
    return table_of(out), table_of(folder / f"{name}.run" / "ranking.h5")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same set in three files, of more grasps than are read at once."""
    folder = tmp_path_factory.mktemp("npz")
    arrays = ragged(17_000)
    write_h5(folder / "h5", arrays)
    np.savez(folder / "stored.npz", **arrays)
    np.savez_compressed(folder / "deflated.npz", **arrays)
    return folder


def test_rankings_and_runs_have_the_bytes_of_the_hdf5_file(files):
    there, run = ranked(files, "h5")
    assert there["status"][2] != 0 and 0.2 < np.nanmean(there["p_held"]) < 1
    for name in ("stored.npz", "deflated.npz"):
        for found in ranked(files, name):
            assert found.keys() == there.keys()
            for column, values in there.items():
                assert values.tobytes() == found[column].tobytes() == run[column].tobytes(), (name, column)


@pytest.mark.parametrize("name", ["stored.npz", "deflated.npz"])
def test_samples_are_replayed(files, name):
    def replay(set_file, grasp):
        out = files / f"{set_file}.few.h5"
        if not out.exists():
            garra("grasp", "rank", files / set_file, "-o", out, "--no-report", "--max-unsolved", "0.01", "--set", "sampling.samples=3")
        return json.loads(garra("replay", out, "--grasp", grasp, "--sample", 1, "--format", "json").stdout)

    for grasp in (0, 16_999, 4):
        assert replay(name, grasp) == replay("h5", grasp)


def test_workers_share_a_set_in_npz(files):
    (files / "study.toml").write_text(STUDY.replace('"grasps"', '"deflated.npz"'))
    garra("submit", files / "study.toml", "-o", files / "shared")
    garra("worker", files / "shared")
    garra("resume", files / "shared", "--no-report")
    there = garra("grasp", "rank", files / "study.toml", "-o", files / "alone.h5", "--no-report")
    assert there.returncode == DONE
    for column, values in table_of(files / "alone.h5").items():
        assert values.tobytes() == table_of(files / "shared/ranking.h5")[column].tobytes(), column


def test_the_page_shows_names_and_pictures(files):
    few = ragged(5)
    few["object/vertex"], few["object/face"] = BOX
    np.savez_compressed(files / "few.npz", **few)
    garra("grasp", "rank", files / "few.npz", "-o", files / "few.h5", "--set", "sampling.samples=3")
    page = (files / "few.html").read_text()
    assert "pinch 3" in page and "no longer where it was" not in page


def test_python_reads_and_writes_them(files):
    require_module()
    import garra as package

    arrays = ragged(12)
    read = package.grasp.GraspSet.from_arrays(
        arrays["point"], arrays["normal"], arrays["friction"], first=arrays["first"], mass=arrays["mass"],
        mesh=BOX, names=arrays["name"],
    )  # fmt: skip
    read.sample = np.arange(12)
    read.save(files / "saved.npz")
    again = package.grasp.GraspSet.from_npz(files / "saved.npz")
    assert again.names == list(arrays["name"]) and again.mesh[1].tolist() == BOX[1].tolist()
    assert again.sample.tolist() == list(range(12))
    # By its content, whatever its name is.
    renamed = files / "saved.h5"
    renamed.write_bytes((files / "saved.npz").read_bytes())
    np.testing.assert_array_equal(package.grasp.rank(renamed, samples=20).held, package.grasp.rank(read, samples=20).held)
    garra("grasp", "rank", renamed)
    renamed.write_bytes((files / "saved.npz").read_bytes()[:-30])
    with pytest.raises(package.FileError):
        package.grasp.GraspSet.from_npz(renamed)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed], ids=["stored", "deflated"])
def test_memory_does_not_grow_with_the_set(tmp_path, save):
    def peak(count: int) -> int:
        point = np.zeros((count, 2, 3))
        point[:, 0, 0], point[:, 1, 0] = -0.03, 0.03
        save(tmp_path / "set.npz", point=point, normal=-point, friction=np.full((count, 2), 0.5), mass=np.full(count, 0.1))
        few = STUDY.replace('"grasps"', '"set.npz"').replace("samples = 20\nfriction_samples = 2", "samples = 1\nfriction_samples = 0")
        (tmp_path / "study.toml").write_text(few.replace("7000", "2000"))
        command = [PROGRAM, "run", tmp_path / "study.toml", "-o", tmp_path / f"run{count}", "--no-report", "--quiet"]
        process = subprocess.Popen(command, cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        return 1024 * usage.ru_maxrss

    more = 150_000
    # The set's rows alone are 120 bytes a grasp, and the order of its ranking 40.
    assert peak(20_000 + more) - peak(20_000) < 80 * more


# --- malformed files


def npy(array, version=(1, 0)) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), version=version)
    return file.getvalue()


def headed(header: str, body: bytes = b"", version: bytes = b"\1\0") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H" if version[0] == 1 else "<I", len(text)) + text + body


POINT = np.array([[[0.03, 0, 0], [-0.03, 0, 0]]])


def archive(method=zipfile.ZIP_STORED, **replaced: bytes | None) -> bytes:
    """A set of one pinch, with members replaced, added or (None) left out."""
    members = {"point": npy(POINT), "normal": npy(-POINT), "friction": npy([[0.5, 0.5]]), "mass": npy([0.1])} | replaced
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as zip_:
        for name, content in members.items():
            if content is not None:
                zip_.writestr(f"{name}.npy", content)
    return file.getvalue()


def patched(data: bytes, signature: bytes, at: int, value: bytes, which: int = 0) -> bytes:
    """With other bytes so far behind the signature of a record."""
    place = -1
    for _ in range(which + 1):
        place = data.index(signature, place + 1)
    place += at
    return data[:place] + value + data[place + len(value) :]


LOCAL, CENTRAL, END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
HEADER = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }"


def twice() -> bytes:
    file = io.BytesIO(archive())
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(file, "a") as zip_:
        zip_.writestr("mass.npy", npy([0.2]))
    return file.getvalue()


def bomb() -> bytes:
    """A gigabyte of zeros, said to be in a few hundred bytes."""
    data = archive(zipfile.ZIP_DEFLATED, point=headed(HEADER % ("<f8", "False", "(22369621, 2, 3)"), bytes(1000)))
    size = struct.pack("<I", 1_073_741_824)
    return patched(patched(data, LOCAL, 22, size), CENTRAL, 24, size)


def damaged() -> bytes:
    """Deflated numbers of which one bit is another."""
    rng = np.random.default_rng(1)
    points = npy(rng.normal(size=(5000, 2, 3)))
    loads = {"friction": npy(np.ones((5000, 2))), "mass": npy(np.ones(5000))}
    data = bytearray(archive(zipfile.ZIP_DEFLATED, point=points, normal=points, **loads))
    data[150_000] ^= 4
    return bytes(data)


def checksum_off() -> bytes:
    data = archive(zipfile.ZIP_DEFLATED)
    wrong = struct.pack("<I", zlib.crc32(npy(POINT)) ^ 1)
    return patched(patched(data, LOCAL, 14, wrong), CENTRAL, 16, wrong)


def longer_than_said() -> bytes:
    """A deflated member with a number more than its sizes say."""
    data = archive(zipfile.ZIP_DEFLATED, point=npy(POINT) + bytes(8))
    size = struct.pack("<I", len(npy(POINT)))
    return patched(patched(data, LOCAL, 22, size), CENTRAL, 24, size)


def overlapping() -> bytes:
    """The second member's entry leads to the first one's bytes, by another member's header within it."""
    inner = archive(normal=None, friction=None, mass=None).split(CENTRAL)[0]
    data = archive(zzz=inner)
    at = data.index(inner, 10)
    return patched(data, CENTRAL, 42, struct.pack("<I", at))


def big_directory() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zip_:
        for k in range(1001):
            zip_.writestr(f"{k}", b"")
    return file.getvalue()


WHOLE = archive()
MALFORMED = {
    "a cut file": (WHOLE[:-40], "list of members"),
    "a file cut within its numbers": (WHOLE[: len(WHOLE) // 2], "list of members"),
    "bytes behind its end": (WHOLE + b"x", "list of members"),
    "only its first bytes": (b"PK\3\4", "list of members"),
    "nothing in it": (b"PK\5\6" + bytes(18), "point.npy: is missing"),
    "bytes before its members": (b"PK\3\4" + WHOLE, "not where it should be"),
    "a member twice": (twice(), "mass.npy is there twice"),
    "no normals": (archive(normal=None), "normal.npy: is missing"),
    "an encrypted member": (patched(patched(WHOLE, LOCAL, 6, b"\1\0"), CENTRAL, 8, b"\1\0"), "point.npy: is encrypted"),
    "a member by bzip2": (archive(zipfile.ZIP_BZIP2), "a method that is not deflate"),
    "two methods": (patched(WHOLE, LOCAL, 8, b"\x08\0"), "contradict"),
    "two names": (patched(WHOLE, LOCAL, 30, b"paint"), "contradict"),
    "two sizes": (patched(WHOLE, LOCAL, 22, b"\0\0\0\1"), "contradict"),
    "two checksums": (patched(WHOLE, LOCAL, 14, b"\0\0\0\1"), "contradict"),
    "a stored member of two sizes": (patched(patched(WHOLE, LOCAL, 22, b"\1\0"), CENTRAL, 24, b"\1\0"), "two sizes"),
    "a member beyond the end": (patched(WHOLE, CENTRAL, 42, b"\0\0\0\1"), "beyond the end"),
    "a member that is not there": (patched(WHOLE, CENTRAL, 42, b"\1\0\0\0"), "is not where the list says"),
    "a list of fewer members": (patched(patched(WHOLE, END, 8, b"\3\0"), END, 10, b"\3\0"), "more than its members"),
    "a list of more members": (patched(patched(WHOLE, END, 8, b"\5\0"), END, 10, b"\5\0"), "ends too early"),
    "a list elsewhere": (patched(WHOLE, END, 16, b"\1\0\0\0"), "not where it should be"),
    "a part of an archive": (patched(WHOLE, END, 4, b"\1\0"), "several parts"),
    "too many members": (big_directory(), "1001 members"),
    "zip64 without its record": (patched(WHOLE, END, 16, b"\xff\xff\xff\xff"), "zip64"),
    "a zip64 size that is missing": (patched(WHOLE, CENTRAL, 24, b"\xff\xff\xff\xff"), "zip64"),
    "members within one another": (overlapping(), "within another member"),
    "a bomb": (bomb(), "cannot hold"),
    "a damaged stream": (damaged(), "cannot be read"),
    "another checksum": (checksum_off(), "checksum"),
    "a longer stream": (longer_than_said(), "more or less than it says"),
    "no NumPy array": (archive(point=b"something else, long enough"), "point.npy: is no NumPy array"),
    "an array of ten bytes": (archive(point=npy(POINT)[:9]), "ends within its header"),
    "a header that is cut": (archive(point=npy(POINT)[:40]), "ends within its header"),
    "format version 4": (archive(point=npy(POINT)[:6] + b"\4\0" + npy(POINT)[8:]), "version 4.0"),
    "a header of a gigabyte": (archive(point=headed("", version=b"\2\0").replace(b"\1\0\0\0", b"\0\0\0\x40")), "1073741824 bytes"),
    "a header that is code": (archive(point=headed("__import__('os').abort()")), "none of NumPy's"),
    "a header with an entry more": (archive(point=headed("{'descr': '<f8', 'fortran_order': False, 'shape': (1,2,3), 'x': 1}", POINT.tobytes())), "none of NumPy's"),
    "a header with an entry twice": (archive(point=headed("{'descr': '<f8', 'descr': '<f8', 'shape': (1,2,3)}", POINT.tobytes())), "none of NumPy's"),
    "a header with an entry less": (archive(point=headed("{'descr': '<f8', 'shape': (1,2,3)}", POINT.tobytes())), "none of NumPy's"),
    "a header with a negative size": (archive(point=headed(HEADER % ("<f8", "False", "(-1, 2, 3)"))), "none of NumPy's"),
    "a shape that overflows": (archive(point=headed(HEADER % ("<f8", "False", "(4294967296, 4294967296, 3)"))), "more numbers than any file"),
    "a number that overflows": (archive(point=headed(HEADER % ("<f8", "False", "(18446744073709551616, 2, 3)"))), "none of NumPy's"),
    "numbers that are missing": (archive(point=npy(POINT)[:-8]), "48 bytes of numbers, but has 40"),
    "numbers too many": (archive(point=npy(POINT) + bytes(8)), "but has 56"),
    "grasps without any contact": (archive(point=headed(HEADER % ("<f8", "False", f"({2**60}, 0, 3)"))), "no grasp has a contact"),
    "numbers by columns": (archive(point=npy(np.asfortranarray(np.ones((2, 2, 3))))), "by columns (fortran_order)"),
    "big-endian numbers": (archive(point=npy(POINT.astype(">f8"))), "another order"),
    "strings": (archive(point=npy(np.full((1, 2, 3), "0.1"))), "found strings"),
    "complex numbers": (archive(point=npy(POINT + 0j)), "found complex numbers"),
    "a pickle": (archive(point=npy(np.full((1, 2, 3), None))), "never read"),
    "half floats": (archive(point=npy(POINT.astype("f2"))), "another width"),
    "records": (archive(point=npy(np.zeros(3, "f8,i4"))), "records"),
    "another shape": (archive(mass=npy([0.1, 0.2])), "mass.npy: expected shape [1], found [2]"),
    "rows as floating-point numbers": (archive(first=npy([0.0, 2.0]), point=npy(POINT[0]), normal=npy(-POINT[0])), "first.npy: expected whole numbers"),
    "no grasps": (archive(first=npy([0]), point=npy(np.zeros((0, 3))), normal=npy(np.zeros((0, 3))), mass=npy(np.zeros(0))), "first.npy: has no grasp"),
    "no grasps of two contacts": (archive(point=npy(np.zeros((0, 2, 3))), normal=npy(np.zeros((0, 2, 3)))), "point.npy: has no grasp"),
    "rows that fall": (archive(first=npy([0, 2, 1]), point=npy(POINT[0]), normal=npy(-POINT[0])), "first.npy: row 2 is 1"),
}  # fmt: skip


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_file_is_refused_with_its_name_and_a_remedy(tmp_path, what):
    data, said = MALFORMED[what]
    file = tmp_path / "set.npz"
    file.write_bytes(data)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    error = garra("grasp", "rank", file, expect=INVALID, preexec_fn=limit).stderr
    assert error.startswith(f"garra: {file}: ") and said in error
    assert error.count("\n") >= 2, "a remedy is on the next line"
    (tmp_path / "study.toml").write_text(STUDY.replace('"grasps"', '"set.npz"'))
    assert said in garra("run", tmp_path / "study.toml", "-o", tmp_path / "run", "--no-report", expect=None).stderr


def test_damage_deep_in_a_file_is_said_with_its_rows(tmp_path):
    file = tmp_path / "set.npz"
    file.write_bytes(damaged())
    assert "point.npy: rows 0 to 4999" in garra("grasp", "rank", file, expect=INVALID).stderr


@pytest.mark.parametrize(
    "data",
    [
        archive(zipfile.ZIP_DEFLATED),
        archive(point=npy(POINT, (2, 0)), normal=npy(-POINT, (3, 0))),
        archive(name=npy(["a name"])),
        archive(name=npy([None]), note=b"no array"),
        archive(point=headed('{"shape": (1,2,3), "descr": "<f8", "fortran_order": False}', POINT.tobytes())),
    ],
    ids=["deflated", "versions 2 and 3", "texts", "members that are not read", "another order of the header"],
)
def test_what_numpy_writes_is_read(tmp_path, data):
    file = tmp_path / "set.npz"
    file.write_bytes(data)
    assert json.loads(garra("grasp", "rank", file, "--format", "json").stdout)["status"]["ranked"] == 1


def test_zip64_and_sizes_behind_the_members_are_read(tmp_path):
    file = tmp_path / "set.npz"

    class Pipe(io.RawIOBase):
        """What cannot be gone back in."""

        def __init__(self, to):
            self.to = to

        def writable(self):
            return True

        def write(self, data):
            return self.to.write(data)

    with file.open("wb") as to, zipfile.ZipFile(Pipe(to), "w") as zip_:
        for name, array in {"point": POINT, "normal": -POINT, "friction": [[0.5, 0.5]], "mass": [0.1]}.items():
            with zip_.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(npy(array))
    data = file.read_bytes()
    garra("grasp", "rank", file)
    # The same with the record of 64 bits before the end.
    end = data.rindex(END)
    members, size, start = struct.unpack("<HII", data[end + 10 : end + 20])
    large = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, members, members, size, start)
    large += b"PK\6\7" + struct.pack("<IQI", 0, end, 1)
    file.write_bytes(data[:end] + large + END + bytes(4) + b"\xff" * 12 + bytes(2))
    garra("grasp", "rank", file)


def test_a_moment_length_from_npz_hdf5_and_arrays_replaces_the_radius_of_gyration(tmp_path):
    import garra as module

    require_module()
    angle = 2 * np.pi * np.arange(3) / 3
    into = np.stack([np.cos(angle), np.sin(angle), np.zeros(3)], axis=1)
    given = {"points": np.tile(-0.03 * into, (4, 1, 1)), "normals": np.tile(into, (4, 1, 1)), "friction": 0.6,
             "mass": 0.2, "inertia": 1e-4 * np.eye(3), "force_limit": 20.0}  # fmt: skip
    gyration = np.sqrt(1e-4 / 0.2)
    ranked = {"com": module.ball(0.004), "samples": 40, "friction_samples": 2, "radius_samples": 40}
    plain = module.grasp.rank(module.grasp.GraspSet.from_arrays(**given), **ranked)
    grasps = module.grasp.GraspSet.from_arrays(**given, moment_length=gyration * np.array([1, 4, 0.25, -1]))
    found = [module.grasp.rank(grasps, **ranked)]
    for name in ("set.npz", "set.h5"):
        grasps.save(tmp_path / name)
        read = module.grasp.GraspSet.from_npz if name.endswith("npz") else module.grasp.GraspSet.from_hdf5
        found.append(module.grasp.rank(read(tmp_path / name), **ranked))
    for ranking in found:
        radius = ranking.resisted_force_radius
        np.testing.assert_allclose(radius[0], plain.resisted_force_radius[0], rtol=1e-12)
        # A ball with larger moments fits where a smaller push does.
        assert radius[1] < 0.9 * radius[0] < 0.9**2 * radius[2]
        # Whether forces balance a wrench does not depend on the length.
        np.testing.assert_array_equal(ranking.held[:3], plain.held[:3])
        assert ranking.refused == {"bad_mass": 1}


@pytest.mark.parametrize(("wrong", "near"), [("force_limits", "force_limit"), ("frction", "friction"), ("normals", "normal")])
def test_a_misspelled_array_is_named_and_another_one_is_not(tmp_path, wrong, near):
    arrays = {"first": [0, 2], "point": [[0.1, 0, 0], [-0.1, 0, 0]], "normal": [[-1.0, 0, 0], [1, 0, 0]], "friction": [0.5, 0.5], "mass": [0.1]}
    np.savez(tmp_path / "set.npz", **arrays, score=[3.0], note=[1.0, 2.0])
    assert "1 of 1 grasps ranked" in garra("grasp", "rank", tmp_path / "set.npz", "-o", tmp_path / "r.h5", "--no-report").stdout
    np.savez(tmp_path / "set.npz", **arrays, **{wrong: [1.0, 1.0]})
    refused = garra("grasp", "rank", tmp_path / "set.npz", "-o", tmp_path / "r.h5", expect=3)
    assert f"member {wrong}.npy: unknown array" in refused.stderr and f'Did you mean "{near}"?' in refused.stderr
