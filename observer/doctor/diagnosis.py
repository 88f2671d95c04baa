"""The result of one check."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from observer.core.errors import ObserverError, remedy


class Diagnosis(msgspec.Struct, frozen=True):
    """The result of one check, and what to do if it failed.

    `fix` names the remedy that `doctor --fix` applies, with its argument; "" where a person has to.
    """

    name: str
    is_well: bool
    found: str
    hint: str = ""
    fix: str = ""


def well(name: str, found: str, hint: str = "") -> Diagnosis:
    """Return that a check found nothing wrong."""
    return Diagnosis(name, is_well=True, found=found, hint=hint)


def wrong(name: str, found: str, hint: str = "", *, fix: str = "") -> Diagnosis:
    """Return what a check found wrong."""
    return Diagnosis(name, is_well=False, found=found, hint=hint, fix=fix)


def checked(name: str, look: Callable[[], str], *, fix: str = "") -> Diagnosis:
    """Return what a check finds; the error that it raises says what is wrong."""
    try:
        return Diagnosis(name, is_well=True, found=look())
    except ObserverError as error:
        return Diagnosis(name, is_well=False, found=error.message, hint=error.hint, fix=fix)
    except OSError as error:
        found = f"{error.filename}: {error.strerror}"
        return Diagnosis(name, is_well=False, found=found, hint=remedy(error, "make it yours"))
