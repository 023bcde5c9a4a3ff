"""Everything unseen raises on purpose.

::

    UnseenError                  one clear message; the command line exits with 2
    ├── InputError               an argument or a file is wrong (also a ValueError)
    │   ├── TableError           rows of a file are wrong: every problem, with its line
    │   ├── VectorsError         vectors are not finite, not of this dataset, or say nothing
    │   ├── UnknownNameError     no such column, splitter, encoder, dataset…: the nearest name
    │   ├── InfeasibleError      the split that was asked for does not exist
    │   └── MismatchError        a record belongs to another dataset
    ├── FetchError               a download failed or is not what it should be
    └── MissingPackageError      an optional package is needed: how to install it

    UnseenWarning                something the user should know that stops nothing
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib.util import find_spec

SHOWN_PROBLEMS = 20
SHOWN_NAMES = 30
NEAR = 0.7
"""Share of characters that near names have in common: `lable` is near `label`, but `ab` is not near `a`."""
LONGEST_NAME = 200
"""Characters of a name that somebody may have mistyped; comparing takes the square of them."""
EXTRAS = {"models": ("torch", "transformers", "safetensors"), "view": ("starlette", "uvicorn")}
"""Packages that come with an extra, for extras that several parts of unseen need."""


class UnseenError(Exception):
    """A mistake with its place, what was expected, what was found and what to do about it."""

    exit_code = 2

    def __init__(
        self,
        message: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        fix: str | None = None,
        problems: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.expected = expected
        self.got = got
        self.fix = fix
        self.problems = tuple(problems)

    def __str__(self) -> str:
        lines = [self.message]
        lines += [f"  - {problem}" for problem in self.problems[:SHOWN_PROBLEMS]]
        if len(self.problems) > SHOWN_PROBLEMS:
            lines.append(f"  - … and {len(self.problems) - SHOWN_PROBLEMS} more")
        for head, detail in (("expected", self.expected), ("got", self.got), ("what to do", self.fix)):
            if detail:
                lines.append(f"  {head}: {detail}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.expected, self.got, self.fix, self.problems))


def _rebuild(
    kind: type[UnseenError], message: str, expected: str, got: str, fix: str, problems: Sequence[str]
) -> UnseenError:
    return kind(message, expected=expected, got=got, fix=fix, problems=problems)


class InputError(UnseenError, ValueError):
    """An argument or a file is wrong."""


class TableError(InputError):
    """Rows of a file are wrong; `problems` holds one line per problem."""


class VectorsError(InputError):
    """Vectors are not finite, belong to other rows, or carry no information."""


class UnknownNameError(InputError):
    """A name that nothing answers to."""

    @classmethod
    def of(cls, kind: str, name: str, known: Iterable[str], fix: str | None = None) -> UnknownNameError:
        """The error for `name`, with the nearest known name as a hint; of many names the nearest are listed."""
        known = list(known)
        shown = known if len(known) <= SHOWN_NAMES else _nearest(name, known, SHOWN_NAMES, cutoff=0.0)
        more = f", … and {len(known) - len(shown)} more" if len(shown) < len(known) else ""
        expected = f"one of {', '.join(shown)}{more}" if known else None
        return cls(f"no {kind} is called {name!r}{hint(name, known)}", expected=expected, fix=fix)


class InfeasibleError(InputError):
    """No split of this data is what was asked for."""


class MismatchError(InputError):
    """A record was made from another dataset."""


class FetchError(UnseenError):
    """A download failed, or what arrived is not what was promised."""


class MissingPackageError(UnseenError):
    """An optional package is not installed."""

    @classmethod
    def of(cls, package: str, purpose: str, extra: str, without: str = "") -> MissingPackageError:
        """The error for a missing `package`, with the command that installs it, and what works `without`."""
        does_not = f"; {without} does not" if without else ""
        return cls(f"{purpose} needs the package {package!r}{does_not}", fix=f"pip install 'unseen[{extra}]'")


class UnseenWarning(UserWarning):
    """Something the user should know that stops nothing."""


def require(extra: str, purpose: str, without: str = "") -> None:
    """Refuse what needs an extra that is not installed; name what works `without`."""
    for package in EXTRAS[extra]:
        if find_spec(package) is None:
            raise MissingPackageError.of(package, purpose, extra, without)


def installed(extra: str) -> bool:
    """Whether an extra of the package is there."""
    return all(find_spec(package) is not None for package in EXTRAS[extra])


def complaint(cause: Exception) -> str:
    """What a reader of nested text complains of."""
    return "it is nested too deeply" if isinstance(cause, RecursionError) else str(cause)


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name nearest to `name`, or None when nothing is near; case does not matter."""
    names = [str(other) for other in known]
    near = _nearest(name, names, 1, cutoff=NEAR)
    if not near and len(str(name)) == 3:  # one letter of three is as little as a slip can be
        near = _nearest(name, [other for other in names if len(other) == 3], 1, cutoff=2 / 3)
    return near[0] if near else None


def _nearest(name: str, known: Iterable[str], most: int, cutoff: float) -> list[str]:
    """The known names by how near they are, the nearest first; a slice, `target=cooks`, is near by `cooks` too."""
    names = [str(other) for other in known if len(str(other)) <= LONGEST_NAME]
    values = {other.partition("=")[2].casefold(): other for other in names if "=" in other}
    by_folded = values | {other.casefold(): other for other in names}
    asked = str(name)[: LONGEST_NAME + 1].casefold()
    near = get_close_matches(asked, by_folded, n=2 * most, cutoff=cutoff)
    return list(dict.fromkeys(by_folded[folded] for folded in near))[:most]


def hint(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'closest'?`, or nothing when no known name is near."""
    near = nearest_name(name, known)
    return f"; did you mean {near!r}?" if near else ""
