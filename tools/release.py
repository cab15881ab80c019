"""Makes a release: `make release VERSION=1.2.3`, or with `ARGS=--dry-run` to see what it would give.

Checks, stamps the version, turns *Unreleased* of the changelog into a section, builds every artifact with checksums, then
commits and tags. Nothing leaves the machine. A dry run builds the same, then takes the stamps back and tags nothing.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
from pathlib import Path

from tools import versions
from tools.artifacts import KINDS, build

ROOT = Path(__file__).parents[1]
CHANGELOG = "CHANGELOG.md"
UNRELEASED = "## [Unreleased]\n"
VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


class Refused(SystemExit):
    """The release cannot be made; nothing has changed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    parser.add_argument("--dry-run", action="store_true", help="build, but neither commit nor tag")
    parser.add_argument(
        "--skip-checks", action="store_true", help="for a commit that has passed `make check test`"
    )
    parser.add_argument("--only", choices=KINDS, nargs="+", default=KINDS, help="what to build")
    args = parser.parse_args()
    refuse_if_not_ready(args.version)
    if not args.skip_checks:
        run("make", "check", "test")
    try:
        section = write(args.version, datetime.datetime.now(datetime.UTC).date())
        made = build(ROOT / "dist", args.only)
        if not args.dry_run:
            run("git", "commit", "--quiet", "--all", "--message", f"release: {args.version}")
            run("git", "tag", "--annotate", f"v{args.version}", "--cleanup=verbatim", "--message", section)
    except BaseException:
        restore()
        raise
    if args.dry_run:
        restore()
    print(section)
    for file in made:
        print(f"{file.stat().st_size / 1e6:7.1f} MB  {file.relative_to(ROOT)}")
    print(
        "dry run: nothing was committed or tagged"
        if args.dry_run
        else f"tagged v{args.version}; publish it with `git push --follow-tags`"
    )


def refuse_if_not_ready(version: str) -> None:
    now = versions.current(ROOT)
    if not VERSION.fullmatch(version):
        raise Refused(f"VERSION={version}: expected three numbers, as in 1.2.3")
    if parts(version) <= parts(now):
        raise Refused(f"VERSION={version}: expected more than {now}")
    if read("git", "tag", "--list", f"v{version}"):
        raise Refused(f"VERSION={version}: there is a tag v{version}")
    if changes := read("git", "status", "--porcelain"):
        raise Refused(f"there are changes that are not committed:\n{changes}")
    if not unreleased(changelog()):
        raise Refused(f"{CHANGELOG} has nothing under Unreleased")


def parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def write(version: str, day: datetime.date) -> str:
    """Write the version into all files; the new section of the changelog."""
    text = changelog()
    versions.stamp(ROOT, version)
    (ROOT / CHANGELOG).write_text(
        text.replace(UNRELEASED, f"{UNRELEASED}\n## [{version}] - {day.isoformat()}\n", 1)
    )
    run("make", "--silent", "gen")
    return f"{version}\n\n{unreleased(text)}"


def changelog() -> str:
    return (ROOT / CHANGELOG).read_text()


def unreleased(text: str) -> str:
    """What the changelog says about the next version."""
    rest = text.partition(UNRELEASED)[2]
    return re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0].strip()


def restore() -> None:
    """Take the stamps back. The tree was clean before."""
    run("git", "checkout", "--quiet", "--", ".")


def run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)


def read(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
