"""The call tree of the profile as a flame graph: SVG without script, in a bounded number of
shapes."""

from collections.abc import Iterator

from markupsafe import Markup

from headrace.profile.profile import Profile, TreeNode
from headrace.texts import shown

WIDTH = 1000.0
ROW = 18
LEAST_WIDTH = 1.0
MOST_DEPTH = 40
MOST_SHAPES = 4000
LETTER = 6.4  # of the text's size
COLOURS = 5


def flame(found: Profile | None) -> Markup:
    """Callers are below what they call. As wide as a function's share is its box."""
    if found is None or not found.time:
        return Markup("")
    boxes = []
    for box in _boxes(found, found.tree, 0.0, 0):
        boxes.append(box)
        if len(boxes) == MOST_SHAPES:
            break
    if not boxes:
        return Markup("")
    height = ROW * (1 + max(depth for depth, _, _, _ in boxes))
    shapes = Markup("").join(_shape(found, height, *box) for box in boxes)
    return Markup(
        '<svg class="flame" viewBox="0 0 {width:.0f} {height}" role="img" aria-label="{label}">'
        "{shapes}</svg>"
    ).format(
        width=WIDTH,
        height=height,
        shapes=shapes,
        label="CPU time by call path; the tables have the numbers",
    )


def _boxes(
    found: Profile, node: TreeNode, left: float, depth: int
) -> Iterator[tuple[int, float, float, TreeNode]]:
    if depth == MOST_DEPTH:
        return
    for one in sorted(node.children.values(), key=lambda own: own.name):
        width = WIDTH * found.share(one.time)
        if width >= LEAST_WIDTH:
            yield depth, left, width, one
            yield from _boxes(found, one, left, depth + 1)
        left += width


def _shape(
    found: Profile, height: int, depth: int, left: float, width: float, node: TreeNode
) -> Markup:
    letters = int((width - 6) / LETTER)
    text = node.name if len(node.name) <= letters else f"{node.name[: max(0, letters - 2)]}.."
    label = Markup('<text x="{x:.1f}" y="{y}">{text}</text>') if letters >= 4 else Markup("")
    top = height - ROW * (depth + 1)
    return Markup(
        '<g><title>{title}</title><rect class="flame{colour}" x="{left:.1f}" y="{top}" '
        'width="{width:.1f}" height="{tall}"/>{label}</g>'
    ).format(
        title=f"{shown(node.name)}: {found.share(node.time):.2%}, own {found.share(node.own):.2%}",
        colour=sum(map(ord, node.name)) % COLOURS,
        left=left,
        top=top,
        width=max(0.5, width - 0.6),
        tall=ROW - 1,
        label=label.format(x=left + 3, y=top + ROW - 5, text=shown(text)),
    )
