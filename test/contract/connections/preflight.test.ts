import { expect, setDefaultTimeout, test } from "bun:test";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { filesOf } from "../../harness/servers/files.ts";
import { readAnswer, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(60_000);

const page = "https://app.example.org";
const herald = useHerald({ env: { HERALD_ALLOWED_ORIGINS: page } });

/** Headers that browsers, EventSource polyfills, tracing libraries and download libraries add to a GET request. */
const requested = [
  ...["authorization", "last-event-id", "x-request-id", "content-type", "cache-control", "pragma", "expires"],
  ...["range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"],
  ...["x-requested-with", "traceparent", "tracestate", "baggage"],
];

function listed(headers: Headers, name: string): string[] {
  return (headers.get(name) ?? "").split(",").map((item) => item.trim().toLowerCase());
}

async function preflight(path: string, names: string[], origin = page): Promise<Response> {
  return await fetch(herald().url + path, {
    method: "OPTIONS",
    headers: {
      Origin: origin,
      "Access-Control-Request-Method": "GET",
      "Access-Control-Request-Headers": names.join(","),
    },
  });
}

test.each(["/sse", "/files/any"])("a preflight for %s allows what browsers and their libraries send", async (path) => {
  const { status, headers } = await preflight(path, requested);
  expect(status).toBe(204);
  expect(headers.get("access-control-allow-origin")).toBe(page);
  expect(listed(headers, "access-control-allow-headers")).toEqual(expect.arrayContaining(requested));
});

test.each(["/sse", "/files/any"])(
  "a preflight for %s does not allow an API key, which no page may have",
  async (path) => {
    const { headers } = await preflight(path, ["admin-api-key"]);
    expect(listed(headers, "access-control-allow-headers")).not.toContain("admin-api-key");
    expect(listed(headers, "access-control-allow-headers")).not.toContain("*");
  },
);

test("a page reads the headers of streams and files that are not safelisted, also on errors", async () => {
  const org = await createOrganization(herald());
  const files = filesOf(org);
  const { file_id } = await files.uploaded("report.txt", "0123456789");
  const cid = await org.conversation(["alice"]);
  await org.sent("alice", { cid, attachments: [{ name: "report.txt", file_id }] });
  const headers = { Origin: page, Authorization: `Bearer ${await org.token("alice")}` };
  const answers = [
    await fetch(`${herald().url}/files/${file_id}`, { headers: { ...headers, Range: "bytes=2-3" } }),
    await fetch(`${herald().url}/files/${file_id}`, { method: "HEAD", headers }),
    await fetch(`${herald().url}/files/unknown`, { headers }),
    await fetch(`${herald().url}/sse`, { headers: { Origin: page } }),
  ];
  // Those that every page may read of every answer (Fetch standard, section 2.2.2), and those about the connection.
  const readable = ["cache-control", "content-language", "content-length", "content-type", "expires", "last-modified"];
  const isOurs = (name: string) =>
    !readable.includes(name) &&
    !/^(access-control-|content-security-policy$|cross-origin-|referrer-policy$|x-content-type-options$|date$|vary$|connection$|transfer-encoding$|keep-alive$)/.test(
      name,
    );
  for (const answer of answers) {
    expect(answer.headers.get("access-control-allow-origin")).toBe(page);
    const exposed = listed(answer.headers, "access-control-expose-headers");
    expect(exposed).toEqual(expect.arrayContaining([...answer.headers.keys()].filter(isOurs)));
    expect(exposed).toEqual(expect.arrayContaining(["retry-after", "ratelimit", "ratelimit-policy", "x-request-id"]));
    await answer.body?.cancel();
  }
});

test("a preflight from another origin is refused, whatever it asks for", async () => {
  const sse = await preflight("/sse", ["cache-control"], "https://evil.example");
  expectProblem(await readAnswer(sse), 403, "origin_forbidden");
  const file = await preflight("/files/any", ["cache-control"], "https://evil.example");
  expect([file.status, file.headers.has("access-control-allow-headers")]).toEqual([405, false]);
});
