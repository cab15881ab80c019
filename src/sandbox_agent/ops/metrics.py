"""Prometheus text, made when it is asked for: nothing is counted twice and nothing is imported before."""

from __future__ import annotations

import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ..runtime.daemon import Daemon


class _DaemonCollector(Collector):
    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon

    def collect(self) -> Iterator[Metric]:
        counts = self._daemon.counts()
        gauges = {
            "sessions_loaded": "Sessions in memory.",
            "turns_running": "Turns that run right now.",
            "agent_processes": "Agent processes that run right now.",
            "log_bytes": "Bytes the log takes on disk.",
            "readers": "Readers that follow the log.",
        }
        for name, text in gauges.items():
            yield GaugeMetricFamily(f"sandbox_agent_{name}", text, counts[name])
        yield CounterMetricFamily(
            "sandbox_agent_events_committed", "Events written since the start.", counts["events_committed"]
        )
        yield GaugeMetricFamily(
            "sandbox_agent_log_writable",
            "1 when the log can be written.",
            float(self._daemon.log.failure is None),
        )
        yield GaugeMetricFamily(
            "sandbox_agent_uptime_seconds",
            "Seconds since the start.",
            time.monotonic() - self._daemon.started_at,
        )


def render(daemon: Daemon) -> bytes:
    registry = CollectorRegistry()
    registry.register(_DaemonCollector(daemon))
    ProcessCollector(registry=registry)
    return generate_latest(registry)
