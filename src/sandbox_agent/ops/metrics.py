"""Metrics in Prometheus text format, computed on request from the daemon's own counters."""

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
            "turns_running": "Running turns.",
            "agent_processes": "Running agent processes.",
            "log_bytes": "Size of the log on disk.",
            "readers": "Connected readers.",
        }
        for name, text in gauges.items():
            yield GaugeMetricFamily(f"sandbox_agent_{name}", text, counts[name])
        yield CounterMetricFamily(
            "sandbox_agent_events_committed", "Events written since the start.", counts["events_committed"]
        )
        yield GaugeMetricFamily(
            "sandbox_agent_log_writable",
            "1 if the log is writable.",
            float(self._daemon.log.failure is None),
        )
        for name, (text, value) in self._daemon.cluster_figures().items():
            yield GaugeMetricFamily(f"sandbox_agent_{name}", text, value)
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
