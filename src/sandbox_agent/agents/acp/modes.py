"""The mode that every ACP agent has: whatever it begins with. What else there is, it tells when a session is opened."""

from ...schema.features import Mode

BUILD = Mode("build", "Build", "The mode that the agent begins with.")
