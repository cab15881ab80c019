// With an older Node.js, such as the one of Debian 12, the build ends in a stack trace that does not name the version.
const NEEDED = [20, 19];

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  console.error(`the inspector needs Node.js ${NEEDED.join(".")} or newer, and ${process.execPath} is ${process.versions.node}`);
  process.exit(1);
}
