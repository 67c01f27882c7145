"""What the flags of a benchmark program name."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from headrace.errors import HeadraceError

# What makes a way of a job: flags that the ways differ in. IOR's letters without a value may stand
# together, as "-wc", and its -O gives names.
_IOR_WAY = re.compile(
    r"-[CEFHKRVWYZeghkmpqrvw]*[ac]"
    r"|--(?i:api|collective)(=|$)"
    r"|(-O=?)?([^-].*,)?(?i:api|collective)="
)
_KERNEL_WAY = re.compile(r"--(way|request|readRequest)(=|$)", re.IGNORECASE)


def require_no_way(program: str, words: Iterable[str]) -> None:
    """Raises where the user's flags would make another way of each."""
    pattern = _IOR_WAY if program == "ior" else _KERNEL_WAY
    for word in words:
        if pattern.match(word):
            raise HeadraceError(
                f"'{word}' cannot be compared",
                "it makes the ways of a comparison",
                f"leave it out, or run 'headrace bench {program}' by hand with it",
            )


def _is_named(option: str, words: Sequence[str]) -> bool:
    """Whether a program's flags name the option, as "-b 4k", "-b4k" or "--name=value"."""
    if option.startswith("--"):
        return any(word.partition("=")[0].lower() == option.lower() for word in words)
    return any(word.startswith(option) for word in words)


def own_sizes(
    sizes: Mapping[str, str],
    extra: Sequence[str],
    unless: Mapping[str, Sequence[str]] | None = None,
) -> tuple[str, ...]:
    """A job's own flags beside the user's `extra`: the `sizes` that those do not name, and of which
    they name nothing in `unless`, the options that exclude a size."""
    return tuple(
        word
        for option, value in sizes.items()
        if not any(_is_named(other, extra) for other in (option, *(unless or {}).get(option, ())))
        for word in (option, value)
    )


_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def _size_named(option: str, words: Sequence[str]) -> int:
    """The bytes that the flags give an option, as "--piece 3k"; 0 where they give none, or what
    the program will refuse."""
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        name, equals, value = word.partition("=")
        if name.lower() == option:
            text = (value if equals else following).lower()
            digits = text.rstrip("".join(_UNITS))
            is_size = digits.isdecimal() and text[len(digits) :] in ("", *_UNITS)
            return int(digits) * _UNITS.get(text[len(digits) :], 1) if is_size else 0
    return 0


def in_whole_pieces(sizes: Mapping[str, str], extra: Sequence[str]) -> dict[str, str]:
    """The sizes, that of a rank rounded down to whole pieces where the flags give pieces."""
    piece = _size_named("--piece", extra)
    if piece == 0 or "--size" not in sizes:
        return dict(sizes)
    return {**sizes, "--size": str(max(1, int(sizes["--size"]) // piece) * piece)}
