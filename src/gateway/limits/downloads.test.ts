import { expect, test } from "bun:test";
import { createDownloads } from "./downloads.ts";

const request = { signal: new AbortController().signal };

function useDownloads({ isShared }: { isShared: boolean }) {
  const downloads = createDownloads({
    budgets: { require: () => undefined, charge: () => undefined },
    isShared: () => isShared,
    onError(error) {
      throw error;
    },
  });
  const passed: string[] = [];
  const crowd = (pass: (name: string) => Promise<void>, name: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => pass(name).then(() => void passed.push(name))));
  return {
    downloads,
    passed,
    enter: (name: string, count: number) => crowd((address) => downloads.enter(address, request), name, count),
    open: (name: string, count: number) => crowd((org) => downloads.turn(org, request), name, count),
  };
}

test("files of an organization that is alone are opened as they are asked for", async () => {
  const { open, passed } = useDownloads({ isShared: false });
  const all = open("org", 100);
  await Promise.resolve();
  await Promise.resolve();
  expect(passed.length).toBe(100);
  await all;
});

test("files of an organization that shares the node are opened few at a time, and another need not wait for them", async () => {
  const { open, passed } = useDownloads({ isShared: true });
  const crowd = open("crowd", 12);
  await open("other", 1);
  expect(passed.filter((name) => name === "crowd").length).toBeLessThan(12);
  await crowd;
  expect(passed.length).toBe(13);
});

test("addresses take turns to have their tokens verified while organizations share the node", async () => {
  const { enter, passed } = useDownloads({ isShared: true });
  const crowd = enter("192.0.2.1", 20);
  await enter("192.0.2.2", 1);
  expect(passed.length).toBeLessThan(8);
  await crowd;
  expect(passed.length).toBe(21);
});

test("a request whose client hangs up while it waits goes no further", async () => {
  const { downloads, open } = useDownloads({ isShared: true });
  const crowd = open("org", 20);
  const leaving = new AbortController();
  const waiting = downloads.turn("org", { signal: leaving.signal });
  leaving.abort();
  await expect(waiting).rejects.toThrow("the client has disconnected");
  await crowd;
});
