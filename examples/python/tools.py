"""A tool of your own: `python tools.py claude "which of our shops is open?"`. The agent calls functions of this program."""

import argparse
import sys
from typing import Annotated, Literal, TypedDict

from sandbox_agent import SandboxAgent, SandboxAgentError

Day = Literal["monday", "saturday", "sunday"]


class Hours(TypedDict):
    opens: int
    closes: int


SHOPS: dict[str, dict[Day, Hours]] = {
    "Bonn": {"monday": {"opens": 9, "closes": 18}, "saturday": {"opens": 10, "closes": 14}},
    "Ulm": {"monday": {"opens": 8, "closes": 20}},
}


def list_shops() -> list[str]:
    """The cities in which we have a shop."""
    return list(SHOPS)


def opening_hours(city: Annotated[str, "A city from list_shops."], day: Day = "monday") -> Hours | str:
    """When a shop is open. Call list_shops first."""
    if city not in SHOPS:
        raise LookupError(f"there is no shop in {city}")
    return SHOPS[city].get(day, "closed")


def main(agent: str, prompts: list[str]) -> None:
    with SandboxAgent.start() as client:
        session = client.sessions.create(agent=agent, tools=[list_shops, opening_hours])
        for prompt in prompts:
            print(session.prompt(prompt).result().text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agent", nargs="?", default="mock")
    parser.add_argument(
        "prompts", nargs="*", default=["call list_shops", 'call opening_hours {"city": "Bonn"}']
    )
    arguments = parser.parse_args()
    try:
        main(arguments.agent, arguments.prompts)
    except SandboxAgentError as error:
        sys.exit(str(error))
