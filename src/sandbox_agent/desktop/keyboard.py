"""The keyboard: typing any text on any layout, and pressing keys.

A character that no key has is put on a key that the layout leaves free. Programs learn of the change before they see the press, but
look up the new symbol only when they handle it. So the characters of a text are put on keys before the first of them is typed, and a
borrowed key keeps its symbol for a while after it was pressed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import NamedTuple

from ..errors import DesktopInvalidAction, DesktopRuntimeFailed
from ..schema.desktop import DONE, DesktopDone
from .keysyms import CAPS_LOCK, SHIFT, symbol_named, symbol_of
from .x_connection import XConnection

PRESS, RELEASE = 2, 3
LOCK_STATE = 0x0002
GROUP_STATE = 0x6000
BORROW_SECONDS = 0.5
"""How long a borrowed key keeps its symbol."""
NEW_SYMBOL_SECONDS = 0.1
"""How long programs get to read a changed layout. On a busy machine, they are slow to notice."""
MAX_KEYS = 8
MAX_MS = 600_000
SETTLE_EVERY = 32
"""How many characters to type before the server gets time to catch up."""


class Stroke(NamedTuple):
    key: int
    shifted: bool


class Keyboard:
    def __init__(self, x: XConnection) -> None:
        self._x = x
        self._borrowed: dict[int, float] = {}
        """Keys that the layout leaves free and we gave a symbol -> when it was last used."""
        self._typing = asyncio.Lock()

    async def type(self, text: str, delay_ms: int) -> DesktopDone:
        symbols = [_typed(character, text) for character in text]
        if len(text) * delay_ms > MAX_MS:
            raise DesktopInvalidAction("typing this would take longer than ten minutes", field="delayMs")
        async with self._typing:
            await self._read_layout()
            caps = await self._stroke(CAPS_LOCK) if self._state & LOCK_STATE else None
            await self._borrow_free_keys(symbols)
            self._tap(caps)
            for number, symbol in enumerate(symbols, 1):
                self._tap(await self._stroke(symbol))
                await asyncio.sleep(delay_ms / 1000)
                if number % SETTLE_EVERY == 0:
                    await self._x.settle()
            self._tap(caps)
            await self._x.settle()
        return DONE

    async def press(self, name: str, modifiers: list[str]) -> DesktopDone:
        """A key or a combination such as `ctrl+shift+t`, with further modifiers."""
        symbols = [_named(part) for part in (*modifiers, *_parts(name))]
        async with self._typing:
            await self._read_layout()
            strokes = [await self._stroke(symbol) for symbol in symbols]
            held = [stroke.key for stroke in strokes]
            if strokes[-1].shifted and len(strokes) == 1:
                held.insert(0, self._shift)
            for key in held:
                self._x.fake(PRESS, key)
            for key in reversed(held):
                self._x.fake(RELEASE, key)
            await self._x.settle()
        return DONE

    async def hold(self, name: str) -> DesktopDone:
        return await self._act(PRESS, name)

    async def release(self, name: str) -> DesktopDone:
        return await self._act(RELEASE, name)

    async def _act(self, kind: int, name: str) -> DesktopDone:
        symbol = _named(name)
        async with self._typing:
            await self._read_layout()
            self._x.fake(kind, (await self._stroke(symbol)).key)
            await self._x.settle()
        return DONE

    def _tap(self, stroke: Stroke | None) -> None:
        if stroke is None:
            return
        keys = [*([self._shift] if stroke.shifted else []), stroke.key]
        for key in keys:
            self._x.fake(PRESS, key)
        for key in reversed(keys):
            self._x.fake(RELEASE, key)

    # -- finding a key --------------------------------------------------------------------------

    async def _read_layout(self) -> None:
        """Before every action: programs may change it."""
        self._layout = await self._x.keyboard_mapping()
        _, _, _, self._state = await self._x.pointer()
        self._shift = next((key for key, symbols in self._keys() if symbols[0] == SHIFT), 0)

    def _keys(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        return enumerate(self._layout, self._x.first_key)

    async def _stroke(self, symbol: int) -> Stroke:
        return self._find(symbol) or Stroke(await self._borrow(symbol), False)

    def _find(self, symbol: int) -> Stroke | None:
        """How to type a character with the keys as they are."""
        # Another group of the layout than the first may be active: then only a borrowed key is certain.
        is_first_group = not self._state & GROUP_STATE
        for key, symbols in self._keys():
            if key in self._borrowed:
                if symbols[0] == symbol:
                    self._borrowed[key] = time.monotonic()
                    return Stroke(key, False)
            elif is_first_group and symbols[0] == symbol:
                return Stroke(key, False)
            elif is_first_group and (symbols[1] == symbol or symbols[:2] == (_lower(symbol), 0)):
                return Stroke(key, True)
        return None

    # -- borrowing keys -------------------------------------------------------------------------

    async def _borrow_free_keys(self, symbols: list[int]) -> None:
        """Change the layout once, before the first press, and not between presses, as far as there are free keys."""
        missing = [symbol for symbol in dict.fromkeys(symbols) if self._find(symbol) is None]
        pairs = list(zip(missing, reversed(self._free_keys()), strict=False))
        for symbol, key in pairs:
            self._map(key, symbol)
        if pairs:
            await self._let_programs_notice()

    async def _borrow(self, symbol: int) -> int:
        key = await self._free_key()
        self._map(key, symbol)
        await self._let_programs_notice()
        return key

    def _map(self, key: int, symbol: int) -> None:
        self._x.map_key(key, (symbol, symbol))
        self._layout[key - self._x.first_key] = (symbol, symbol)
        self._borrowed[key] = time.monotonic()

    async def _let_programs_notice(self) -> None:
        await self._x.settle()
        await asyncio.sleep(NEW_SYMBOL_SECONDS)

    def _free_keys(self) -> list[int]:
        return [key for key, symbols in self._keys() if not any(symbols)]

    async def _free_key(self) -> int:
        if free := self._free_keys():
            return free[-1]
        if not self._borrowed:
            raise DesktopRuntimeFailed("the keyboard layout leaves no key free for this character")
        key = min(self._borrowed, key=lambda key: self._borrowed[key])
        await asyncio.sleep(max(0.0, self._borrowed[key] + BORROW_SECONDS - time.monotonic()))
        return key


def _lower(symbol: int) -> int:
    """A key with only a small letter types the capital one with Shift."""
    if 0x41 <= symbol <= 0x5A or (0xC0 <= symbol <= 0xDE and symbol != 0xD7):
        return symbol + 0x20
    return symbol


def _typed(character: str, text: str) -> int:
    symbol = symbol_of(character)
    if symbol is None:
        raise DesktopInvalidAction(f"character {text.index(character) + 1} cannot be typed", field="text")
    return symbol


def _parts(name: str) -> list[str]:
    """`ctrl+shift+t` is three keys; `+` and `ctrl++` contain the key `+`."""
    head, plus, last = name.rpartition("+")
    parts = [part for part in (*head.split("+"), last) if part] if last else []
    if plus and not last:
        parts = [*(part for part in head.rstrip("+").split("+") if part), "+"]
    if len(parts) > MAX_KEYS:
        raise DesktopInvalidAction(f"a combination has at most {MAX_KEYS} keys", field="key")
    return parts


def _named(name: str) -> int:
    symbol = symbol_named(name)
    if symbol is None:
        raise DesktopInvalidAction(
            f"there is no key `{name[:40]}`; keys are named like `a`, `Return`, `F5` or `Page_Down`",
            field="key",
        )
    return symbol
