import { expect, test } from "bun:test";
import { eventually } from "../../harness/deadline.ts";
import { useHerald } from "../../harness/servers/herald.ts";

const herald = useHerald({ oneNode: "a node tells of the requests that it takes itself" });

test("a node reports once that requests are forwarded from an untrusted address, and what to set", async () => {
  const told = () =>
    herald()
      .logLines()
      .filter(({ msg }) => String(msg).includes("HERALD_TRUSTED_PROXIES"));
  await herald().http("GET", "/healthz");
  expect(told()).toEqual([]);
  for (let count = 0; count < 3; count++)
    await herald().admin("GET", "/admin/organizations", undefined, { "X-Forwarded-For": "192.0.2.1" });
  const lines = await eventually(() => (told().length > 0 ? told() : undefined), "the line about the proxy");
  expect(lines).toMatchObject([{ level: 40, address: "127.0.0.1" }]);
});
