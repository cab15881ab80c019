#!/usr/bin/env node
/** Runs the program in the package of this platform, as if it had been started itself. */
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"];

const platform = `${process.platform}-${process.arch}`;
const child = spawn(find(`@sandbox-agentd/cli-${platform}`), process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to both of us; a service manager tells only this process to stop.
for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
child.on("error", (error) => stop(error.message));
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));

function find(name) {
  try {
    return require.resolve(`${name}/sandbox-agent`);
  } catch {
    const packaged = Object.keys(require("./package.json").optionalDependencies);
    stop(
      packaged.includes(name)
        ? `${name} is not installed: install again without --omit=optional`
        : `there is no package for ${platform}: pip install 'sandbox-agentd[cli]' gives the same program`,
    );
  }
}

function stop(reason) {
  console.error(`sandbox-agent: ${reason}`);
  process.exit(1);
}
