"""Executors, threads and sizes of chunks change no byte of summary.json and results.h5 (docs/theory/numerics.md).
tools/determinism does it with other instruction sets and another compiler, too."""

from __future__ import annotations

import determinism
import pytest
from program import PROGRAM


@pytest.mark.parametrize("job", determinism.JOBS)
def test_executors_threads_and_chunks_change_no_byte(tmp_path, job):
    ways = determinism.WAYS
    answers = {way: determinism.answer(PROGRAM, job, way, tmp_path / str(k)) for k, way in enumerate(ways)}
    assert all(answers[ways[0]].values())
    assert {way for way in ways if answers[way] != answers[ways[0]]} == set()
