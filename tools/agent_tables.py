"""Tables about agents in pages that are otherwise written by hand, from the adapters and the table of publishers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from sandbox_agent.agents import AGENTS, TRANSLATORS
from sandbox_agent.agents.base import Agent
from sandbox_agent.agents.credentials import KeyFile, Sources
from sandbox_agent.install.publishers import (
    MAIN_MACHINES,
    MUSL_MACHINES,
    NODE_OLDEST,
    RECIPES,
    Bucket,
    Recipe,
    Releases,
)


def credentials() -> str:
    """Where each agent's credentials are found."""
    rows = []
    for name, agent in AGENTS.items():
        if agent.credentials is None:
            continue
        rows.append([name, ", ".join(key_variables(agent.credentials)), _files(agent.credentials.files)])
    return _table(["agent", "variables", "files"], rows)


def key_variables(sources: Sources) -> list[str]:
    variables = [f"`{variable.name}`" for variable in sources.variables]
    return [*variables, "the model providers' keys"] if sources.provider_families else variables


def _files(files: Iterable[KeyFile]) -> str:
    """By directory: `auth.json` and `models.json` in `~/.pi/agent` or `PI_CODING_AGENT_DIR`."""
    folders: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for file in files:
        name = f"`{file.name}`" + (f" ({file.about})" if file.about else "")
        folders[f"~/{file.default_folder}".rstrip("/"), file.folder_variable].append(name)
    return "; ".join(
        f"{' and '.join(names)} in `{folder}` or `{variable}`"
        for (folder, variable), names in folders.items()
    )


def reach() -> str:
    """Which agents see which variables."""
    prefixes = sorted({prefix for agent in AGENTS.values() for prefix in agent.env_families})
    groups: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for prefix in prefixes:
        agents = (name for name, agent in AGENTS.items() if prefix.startswith(agent.env_families or "*"))
        groups[tuple(agents)].append(f"`{prefix}*`" if prefix.endswith("_") else f"`{prefix}`")
    return _table(
        ["variables", "agents"], [[", ".join(names), ", ".join(agents)] for agents, names in groups.items()]
    )


def downloads() -> str:
    """Where each agent is published, and how a download is verified."""
    return _table(
        ["agent", "from", "checksum"],
        [[name, *_download(recipe)] for name, recipe in RECIPES.items() if recipe.downloads],
    )


def _download(recipe: Recipe) -> tuple[str, str]:
    match recipe.downloads:
        case Bucket(manifest=None):
            return "the publisher's bucket", "`<file>.sha256`, if it exists"
        case Bucket(manifest=str(manifest)):
            return "the publisher's bucket", f"`{manifest.rpartition('/')[2]}`"
        case Releases(repo, _, assets, sums):
            files = ", or ".join(f"`{asset.replace('{name}', '<build>')}`" for asset in assets)
            return f"releases of `{repo}`: {files}", f"the release's digests, or `{sums}`"
    return "npm only", ""


def machines() -> str:
    """The platforms of each agent."""
    head = ["agent", *(f"`{machine}`" for machine in (*MAIN_MACHINES, *MUSL_MACHINES))]
    return _table(
        head,
        [
            [name, *(_on(recipe, machine) for machine in (*MAIN_MACHINES, *MUSL_MACHINES))]
            for name, recipe in RECIPES.items()
        ],
    )


def _on(recipe: Recipe, machine: str) -> str:
    if machine in recipe.builds:
        return "yes"
    if not any(tree.runs_on_node for tree in recipe.npm):
        return "no"
    own = (
        ""
        if machine in MAIN_MACHINES
        else f", with the machine's Node.js {'.'.join(map(str, NODE_OLDEST))} or newer"
    )
    return f"as JavaScript{own}"


def workspaces() -> str:
    """Which settings of an agent a repository can contain."""
    return _table(
        ["agent", "reads from the workspace"],
        [[name, agent.reads_from_workspace] for name, agent in AGENTS.items() if agent.reads_from_workspace],
    )


def unasked() -> str:
    """What each agent does without asking."""
    return _facts({"does without asking": lambda agent: agent.unasked})


def usage() -> str:
    """When each agent reports what it has spent."""
    return _facts({"tokens": lambda agent: agent.reports_tokens, "cost": lambda agent: agent.reports_cost})


def mcp() -> str:
    """What each agent does with its MCP servers."""
    return _facts(
        {
            "`timeoutMs`": lambda agent: agent.mcp_timeout,
            "`sse`": _sse,
            "reports": lambda agent: agent.mcp_reports,
        }
    )


def _sse(agent: Agent) -> str:
    if agent is TRANSLATORS["acp"]:
        return "if the agent supports it"
    return "yes" if agent.reaches_sse else "no"


def skills() -> str:
    """How each agent gets the skills of a session."""
    return _facts({"how": lambda agent: agent.finds_skills})


def commands() -> str:
    """Where each agent's commands come from."""
    return _facts({"source of commands": lambda agent: agent.commands_from})


def carried() -> str:
    """What of each agent's conversation reaches another node."""
    return _facts({"what is stored": lambda agent: agent.carries})


def _facts(columns: Mapping[str, Callable[[Agent], str]]) -> str:
    """A row for each agent that has something in the first column, and one for all ACP agents."""
    rows = [
        [name, *(cell(agent) for cell in columns.values())]
        for name, agent in {**AGENTS, "ACP agents": TRANSLATORS["acp"]}.items()
    ]
    return _table(["agent", *columns], [row for row in rows if row[1]])


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
