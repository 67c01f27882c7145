"""The order of ways in the rounds of a comparison."""


def turns(count: int, number: int) -> list[int]:
    """The order of `count` ways in round `number`. Within twice as many rounds as ways each way
    comes twice at each turn, and as often straight behind each other way (Williams, "Experimental
    designs balanced for the estimation of residual effects of treatments", 1949): what a run leaves
    behind meets all alike. A round of odd number is the reverse of the one before, so that of each
    pair of ways either one comes first equally often."""
    steps = [(turn + 1) // 2 if turn % 2 else -(turn // 2) for turn in range(count)]
    order = [(number // 2 + step) % count for step in steps]  # 0, 1, -1, 2, -2, ...
    return order[::-1] if number % 2 else order
