"""Errors in the members of a model file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from bayesbox.errors import TooCostly


class MemberFault(ValueError):
    """An error in a member of a model file.

    >>> MemberFault("counts.arrow", "a count is not above zero").member
    'counts.arrow'
    """

    def __init__(self, member: str, reason: str) -> None:
        super().__init__(reason)
        self.member = member
        self.reason = reason


@contextmanager
def within(member: str) -> Iterator[None]:
    """Turns a ValueError in the block into an error of this member, unless it names another one."""
    try:
        yield
    except (MemberFault, TooCostly):
        raise
    except (ValueError, OverflowError) as error:
        raise MemberFault(member, str(error)) from error


def require_members(members: Collection[str], *, known: Collection[str], needed: Collection[str]) -> None:
    """Raise an error for unknown and for missing members.

    >>> require_members(["classes.arrow"], known=["classes.arrow", "counts.arrow"], needed=["classes.arrow"])
    """
    for member in members:
        if member not in known:
            raise MemberFault(member, "the model has no such member")
    for member in needed:
        if member not in members:
            raise MemberFault(member, "the member is missing")
