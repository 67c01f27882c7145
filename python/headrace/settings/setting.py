"""One setting: its name and what may be written. The generated table has all of them."""

import string
from dataclasses import dataclass

PREFIX = "HEADRACE_"
MOST_UNKNOWN = 20  # names that are told

# Other letters stay as they are, as in the library (src/base/settings_file.cc, spelling.cc).
_CAPITALS = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)
_SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@dataclass(frozen=True)
class Setting:
    """An entry of spec/settings/10_general.toml, which says what each field means.

    default: as a user would write it, be it out of the range of other values.
    minimum, maximum: of a size (in bytes) or a whole number.
    alias: another toolkit's variable that means the same.
    scope: why files of the user and the site may not give it, a key of NOT_IN_FILES in the table.
    of_command: only the `headrace` command reads it; ranks do not get it.
    """

    name: str
    type: str
    default: str
    minimum: int = 0
    maximum: int = 0
    values: tuple[str, ...] = ()
    alias: str = ""
    scope: str = ""
    of_command: bool = False


def variable_name(word: str) -> str:
    """The variable that a user's word names: `quiet`, `QUIET` and `HEADRACE_QUIET` are one."""
    return PREFIX + word.translate(_CAPITALS).removeprefix(PREFIX)


def in_small_letters(text: str) -> str:
    return text.translate(_SMALL)
