"""Least squares with weights that are not negative, for a few unknowns."""

from collections.abc import Sequence
from itertools import combinations


def fit(rows: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    """The x >= 0 with the least sum of ((row . x - value) / value)^2: relative errors, so that
    small and large values count alike. Tries all sets of unknowns that may be above zero, so there
    must be few (3 at most here). values: above zero."""
    rows = [[cell / value for cell in row] for row, value in zip(rows, values, strict=True)]
    unknowns = len(rows[0])
    best, least = [0.0] * unknowns, float(len(rows))
    for count in range(1, unknowns + 1):
        for chosen in combinations(range(unknowns), count):
            solution = _solve([[row[i] for i in chosen] for row in rows])
            if solution is None or min(solution) < 0:
                continue
            x = [0.0] * unknowns
            for place, value in zip(chosen, solution, strict=True):
                x[place] = value
            error = sum((_dot(row, x) - 1) ** 2 for row in rows)
            if error < least:
                best, least = x, error
    return best


def _dot(row: Sequence[float], x: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(row, x, strict=True))


def _solve(rows: list[list[float]]) -> list[float] | None:
    """The least squares of row . x = 1, by the normal equations; None if they have no one solution.
    Columns are scaled, since they differ by many orders of magnitude."""
    size = len(rows[0])
    scales = [max(abs(row[i]) for row in rows) for i in range(size)]
    if min(scales) == 0:
        return None
    rows = [[cell / scale for cell, scale in zip(row, scales, strict=True)] for row in rows]
    matrix = [
        [sum(row[i] * row[j] for row in rows) for j in range(size)] + [sum(row[i] for row in rows)]
        for i in range(size)
    ]
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(matrix[k][i]))
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        if abs(matrix[i][i]) < 1e-12:
            return None
        for k in range(size):
            if k != i:
                factor = matrix[k][i] / matrix[i][i]
                matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i], strict=True)]
    return [matrix[i][size] / matrix[i][i] / scales[i] for i in range(size)]
