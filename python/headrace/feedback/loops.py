"""Which loop a line is in, as its text is indented."""

from collections.abc import Iterable, Sequence

# Lines further below the begin of a loop, of a file that is not there, are not taken for it.
FARTHEST = 30
# These stand where they like.
_ANYWHERE = ("#", "!", "//", "/*", "*")
_BRACES = ("{", "}")


def indent(text: str) -> int:
    wide = text.expandtabs(8)
    return len(wide) - len(wide.lstrip())


def is_inside(begin: int, line: int, text: Sequence[str] | None) -> bool:
    """Is `line` in the loop that begins at `begin`. text: of the file, or None."""
    if line == begin:
        return True
    if line < begin or text is None or line > len(text):
        return text is None and begin < line <= begin + FARTHEST
    least = indent(text[begin - 1])
    for own in text[begin:line]:
        plain = own.strip()
        if not plain or plain.startswith(_ANYWHERE):
            continue
        deep = indent(own)
        if deep < least or (deep == least and plain not in _BRACES):
            return False
    return text[line - 1].strip() != "}" or indent(text[line - 1]) > least


def around(line: int, begins: Iterable[int], text: Sequence[str] | None) -> list[int]:
    """The loops that `line` is in, the innermost first, of those that begin at these lines."""
    return [one for one in sorted(set(begins), reverse=True) if is_inside(one, line, text)]
