"""What one client may take: slots, and turns beside others."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from webapp.config.shares import ALL, Slots, Turns

PATIENCE = 60


def test_a_name_with_its_most_is_named_and_takes_nothing_until_it_gives_back() -> None:
    slots = Slots()
    with slots.taken(ada=2, all=3) as first, slots.taken(ada=2, all=3) as second:
        assert (first, second) == (None, None)
        with slots.taken(ada=2, all=3) as third, slots.taken(bob=2, all=3) as fourth:
            assert (third, fourth) == ("ada", None)
            with slots.taken(eve=2, all=3) as fifth:
                assert fifth == ALL
    with slots.taken(ada=1, all=1) as again:
        assert again is None


@contextmanager
def held(turns: Turns) -> Iterator[None]:
    """Another thread has a turn inside."""
    begun, over = threading.Event(), threading.Event()

    def work() -> None:
        with turns.turn("holder"):
            begun.set()
            assert over.wait(PATIENCE)

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(PATIENCE)
    yield
    over.set()
    thread.join()


def test_who_asks_for_much_does_not_delay_who_asks_for_little() -> None:
    turns, got = Turns(1), list[str]()

    def work(address: str) -> None:
        with turns.turn(address):
            got.append(address)

    threads = list[threading.Thread]()
    with held(turns):
        for asked, address in enumerate(["greedy"] * 5 + ["modest"] * 2, start=1):
            threads.append(threading.Thread(target=work, args=(address,)))
            threads[-1].start()
            while turns.waiting < asked:
                pass
    for thread in threads:
        thread.join(PATIENCE)
    assert got == ["greedy", "modest", "greedy", "modest", "greedy", "greedy", "greedy"]


def test_a_rested_turn_is_anothers_and_is_owed_afterwards() -> None:
    turns, got = Turns(1), list[str]()

    def work() -> None:
        with turns.turn("page"):
            got.append("page")

    with turns.turn("poll"):
        with turns.rested():
            page = threading.Thread(target=work)
            page.start()
            page.join(PATIENCE)
        late = threading.Thread(target=work)
        late.start()
        while not turns.waiting:
            pass
        assert got == ["page"]
    late.join(PATIENCE)
    assert got == ["page", "page"]
