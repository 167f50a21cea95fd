import { expect, test } from "bun:test";
import { rawHttp } from "../harness/clients/raw-http.ts";
import { startHerald } from "../harness/servers/herald.ts";

const head = ["Host: localhost", "", ""].join("\r\n");

test("a node that is told to stop under load is not ready, goes on answering for a moment, and closes each connection with its answer", async () => {
  await using herald = await startHerald();
  const paths = ["/readyz", "/docs", "/nowhere", "/admin/organizations", "/openapi.json"];
  const ask = (path: string) => rawHttp(herald.url, [`GET ${path} HTTP/1.1\r\n${head}`], `an answer to GET ${path}`);
  for (const path of paths) expect((await ask(path)).headers.get("connection")).not.toBe("close");
  const stopped = herald.stop();
  const closing = new Set<string>();
  let readiness: number | undefined;
  for (let count = 0; ; count++) {
    const path = paths[count % paths.length] ?? "/readyz";
    const answer = await ask(path);
    if (answer.status === undefined) break; // it has stopped accepting
    if (answer.headers.get("connection") === "close") closing.add(path);
    if (path === "/readyz" && answer.status === 503) readiness = 503;
  }
  await stopped;
  expect(readiness).toBe(503);
  expect([...closing].toSorted()).toEqual(paths.toSorted());
});
