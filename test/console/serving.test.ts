import { describe, expect, test } from "bun:test";
import { expectProblem } from "../harness/reading/expectations.ts";
import { startHerald, useHerald } from "../harness/servers/herald.ts";

const herald = useHerald({ oneNode: "each node makes the console from the same files", env: { HERALD_DEMO: "1" } });

const pages = ["/console", "/console/demo"];

/** The targets of a page's `src` and `href`. */
function linksOf(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].flatMap(([, link]) => link ?? []);
}

describe("the console's pages", () => {
  test.each(pages)(
    "%s and everything it loads come from this server, under names that change with the content",
    async (page) => {
      const { status, headers, text } = await herald().http<string>("GET", page);
      expect(status).toBe(200);
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(headers.get("cache-control")).toBe("no-cache");
      const assets = linksOf(text).filter((link) => !link.startsWith("/docs"));
      expect(assets.length).toBeGreaterThanOrEqual(3);
      for (const asset of assets) {
        expect(asset).toMatch(/^\/console\/assets\/[\w-]+-[a-z0-9]{8}\.(js|css|svg)$/);
        const answer = await herald().http<string>("GET", asset);
        expect([asset, answer.status]).toEqual([asset, 200]);
        expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
        expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      }
    },
  );

  test.each(pages)("%s allows no inline script or style, no framing, and no call to another origin", async (page) => {
    const { headers, text } = await herald().http<string>("GET", page);
    const policy = headers.get("content-security-policy") ?? "";
    for (const directive of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
      expect(policy.split("; ")).toContain(directive);
    expect(policy).not.toContain("unsafe");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(text).not.toMatch(/<style|style=|<script>|\son\w+=/);
  });

  test("there is no demo page unless HERALD_DEMO is on", async () => {
    await using server = await startHerald();
    expectProblem(await server.http("GET", "/console/demo"), 404, "not_found");
    expect((await server.http<string>("GET", "/console")).status).toBe(200);
    await server.stop();
  });

  test("a page that the browser has is not sent again", async () => {
    const first = await herald().http<string>("GET", "/console");
    const again = await herald().http<string>("GET", "/console", {
      headers: { "If-None-Match": first.headers.get("etag") ?? "" },
    });
    expect([again.status, again.text]).toEqual([304, ""]);
  });

  test("files are sent in an encoding that the caller accepts", async () => {
    const page = await herald().http<string>("GET", "/console");
    const script = linksOf(page.text).find((link) => link.endsWith(".js")) ?? "";
    const seen: Record<string, string | null> = {};
    for (const accepted of ["br, gzip", "gzip", "br;q=0, gzip;q=0.5", "identity"]) {
      const answer = await herald().http<string>("GET", script, { headers: { "Accept-Encoding": accepted } });
      expect(answer.text).toContain("document");
      seen[accepted] = answer.headers.get("content-encoding");
    }
    expect(seen).toEqual({ "br, gzip": "br", gzip: "gzip", "br;q=0, gzip;q=0.5": "gzip", identity: null });
  });

  test("a file that is not part of the console is 404, wherever its name points", async () => {
    for (const name of ["nothing.js", "..%2Findex.html", "..%2F..%2Fpackage.json", "%2Fetc%2Fpasswd"]) {
      const answer = await herald().http("GET", `/console/assets/${name}`);
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    }
  });
});
