"""Is a remark about a function: as far as compilers and debugging information name it alike."""

import re
from collections.abc import Iterable
from functools import lru_cache

from headrace.feedback.remark import Remark
from headrace.symbols.names import demangled

# What demanglers say of copies that a compiler made: [clone .isra.0], (.isra.0).
_COPY = re.compile(r"(?: ?\[clone [^\]]*\]| ?\(\.[\w.]+\))+$")
_COPY_OF_C = re.compile(r"(?:\.(?:isra|constprop|part|cold|lto_priv)(?:\.\d+)?)+$")


def is_of(one: Remark, functions: Iterable[str]) -> bool:
    """Mangled names are compared whole; others may lack scopes and parameters."""
    name = one.function
    if not name:
        return False
    if name.startswith("_Z"):
        return any(_whole(name) == _whole(own) for own in functions)
    return any(_plain(name) == _plain(own) for own in functions)


@lru_cache(1 << 16)
def _whole(function: str) -> str:
    """Without spaces, which demanglers set as they like."""
    return _COPY.sub("", demangled(function)).replace(" ", "")


@lru_cache(1 << 16)
def _plain(function: str) -> str:
    """Without parameters, scopes of Fortran's modules and underscores behind."""
    name = demangled(function).replace("(anonymous namespace)::", "")
    name = _COPY_OF_C.sub("", name.partition("(")[0].lower()).rstrip("_")
    for between in ("_mod_", "_mp_"):
        name = name.rpartition(between)[2]
    return name.rpartition("::")[2]
