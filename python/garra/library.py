"""Choice of the compiled libraries: a wheel has some for each instruction set (cmake/isas.cmake)."""

from __future__ import annotations

import ctypes
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent / "lib"


def load() -> None:
    """Loads those for this processor, or GARRA_ISA's, before garra._core asks for them by the name libgarra.so.

    Nothing to do where the module has it inside, as in a source tree. Raises ImportError where GARRA_ISA names a set
    that there is not, or that this processor does not have.
    """
    if not (_FOLDER / "libgarra-isa.so").is_file():
        return
    choose = ctypes.CDLL(str(_FOLDER / "libgarra-isa.so")).garra_libraries
    choose.restype = ctypes.c_char_p
    problem = ctypes.c_char_p()
    names = choose(ctypes.byref(problem))
    if names is None:
        raise ImportError((problem.value or b"").decode())
    for name in names.decode().split():
        ctypes.CDLL(str(_FOLDER / name))
