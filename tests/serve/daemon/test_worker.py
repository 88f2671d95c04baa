"""Waiting for news, and being shown to stop meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from observer.serve.worker import heard


@pytest.mark.parametrize("turns", range(4))
def test_a_task_that_is_cancelled_as_news_come_ends(turns: int) -> None:
    async def listen(news: asyncio.Event) -> None:
        while True:
            news.clear()
            await heard(news, within_s=60.0)

    async def cancelled() -> bool:
        news = asyncio.Event()
        task = asyncio.create_task(listen(news))
        await asyncio.sleep(0.01)
        news.set()
        for _ in range(turns):  # of the loop, between the news and who reads them
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task}, timeout=1.0)
        ended = task.cancelled()
        task.cancel()  # else the loop waits for it
        return ended

    assert asyncio.run(cancelled())


def test_without_news_the_wait_ends() -> None:
    news = asyncio.Event()
    asyncio.run(heard(news, within_s=0.01))
    assert not news.is_set()
