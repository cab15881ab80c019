"""The address of a git repository, checked before git sees it.

git itself runs programs for some addresses (`ext::`), and takes words that begin with `-` for options.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Literal, NamedTuple
from urllib.parse import SplitResult, urlsplit

from ..schema.skills import SkillSource
from .refusal import SourceRefused

Scheme = Literal["https", "ssh", "http"]

_GITHUB = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9_.][A-Za-z0-9_.-]*", re.ASCII)
_SCP = re.compile(r"[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:(?![:-])[\w./~+@-]+", re.ASCII)
"""`git@host:path`, as ssh users write it."""
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*|[0-9a-fA-F:.]+", re.ASCII)
_USER = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
_PATH = re.compile(r"/[\w./~+@%:,=-]+", re.ASCII)
_REF = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._/+@-]*", re.ASCII)


class Repository(NamedTuple):
    url: str
    scheme: Scheme
    ref: str

    @property
    def is_pinned(self) -> bool:
        """The ref is a commit, which never changes."""
        return re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", self.ref) is not None


def repository_of(source: SkillSource) -> Repository:
    ref = "HEAD" if source.ref is None else source.ref
    if not _REF.fullmatch(ref) or ".." in ref or "@{" in ref:
        raise SourceRefused(f"`{source.ref}` is not the name of a branch, a tag or a commit")
    url = source.source
    if source.type == "github":
        if _GITHUB.fullmatch(url):
            url = f"https://github.com/{url.removesuffix('.git')}.git"
        elif not url.startswith("https://github.com/"):
            raise SourceRefused("a repository on GitHub is named `owner/name`")
    return Repository(url, _scheme(url), ref)


def _scheme(url: str) -> Scheme:
    if _SCP.fullmatch(url):
        return "ssh"
    if not url.isascii() or not url.isprintable() or " " in url:
        raise SourceRefused("it is not a URL")  # the parser below would leave some of these out
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises if it is not a number
    except ValueError:
        raise SourceRefused("it is not a URL") from None
    scheme = parts.scheme
    if scheme not in ("https", "ssh", "http") or not url.startswith(f"{scheme}://"):
        raise SourceRefused(
            "a repository is reached by `https://` or `ssh://`, or by `http://` on this machine"
        )
    _check_parts(parts)
    if scheme == "http" and not _is_loopback(parts.hostname or ""):
        raise SourceRefused("`http://` is allowed on this machine only; use `https://`")
    return "https" if scheme == "https" else "ssh" if scheme == "ssh" else "http"


def _check_parts(parts: SplitResult) -> None:
    if parts.password is not None or (parts.username is not None and parts.scheme != "ssh"):
        raise SourceRefused("a URL must not contain credentials, because it is shown to clients")
    if parts.username is not None and not _USER.fullmatch(parts.username):
        raise SourceRefused("it is not a URL of a repository")
    if parts.query or parts.fragment or not _PATH.fullmatch(parts.path):
        raise SourceRefused("it is not a URL of a repository")
    if not _HOST.fullmatch(parts.hostname or ""):
        raise SourceRefused("it is not a URL of a repository")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
