/** Archives of a single file, which is how Docker takes files and gives them. */
const BLOCK = 512;

/** A folder and a file in it, which only this user can read. */
export function archiveOf(folder: string, file: string, content: string, user: number): Buffer {
  const data = Buffer.from(content);
  const padding = Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK);
  const entries = [header(`${folder}/`, "5", 0o700, 0, user), header(`${folder}/${file}`, "0", 0o400, data.length, user)];
  return Buffer.concat([...entries, data, padding, Buffer.alloc(2 * BLOCK)]);
}

/** The content of the first file. */
export function firstFileOf(archive: Buffer): string {
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const size = Number.parseInt(archive.toString("latin1", at + 124, at + 135), 8) || 0;
    const type = archive.toString("latin1", at + 156, at + 157);
    if (type === "0" || type === "\0") return archive.toString("utf8", at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new Error("the archive has no file");
}

function header(name: string, type: string, mode: number, size: number, user: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  };
  block.write(name, 0, "latin1");
  octal(mode, 100, 8);
  octal(user, 108, 8);
  octal(user, 116, 8);
  octal(size, 124, 12);
  octal(Math.floor(Date.now() / 1000), 136, 12);
  block.write("        ", 148, "latin1");
  block.write(type, 156, "latin1");
  block.write("ustar\0" + "00", 257, "latin1");
  octal(block.reduce((sum, byte) => sum + byte, 0), 148, 7);
  return block;
}
