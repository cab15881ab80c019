"""The numbers by which X names keys and characters."""

from __future__ import annotations

_NAMED = {
    "backspace": 0xFF08,
    "tab": 0xFF09,
    "return": 0xFF0D,
    "enter": 0xFF0D,
    "pause": 0xFF13,
    "scroll_lock": 0xFF14,
    "escape": 0xFF1B,
    "esc": 0xFF1B,
    "home": 0xFF50,
    "left": 0xFF51,
    "up": 0xFF52,
    "right": 0xFF53,
    "down": 0xFF54,
    "page_up": 0xFF55,
    "prior": 0xFF55,
    "page_down": 0xFF56,
    "next": 0xFF56,
    "end": 0xFF57,
    "print": 0xFF61,
    "insert": 0xFF63,
    "undo": 0xFF65,
    "redo": 0xFF66,
    "menu": 0xFF67,
    "num_lock": 0xFF7F,
    "kp_enter": 0xFF8D,
    "kp_multiply": 0xFFAA,
    "kp_add": 0xFFAB,
    "kp_subtract": 0xFFAD,
    "kp_decimal": 0xFFAE,
    "kp_divide": 0xFFAF,
    "shift": 0xFFE1,
    "shift_l": 0xFFE1,
    "shift_r": 0xFFE2,
    "control": 0xFFE3,
    "ctrl": 0xFFE3,
    "control_l": 0xFFE3,
    "control_r": 0xFFE4,
    "caps_lock": 0xFFE5,
    "meta": 0xFFE7,
    "meta_l": 0xFFE7,
    "meta_r": 0xFFE8,
    "alt": 0xFFE9,
    "option": 0xFFE9,
    "alt_l": 0xFFE9,
    "alt_r": 0xFFEA,
    "super": 0xFFEB,
    "cmd": 0xFFEB,
    "command": 0xFFEB,
    "win": 0xFFEB,
    "super_l": 0xFFEB,
    "super_r": 0xFFEC,
    "iso_level3_shift": 0xFE03,
    "altgr": 0xFE03,
    "delete": 0xFFFF,
    "del": 0xFFFF,
    "space": 0x20,
    "exclam": 0x21,
    "quotedbl": 0x22,
    "numbersign": 0x23,
    "dollar": 0x24,
    "percent": 0x25,
    "ampersand": 0x26,
    "apostrophe": 0x27,
    "parenleft": 0x28,
    "parenright": 0x29,
    "asterisk": 0x2A,
    "plus": 0x2B,
    "comma": 0x2C,
    "minus": 0x2D,
    "period": 0x2E,
    "slash": 0x2F,
    "colon": 0x3A,
    "semicolon": 0x3B,
    "less": 0x3C,
    "equal": 0x3D,
    "greater": 0x3E,
    "question": 0x3F,
    "at": 0x40,
    "bracketleft": 0x5B,
    "backslash": 0x5C,
    "bracketright": 0x5D,
    "asciicircum": 0x5E,
    "underscore": 0x5F,
    "grave": 0x60,
    "braceleft": 0x7B,
    "bar": 0x7C,
    "braceright": 0x7D,
    "asciitilde": 0x7E,
    **{f"f{number}": 0xFFBD + number for number in range(1, 25)},
    **{f"kp_{digit}": 0xFFB0 + digit for digit in range(10)},
}
_UNIFORM = {name.replace("_", ""): symbol for name, symbol in _NAMED.items()}
"""Without underscores, so that `Page_Down`, `PageDown` and `pagedown` are one name."""

CAPS_LOCK = _NAMED["caps_lock"]
SHIFT = _NAMED["shift"]
_CONTROLS = {"\n": 0xFF0D, "\r": 0xFF0D, "\t": 0xFF09, "\b": 0xFF08, "\x1b": 0xFF1B, "\x7f": 0xFFFF}


def symbol_of(character: str) -> int | None:
    """The symbol that types a character; None if no key could."""
    if character in _CONTROLS:
        return _CONTROLS[character]
    code = ord(character)
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000:
        return None
    return code if code <= 0xFF else 0x01000000 + code


def symbol_named(name: str) -> int | None:
    """The symbol of a key by its name, e.g. `Return`, `F5`, `ArrowLeft` or `ü`; None if there is none."""
    if len(name) == 1:
        return symbol_of(name)
    plain = name.casefold().replace("_", "")
    return _UNIFORM.get(plain) or _UNIFORM.get(plain.removeprefix("arrow"))
