import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLineOutput } from "./line-output.ts";

/** The other end of a pipe, with limited room, and more once it has read. */
function pipe(room: number) {
  let free = room;
  let heard = "";
  const { promise: end, resolve: onEnd } = Promise.withResolvers<void>();
  return {
    heard: () => heard,
    end,
    read(bytes: number) {
      free += bytes;
    },
    writeSome(bytes: Uint8Array) {
      if (free === 0) throw Object.assign(new Error("it is full"), { code: "EAGAIN" });
      const taken = bytes.subarray(0, free);
      free -= taken.length;
      heard += Buffer.from(taken).toString();
      if (heard.endsWith("end\n")) onEnd();
      return taken.length;
    },
  };
}

const tellLost = (lines: number) => `${lines} lost\n`;

test("lines wait for a slow reader, complete and in order", async () => {
  const { heard, end, read, writeSome } = pipe(7);
  const output = createLineOutput({ writeSome, maxBytes: 100, tellLost });
  output.write("one\ntwo\n");
  output.write("end\n");
  expect(heard()).toBe("one\ntwo");
  read(100);
  await end;
  expect(heard()).toBe("one\ntwo\nend\n");
});

test("lines that do not fit are dropped, which is reported once there is room", () => {
  const { heard, read, writeSome } = pipe(4);
  const output = createLineOutput({ writeSome, maxBytes: 8, tellLost });
  output.write("one\ntwo\n");
  output.write("six\n");
  output.write("seven\neight\n");
  expect(heard()).toBe("one\n");
  read(100);
  output.drain();
  expect(heard()).toBe("one\ntwo\nsix\n2 lost\n");
});

test("lines that exceed the buffer at once are written all the same", () => {
  const { heard, writeSome } = pipe(1_000);
  createLineOutput({ writeSome, maxBytes: 8, tellLost }).write("a long line\nand another\n");
  expect(heard()).toBe("a long line\nand another\n");
});

test("logging throws nothing when nobody reads any more", () => {
  const output = createLineOutput({
    writeSome() {
      throw Object.assign(new Error("broken pipe"), { code: "EPIPE" });
    },
    maxBytes: 8,
    tellLost,
  });
  output.write("one\n");
  output.drain();
});

test("lines dropped before and after the reader was gone are counted together, and told once it reads again", () => {
  const heard: string[] = [];
  let state: "gone" | "full" | "open" = "gone";
  let lost = 0;
  const output = createLineOutput({
    writeSome(bytes) {
      if (state !== "open") throw Object.assign(new Error(state), { code: state === "gone" ? "EIO" : "EAGAIN" });
      heard.push(Buffer.from(bytes).toString());
      return bytes.length;
    },
    maxBytes: 8,
    tellLost,
    onLost: (lines) => {
      lost += lines;
    },
  });
  output.write("one\n");
  output.write("two\n");
  state = "full";
  output.write("three\n");
  output.write("four\n");
  expect([lost, heard]).toEqual([3, []]);
  state = "open";
  output.drain();
  expect([lost, heard]).toEqual([3, ["three\n", "3 lost\n"]]);
});

test("a process continues while nobody reads its log, and writes the buffered lines at exit", async () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-log-"));
  const mark = join(folder, "went-on");
  const script = `
    import { writeFileSync } from "node:fs";
    import { createLogger } from "./logger.ts";
    const log = createLogger("info", (line) => line);
    log.info("x".repeat(900_000));
    setImmediate(() => setImmediate(() => writeFileSync(${JSON.stringify(mark)}, "")));
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: import.meta.dir, stdout: "pipe" });
  const deadline = performance.now() + 5_000;
  while (!existsSync(mark) && performance.now() < deadline) Bun.sleepSync(10); // blocks, so that this process reads nothing
  expect(existsSync(mark)).toBe(true);
  const [, line] = [await child.exited, await new Response(child.stdout).text()];
  expect(JSON.parse(line).msg).toHaveLength(900_000);
  rmSync(folder, { recursive: true });
});
