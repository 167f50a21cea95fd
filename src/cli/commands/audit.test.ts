import { afterAll, beforeAll, expect, test } from "bun:test";
import { runHerald, startServer, type TestServer } from "../testing/run-herald.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (...args: string[]) => runHerald([...args, "--url", server.url], { cwd: server.cwd });

test("the audit log is listed for people and, one object a line, for programs, with filters and as many as wanted", async () => {
  const { stdout: made } = await run("keys", "create", "--name", "a key", "--scope", "message:send", "--json");
  const { id } = JSON.parse(made);
  await run("keys", "revoke", id);
  const listed = await run("audit", "--since", "1h");
  expect(listed).toMatchObject({ code: 0, stderr: "" });
  const [head = "", detail, ...others] = listed.stdout.split("\n");
  expect(head.replace(/^\S+/, "")).toBe("  deleteKey  done");
  expect(detail).toMatch(new RegExp(`^  key ${id}, by bootstrap from \\S+$`));
  expect(others[0]).toEndWith("  createKey  done");

  const objects = async (...args: string[]) =>
    (await run("audit", "--json", ...args)).stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line).operation);
  expect(await objects("--limit", "1")).toEqual(["deleteKey"]);
  expect(await objects("--operation", "createKey", "--by", "bootstrap", "--status", "201")).toEqual(["createKey"]);
  expect(await objects("--org", "demo", "--result", "failed")).toEqual([]);
  expect(await objects("--until", "1h")).toEqual([]);
  expect(await run("audit", "--org", "nowhere")).toEqual({
    code: 0,
    stdout: "",
    stderr: "No matching entries.\n",
  });
});
