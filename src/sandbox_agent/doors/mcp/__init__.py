"""The Model Context Protocol: sessions as tools, so that an agent or another MCP client can give work to any agent.

`server.py` answers requests in every supported version of the protocol, `work.py` carries out the tools that `tools.py` declares, and
`callers.py` says what a caller may do: a client, or the agent of a session. `door.py` is `/mcp`; `lines.py` is the socket of a
session's agent.
"""
