"""The one mode every ACP agent has: its default. It lists any others when a session is opened."""

from ...schema.features import Mode

BUILD = Mode("build", "Build", "The agent's default mode.")
