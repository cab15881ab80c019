"""The npm settings of this machine, read without npm: registries, credentials, proxies, certificates.

From `npm_config_*` variables, the user's npmrc and the global ones, in npm's order. A project's npmrc is not read:
a file in a workspace must not decide where programs come from.
"""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

from msgspec import Struct

PREFIX = "npm_config_"
ASK_SECONDS = 20.0


class NpmSettings(Struct, frozen=True):
    values: Mapping[str, str]
    registry: str | None
    """The default registry; None if no setting names one."""
    named_by: str = ""

    def registry_of(self, package: str) -> str | None:
        """The registry of a package. Scopes may have their own."""
        scope, slash, _ = package.partition("/")
        of_scope = self.values.get(f"{scope}:registry") if slash else None
        chosen = of_scope or self.registry
        return chosen.rstrip("/") if chosen else None

    def headers_for(self, address: str) -> dict[str, str]:
        """The credentials for an address: those of the longest matching path, and no others."""
        parts = urlsplit(address)
        whole = f"//{parts.netloc}{parts.path}"
        folder = whole[: whole.rfind("/") + 1]
        while folder != "//":
            if header := self._authorization(folder):
                return {"Authorization": header}
            folder = folder[: folder.rstrip("/").rfind("/") + 1]
        return {}

    def _authorization(self, place: str) -> str | None:
        def value(name: str) -> str | None:
            return self.values.get(f"{place}:{name}") or self.values.get(f"{place.rstrip('/')}:{name}")

        if token := value("_authToken"):
            return f"Bearer {token}"
        if basic := value("_auth"):
            return f"Basic {basic}"
        user, password = value("username"), value("_password")
        if user and password:
            both = f"{user}:{base64.b64decode(password).decode()}"
            return f"Basic {base64.b64encode(both.encode()).decode()}"
        return None

    @property
    def proxy(self) -> str | None:
        """The proxy in the npm settings. Without one, `HTTPS_PROXY` and the like apply."""
        chosen = self.values.get("https-proxy") or self.values.get("proxy")
        return chosen if chosen not in ("null", "false", "") else None

    def is_direct(self, address: str) -> bool:
        """Whether `noproxy` names the address's host."""
        host = urlsplit(address).hostname or ""
        listed = (self.values.get("noproxy") or "").split(",")
        return any(name and (host == name or host.endswith(f".{name}")) for name in _bare(listed))

    @property
    def cafile(self) -> str | None:
        return self.values.get("cafile") or None


def _bare(names: list[str]) -> Iterator[str]:
    for name in names:
        yield name.strip().lstrip("*.")


def read_npm_settings(environ: Mapping[str, str]) -> NpmSettings:
    """Read the settings that npm would use."""
    values: dict[str, str] = {}
    named_by = ""
    for file in reversed(list(_files(environ))):
        found = _read(file, environ)
        values |= found
        named_by = str(file) if "registry" in found else named_by
    from_environ = _variables(environ)
    values |= from_environ
    named_by = f"{PREFIX}registry" if "registry" in from_environ else named_by
    registry = values.get("registry")
    if registry is None and (registry := _ask_npm(environ)):
        named_by = "npm"
    return NpmSettings(values, registry, named_by)


def _files(environ: Mapping[str, str]) -> Iterator[Path]:
    """The npmrc files, in order of precedence."""
    variables = _variables(environ)
    home = Path(environ.get("HOME") or Path.home())
    yield Path(variables.get("userconfig") or home / ".npmrc")
    if chosen := variables.get("globalconfig"):
        yield Path(chosen)
        return
    folders = [Path(prefix) for prefix in (variables.get("prefix"), environ.get("PREFIX")) if prefix]
    programs = (shutil.which(name, path=environ.get("PATH", "")) for name in ("npm", "node"))
    folders += [Path(program).parent.parent for program in programs if program]
    for folder in (*folders, Path("/usr/local"), Path("/usr"), Path("/")):
        yield folder / "etc" / "npmrc"


def _read(file: Path, environ: Mapping[str, str]) -> dict[str, str]:
    try:
        text = file.read_text(errors="replace")
    except OSError:
        return {}
    values = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith((";", "#")):
            values[name.strip()] = _expanded(value.strip().strip("\"'"), environ)
    return values


def _expanded(value: str, environ: Mapping[str, str]) -> str:
    """Expand `${NAME}`; a variable that is not set stays as written."""
    return re.sub(r"\$\{(\w+)\??\}", lambda found: environ.get(found[1], found[0]), value)


def _variables(environ: Mapping[str, str]) -> dict[str, str]:
    """`npm_config_*` in any case. Names with addresses (`//host/:_authToken`) and scopes are kept unchanged."""
    values = {}
    for variable, value in environ.items():
        if variable.lower().startswith(PREFIX) and value:
            name = variable[len(PREFIX) :]
            plain = not name.startswith(("//", "@"))
            values[name.lower().replace("_", "-") if plain else name] = value
    return values


def _ask_npm(environ: Mapping[str, str]) -> str | None:
    """The registry that npm itself would use. Run in `/`, where there is no project."""
    npm = shutil.which("npm", path=environ.get("PATH", ""))
    if npm is None:
        return None
    try:
        asked = subprocess.run(
            [npm, "config", "get", "registry"],
            env=environ,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=ASK_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    answer = asked.stdout.strip()
    return answer if answer.startswith(("http://", "https://")) else None


def package_address(registry: str, package: str) -> str:
    return f"{registry}/{quote(package, safe='@')}"
