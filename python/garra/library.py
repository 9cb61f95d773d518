"""Which compiled library this process runs: a wheel has one for each instruction set (cmake/isas.cmake)."""

from __future__ import annotations

import ctypes
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent / "lib"


def load() -> None:
    """Loads the one for this processor, or GARRA_ISA's, before garra._core asks for it by the name libgarra.so.

    Nothing to do where the module has it inside, as in a source tree. Raises ImportError where GARRA_ISA names a set
    that there is not, or that this processor does not have.
    """
    if not (_FOLDER / "libgarra-isa.so").is_file():
        return
    choose = ctypes.CDLL(str(_FOLDER / "libgarra-isa.so")).garra_choose_isa
    choose.restype = ctypes.c_char_p
    problem = ctypes.c_char_p()
    isa = choose(ctypes.byref(problem))
    if isa is None:
        raise ImportError((problem.value or b"").decode())
    for name in (f"libgarra-{isa.decode()}.so", "libgarra-host.so"):
        ctypes.CDLL(str(_FOLDER / name))
