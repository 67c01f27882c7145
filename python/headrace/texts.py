"""Texts that others have written, as people are shown them."""

LONGEST = 160
LONGEST_PATH = 4096


def shown(text: str, longest: int = LONGEST) -> str:
    """Text from outside, which may be anything, as part of one line: what is not printable as a
    code, the middle of what is long left out."""
    if len(text) > 2 * longest:  # less to look at
        text = text[:longest] + text[-longest:]
    plain = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)
    if len(plain) <= longest:
        return plain
    half = (longest - 3) // 2
    return f"{plain[:half]}...{plain[-half:]}"
