"""Takes out of a text who the user is."""

import os
import pwd
import re
from collections.abc import Callable, Mapping

HOME, USER = "~", "USER"
# It is nobody's name.
ROOT = "root"


def hider(environ: Mapping[str, str]) -> Callable[[str], str]:
    """A function that writes ~ for this user's home directory, and USER for the user's name."""
    homes, names = set(), set()
    if environ.get("HOME", "").startswith("/"):
        homes.add(environ["HOME"])
    names |= {environ[name] for name in ("USER", "LOGNAME") if environ.get(name)}
    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:  # a user without an entry, as in containers
        pass
    else:
        homes.add(entry.pw_dir)
        names.add(entry.pw_name)
    homes |= {os.path.realpath(home) for home in homes}
    homes = {home.rstrip("/") for home in homes if home.strip("/")}
    # Home directories first, since they have the name in them.
    rules = (
        (_any_of(homes, r"\w.-"), HOME),
        (_any_of(names - {ROOT}, "A-Za-z0-9"), USER),
    )

    def hide(text: str) -> str:
        for pattern, instead in rules:
            text = pattern.sub(instead, text)
        return text

    return hide


def _any_of(words: set[str], within: str) -> re.Pattern[str]:
    """Finds these words, but not where one goes on by characters of the class `within`. The longest
    counts: a home directory may lie in another one."""
    either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    # Of no words: what is never found.
    return re.compile(rf"(?<![{within}])(?:{either})(?![{within}])" if words else r"(?!)")
