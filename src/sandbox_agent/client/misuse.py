"""Helpful errors for programs that mix up the two clients or forget an `await`.

The types hide all of this: a type checker reports the mistake first.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Generator
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

T = TypeVar("T")


class AsyncGuard:
    """Base of async classes."""

    if not TYPE_CHECKING:

        def __init_subclass__(cls, **more: Any) -> None:
            super().__init_subclass__(**more)
            for name, method in vars(cls).items():
                if inspect.iscoroutinefunction(method) and not name.startswith("_"):
                    setattr(cls, name, _noticing(method))

        def __enter__(self) -> NoReturn:
            raise TypeError(f"{type(self).__name__} is asynchronous: write `async with`")

        def __exit__(self, *_: object) -> None: ...

        def __iter__(self) -> NoReturn:
            raise TypeError(f"{type(self).__name__} is asynchronous: write `async for`")


class Guard:
    """Base of blocking classes."""

    if not TYPE_CHECKING:

        async def __aenter__(self) -> NoReturn:
            raise TypeError(
                f"{type(self).__name__} is not asynchronous: write `with`, or use AsyncSandboxAgent"
            )

        async def __aexit__(self, *_: object) -> None: ...

        def __aiter__(self) -> NoReturn:
            raise TypeError(
                f"{type(self).__name__} is not asynchronous: write `for`, or use AsyncSandboxAgent"
            )

        def __await__(self) -> NoReturn:
            raise TypeError(
                f"{type(self).__name__} is not asynchronous: leave out `await`, or use AsyncSandboxAgent"
            )


def _noticing(method: Any) -> Any:
    @functools.wraps(method)
    def begin(*arguments: Any, **named: Any) -> Unawaited:
        return Unawaited(method(*arguments, **named), method.__name__)

    return begin


class Unawaited(Coroutine[Any, Any, Any]):
    """A coroutine with a clear error when it is used as if it were its result."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], name: str) -> None:
        self._coroutine = coroutine
        self._method = name

    def send(self, value: Any) -> Any:
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:
        return self._coroutine.throw(*error)

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Any:
        return self._coroutine.__await__()

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"there is no `{name}` yet, because the call of `{self._method}` was not awaited: "
            f"write `await ….{self._method}(…)`"
        )


class AsyncTurnBase(AsyncGuard, ABC, Generic[T]):
    """Base of classes that can also be awaited for their `result()`."""

    @abstractmethod
    async def result(self) -> T: ...

    def __await__(self) -> Generator[Any, Any, T]:
        return self.result().__await__()


class TurnBase(Guard, Generic[T]):
    """Its blocking counterpart, which cannot be awaited."""
