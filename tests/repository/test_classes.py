"""What keeps a class small: how many public member functions it has beside those of its base, how
many others, and how many data members."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest
import source_tree

MOST_PUBLIC = 20
MOST_PRIVATE = 20
MOST_MEMBERS = 24
# Those that are wider today. These numbers only ever become smaller.
WIDER_PRIVATE = {
    "src/exchange/exchange_leader.h: ExchangeLeader": 28,
    "src/buffering/block_cache.h: BlockCache": 27,
}
WIDER_MEMBERS = {"src/record/thread_record.h: ThreadRecord": 32}
# Layouts of data: one member for each setting, and for each value at the head of an image.
LAYOUTS = {"src/base/settings.h: Settings", "src/record/image.h: ImageHeader"}

NO_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|^#[^\n]*", re.S | re.M
)
CLASS = re.compile(
    r"\b(?<!enum )(class|struct)\s+(?:\[\[\w+\]\]\s*)?(?:alignas\([^)]*\)\s*)?(\w+)"
    r"(?:<[^{};]*>)?(?:\s+final)?\s*(?::[^;{}]*)?$"
)
LABEL = re.compile(r"^\s*(public|protected|private)\s*:")
NO_MEMBER = re.compile(r"^\s*(friend|using|typedef|static_assert|enum)\b")
NO_DATA = re.compile(
    r"^\s*((inline )?static|constexpr|template|extern)\b|^\s*(class|struct)\s+\w*$"
)


@dataclass
class Class:
    """What a class defines, but for deleted functions and those that it overrides."""

    public: list[str] = field(default_factory=list)  # functions
    private: list[str] = field(default_factory=list)  # functions, protected ones too
    members: list[str] = field(default_factory=list)  # data, which are no constants


@dataclass
class Scope:
    """What a pair of braces encloses; a class has a name."""

    name: str = ""
    before: str = ""  # the text in front of it, if it is no class
    is_public: bool = False
    found: Class = field(default_factory=Class)


def is_function(declaration: str) -> bool:
    """Of a member: has parameters in its own declarator, in front of any initial value."""
    if NO_MEMBER.match(declaration):
        return False
    head = re.sub(r"\balignas\([^)]*\)|\brequires\s*\(.*?\)", "", declaration)
    head = re.sub(r"operator\s*(\(\)|[^\s(\w]+)", "operator_of", head)
    while (shorter := re.sub(r"<[^<>]*>", "", head)) != head:
        head = shorter
    name = re.search(r"[~\w]\s*\(", head)
    value = head.find("=")
    return name is not None and (value < 0 or name.start() < value)


def classes_of(code: str) -> dict[str, Class]:
    """All classes that C++ code defines."""
    code = NO_CODE.sub(" ", code)
    found: dict[str, Class] = {}
    scopes = [Scope()]
    text = ""
    parentheses = 0
    for character in code:
        parentheses += (character == "(") - (character == ")")
        if parentheses or character not in "{};:":
            text += character
        elif character == ":":
            text = _after_label(scopes[-1], text + character)
        elif character == ";":
            _take(scopes[-1], text)
            text = ""
        elif character == "{":
            scopes.append(_opened(scopes, text))
            text = ""
        else:
            closed = scopes.pop()
            if closed.name:
                found[closed.name] = closed.found
                text = "class "
            else:
                text = _after_body(scopes[-1], closed.before)
    return found


def _opened(scopes: list[Scope], text: str) -> Scope:
    is_class = CLASS.search(text)
    if is_class is None:
        return Scope(before=text)
    outer = scopes[-1].name
    name = is_class[2] if not outer else f"{outer}::{is_class[2]}"
    return Scope(name, is_public=is_class[1] == "struct")


def _after_label(scope: Scope, text: str) -> str:
    label = LABEL.match(text)
    if label is None:
        return text
    scope.is_public = label[1] == "public"
    return ""


def _after_body(scope: Scope, text: str) -> str:
    """A function ends with its body; a member with `{}` for a value goes on to its semicolon."""
    if is_function(text):
        _take(scope, text)
        return ""
    return text


def _take(scope: Scope, text: str) -> None:
    if not scope.name or NO_MEMBER.match(text) or not text.strip():
        return
    if not is_function(text):
        if not NO_DATA.match(text):
            scope.found.members.append(" ".join(text.split()))
    elif not re.search(r"= delete$|\boverride\b", text):
        functions = scope.found.public if scope.is_public else scope.found.private
        functions.append(" ".join(text.split()))


def classes() -> Iterator[tuple[str, Class]]:
    for path in source_tree.with_suffix(".h", ".cc"):
        if path.is_relative_to(source_tree.ROOT / "src") and not source_tree.is_generated(path):
            for name, found in classes_of(source_tree.text(path)).items():
                yield f"{source_tree.shown(path)}: {name}", found


EXAMPLE = """
/// class Comment { public: void a(); };
enum class Kind : std::uint8_t { one, two };
class Plain : public Base<int(char)> {
 public:
  explicit Plain(int a, std::string b = {}) : a_(a), b_{std::move(b)} { start(); }
  ~Plain() override;
  Plain(const Plain&) = delete;
  template <class T>
  T get(const char* text = ");{") const noexcept {
    if (a_) return {};
    return T{};
  }
  bool operator()(int x) const { return x == 0; }
  struct Inner {
    int number() const { return 1; }
    std::function<void(int)> call;
    int value = f(1);
    int other{};
  };
  const std::array<int, 3> values{1, 2, 3};

 protected:
  void hidden();

 private:
  friend void peek(Plain&);
  void own();
  std::atomic<int> a_ = 0;
};
struct Open { void f(); Result<int(*)()> g(); private: void h(); };
class [[nodiscard]] Marked { public: void f(); };
"""


def test_the_parser_sees_functions() -> None:
    found = {
        name: (len(one.public), len(one.private), len(one.members))
        for name, one in classes_of(EXAMPLE).items()
    }
    inner = (1, 0, 3)
    assert found == {
        "Plain": (3, 2, 2),
        "Plain::Inner": inner,
        "Open": (2, 1, 0),
        "Marked": (1, 0, 0),
    }


@pytest.mark.parametrize("room", ["abi", "exchange", "fabric", "file", "storage", "view"])
def test_classes_are_found_in(room: str) -> None:
    found = [one for name, one in classes() if name.startswith(f"src/{room}/")]
    assert any(one.public for one in found) and any(one.members for one in found)


def test_classes_have_few_public_functions() -> None:
    """Constructors and destructors count, deleted functions do not."""
    large = {name: len(one.public) for name, one in classes() if len(one.public) > MOST_PUBLIC}
    assert not large, f"more than {MOST_PUBLIC} public functions: cut {large} by responsibility"


def test_classes_have_few_private_functions() -> None:
    counts = {name: len(one.private) for name, one in classes()}
    large = wider(counts, MOST_PRIVATE, WIDER_PRIVATE)
    assert not large, f"more than {MOST_PRIVATE} private functions: cut {large} by responsibility"


def test_classes_have_few_members() -> None:
    counts = {name: len(one.members) for name, one in classes() if name not in LAYOUTS}
    large = wider(counts, MOST_MEMBERS, WIDER_MEMBERS)
    assert not large, f"more than {MOST_MEMBERS} members: cut {large} by responsibility"


def wider(counts: Mapping[str, int], most: int, today: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count > today.get(name, most)}
