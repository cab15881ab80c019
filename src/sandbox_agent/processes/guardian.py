"""The small process between the daemon and an agent: no descendant of the agent outlives it.

Run as a script, with only the standard library. It is a child subreaper, so everything the agent starts stays its descendant, even
in its own groups and sessions or double-forked. It passes its stdin, stdout and stderr to the agent and keeps none of them. If they
are a terminal, that becomes the agent's controlling terminal. It watches one socket to the daemon; when the daemon sends `stop` or
dies, it ends every descendant, found by ancestry and by a marker in the environment.

    guardian.py CONTROL_FD MARKER GRACE_MS DESCRIPTORS -- command args...

DESCRIPTORS is the soft limit of open descriptors that the agent gets: the daemon may have raised its own.

It writes lines to the socket: `started PID`, `failed CODE REASON` (the exit code that a shell would use), `exited RETURNCODE`
(negative: a signal). It reads: `stop` (end everything, after a grace period), `kill` (at once), `term` (only SIGTERM to the agent's
group), `int`, and `hold MILLISECONDS`: if the daemon sends nothing for that long, every descendant is stopped with SIGSTOP until the next
`hold`. A daemon that others may replace sends it again and again: while it is cut off or stopped itself, its agents must not act.
"""

import os
import resource
import select
import signal
import sys
import time

MARKER_NAME = "SANDBOX_AGENT_GUARD"
GIVE_UP_SECONDS = 5.0


def become_subreaper() -> None:
    if sys.platform == "linux":
        import ctypes

        pr_set_child_subreaper = 36
        ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def given_environment() -> "dict[bytes, bytes]":
    """The original environment: Python adds LC_CTYPE when it starts in the C locale."""
    try:
        with open("/proc/self/environ", "rb") as file:
            entries = [entry.partition(b"=") for entry in file.read().split(b"\0") if entry]
    except OSError:
        return dict(os.environb)
    return {name: value for name, _, value in entries}


def parents() -> "dict[int, int]":
    """Every process and its parent."""
    table = {}
    if os.path.isdir("/proc/self"):
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/stat", "rb") as file:
                        # The command's name is in parentheses and may contain anything.
                        table[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
                except (OSError, IndexError, ValueError):
                    continue
        return table
    with os.popen("ps -axo pid=,ppid=") as listing:  # noqa: S605 - systems without /proc
        for line in listing:
            pid, ppid = line.split()
            table[int(pid)] = int(ppid)
    return table


def descendants(root: int) -> "set[int]":
    table = parents()
    children: dict[int, list[int]] = {}
    for pid, ppid in table.items():
        children.setdefault(ppid, []).append(pid)
    found: set[int] = set()
    queue = [root]
    while queue:
        for child in children.get(queue.pop(), ()):
            if child not in found:
                found.add(child)
                queue.append(child)
    return found


def marked(marker: str) -> "set[int]":
    """Processes whose environment carries the marker, anywhere in the tree."""
    wanted = f"{MARKER_NAME}={marker}".encode()
    found = set()
    if os.path.isdir("/proc/self"):
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                try:
                    with open(f"/proc/{name}/environ", "rb") as file:
                        if any(entry.startswith(wanted) for entry in file.read().split(b"\0")):
                            found.add(int(name))
                except OSError:
                    continue
    return found


def now() -> float:
    """Counts the time that the machine was suspended, too."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def send_signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass


def terminal_actions() -> "list[tuple[int, ...]]":
    """Gives the agent this process's terminal, if any: the first one that a session leader opens becomes its controlling terminal."""
    if not os.isatty(0):
        return []
    opened = (os.POSIX_SPAWN_OPEN, 0, os.ttyname(0), os.O_RDWR, 0)
    return [opened, (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]  # type: ignore[list-item]


class Guardian:
    def __init__(
        self, control: int, marker: str, grace: float, descriptors: int, command: "list[str]"
    ) -> None:
        self.control = control
        self.marker = marker
        self.grace = grace
        self.descriptors = descriptors
        self.command = command
        self.agent = 0
        self.agent_running = False
        self.held_until: float | None = None
        """When the agent has to stop, unless the daemon sends something; None if it never has to."""
        self.is_frozen = False

    def run(self) -> None:
        become_subreaper()
        os.set_inheritable(self.control, False)
        self.wakeup, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: None)
        for name in ("SIGINT", "SIGHUP"):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
        if self.start():
            self.watch()
            self.end_all()

    def start(self) -> bool:
        # Python ignores two signals, the guardian ignores more, and a shell does so for background jobs: the agent gets
        # the default handling of every signal.
        defaults = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, hard))
        try:
            self.agent = os.posix_spawnp(
                self.command[0],
                self.command,
                given_environment(),
                file_actions=terminal_actions(),
                setsid=True,
                setsigdef=defaults,
                setsigmask=[],
            )
        except OSError as error:
            code = 127 if isinstance(error, FileNotFoundError) else 126
            self.say(f"failed {code} {self.command[0]}: {error.strerror}")
            return False
        self.agent_running = True
        # The agent has its pipes; a copy here would hide their end.
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nothing, fd)
        self.say(f"started {self.agent}")
        return True

    def watch(self) -> None:
        """Wait until the agent is gone, or the daemon says stop or is gone."""
        # Not `select`, which cannot handle the high descriptors of a daemon with a thousand connections.
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(self.wakeup, select.POLLIN)
        while self.agent_running:
            readable = {fd for fd, _ in poll.poll(self.patience())}
            if self.patience() == 0:
                self.freeze()
            if self.wakeup in readable:
                numbers = os.read(self.wakeup, 512)
                self.reap()
                if signal.SIGTERM in numbers:
                    return
            if self.control in readable and not self.obey():
                return

    def patience(self) -> "float | None":
        """Milliseconds until the agent has to stop."""
        if self.held_until is None or self.is_frozen:
            return None
        return max(0.0, (self.held_until - now()) * 1000)

    def freeze(self) -> None:
        self.is_frozen = True
        frozen: set[int] = set()
        # Repeat until there are no new ones: a process may fork during the scan.
        while found := (descendants(os.getpid()) | marked(self.marker)) - frozen:
            for pid in found:
                send_signal(pid, signal.SIGSTOP)
            frozen |= found

    def hold(self, seconds: float) -> None:
        self.held_until = now() + seconds
        if self.is_frozen and seconds > 0:
            self.is_frozen = False
            for pid in descendants(os.getpid()) | marked(self.marker):
                send_signal(pid, signal.SIGCONT)

    def obey(self) -> bool:
        """Obey the daemon; False if it says to stop."""
        try:
            received = os.read(self.control, 4096)
        except OSError:
            return False
        if b"kill" in received:
            self.grace = 0.0
        if not received or b"stop" in received or b"kill" in received:
            return False
        if b"term" in received:
            send_signal(-self.agent, signal.SIGTERM)
        if b"int" in received:
            send_signal(self.agent, signal.SIGINT)
        for line in received.split(b"\n"):
            word, _, milliseconds = line.partition(b" ")
            if word == b"hold":
                self.hold(int(milliseconds) / 1000)
        return True

    def end_all(self) -> None:
        """Give the agent a chance to exit; then kill every descendant until none is left."""
        # What is frozen must not act again.
        if self.agent_running and self.grace > 0 and not self.is_frozen:
            send_signal(self.agent, signal.SIGTERM)
            deadline = time.monotonic() + self.grace
            poll = select.poll()
            poll.register(self.wakeup, select.POLLIN)
            while self.agent_running and (left := deadline - time.monotonic()) > 0:
                if poll.poll(left * 1000):
                    os.read(self.wakeup, 512)  # else every later wait would return at once
                self.reap()
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            victims = descendants(os.getpid()) | marked(self.marker)
            if not victims:
                break
            for pid in victims:
                send_signal(pid, signal.SIGKILL)
            self.reap()
            time.sleep(0.002)
        self.reap()

    def reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.agent:
                self.agent_running = False
                self.say(f"exited {os.waitstatus_to_exitcode(status)}")

    def say(self, line: str) -> None:
        try:
            os.write(self.control, line.encode() + b"\n")
        except OSError:
            pass


if __name__ == "__main__":
    fd, mark, grace_ms, limit, _, *argv = sys.argv[1:]
    Guardian(int(fd), mark, int(grace_ms) / 1000, int(limit), argv).run()
