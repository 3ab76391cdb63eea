"""The collector of cycles is paused while many objects are made, and then as it was."""

from __future__ import annotations

import gc
import threading

import pytest

from bayesbox.collector import collector_paused


def test_it_is_on_again_after_the_last_of_several_pauses() -> None:
    inside, leave = threading.Event(), threading.Event()

    def pause() -> None:
        with collector_paused():
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=pause)
    with collector_paused():
        other.start()
        assert inside.wait(10)
    assert not gc.isenabled()
    leave.set()
    other.join()
    assert gc.isenabled()


def test_it_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_error_within_ends_the_pause() -> None:
    with pytest.raises(ValueError, match="within"), collector_paused():
        raise ValueError("within")
    assert gc.isenabled()
