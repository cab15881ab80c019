"""`python -m sandbox_agent.testing.scripted_model`: the scripted model as a command."""

from __future__ import annotations

import argparse
from pathlib import Path

from .server import ScriptedModel, load_scenarios


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox_agent.testing.scripted_model",
        description="Serve a model that follows the prompt's instructions: SCENARIO:text, SCENARIO:command, ...",
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free port (default)")
    parser.add_argument(
        "--scenarios", type=Path, metavar="FILE", help="more scenarios: a JSON object of lists of steps"
    )
    arguments = parser.parse_args()
    more = load_scenarios(arguments.scenarios.read_bytes()) if arguments.scenarios else {}
    model = ScriptedModel(host=arguments.host, port=arguments.port, scenarios=more)
    print(model.base_url, flush=True)
    try:
        model.serve()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
