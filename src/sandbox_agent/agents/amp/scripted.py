"""Runs Amp on the scripted model, which also plays the few calls of its service."""

from __future__ import annotations

from pathlib import Path

from ..scripted import Offline, Scripted


def offline(model: str, home: Path) -> Offline:
    return Offline({"AMP_URL": model, "AMP_API_KEY": "sgamp_user_scripted", "AMP_SKIP_UPDATE_CHECK": "1"})


SCRIPTED = Scripted(offline, answers_old_message=True, writes_unseen=True)
