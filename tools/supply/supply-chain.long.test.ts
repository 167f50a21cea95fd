import { describe, expect, test } from "bun:test";
import { productionPackages } from "./package-lock.ts";
import { askNpm, forProduction } from "./sbom.ts";

test("no package but bun runs a script when it is installed", async () => {
  const { packages }: { packages: Record<string, { hasInstallScript?: boolean }> } =
    await Bun.file("package-lock.json").json();
  const withScript = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  expect(withScript.map(([path]) => path)).toEqual(["node_modules/bun"]);
});

describe("the bill of materials", () => {
  test("names each production package with its source, licence, hash and dependents, and no others", () => {
    const packages = productionPackages();
    const bom = forProduction(askNpm(), packages);
    const refs = bom.components.map((component) => component["bom-ref"]);
    expect(refs.toSorted()).toEqual([...new Set(packages.map(({ name, version }) => `${name}@${version}`))].sort());
    // Those that development tools need, too, which npm's `--omit dev` leaves out; and one that only they need.
    for (const name of ["zod", "commander", "bun", "ipaddr.js"]) expect(refs.join(" ")).toContain(`${name}@`);
    expect(refs.join(" ")).not.toContain("typescript@");
    for (const component of bom.components) {
      expect(component.purl).toStartWith("pkg:npm/");
      expect(component.hashes).toEqual([{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
      expect(component.licenses).not.toBeEmpty();
    }
    expect(bom.metadata.component.name).toBe("herald");
    const reached = new Set([bom.metadata.component["bom-ref"]]);
    for (const ref of reached)
      for (const next of bom.dependencies.find((one) => one.ref === ref)?.dependsOn ?? []) reached.add(next);
    expect(refs.filter((ref) => !reached.has(ref))).toEqual([]);
  });

  test("is not written if npm's lacks a package of the lock file", () => {
    const bom = askNpm();
    expect(() => forProduction(bom, [{ name: "no-such-package", version: "1.0.0" }])).toThrow("no-such-package@1.0.0");
  });
});

/** Runs the gate against a registry that answers each query for vulnerabilities with this. */
async function runGate(answer: () => Response) {
  await using registry = Bun.serve({
    port: 0,
    fetch: (request) =>
      new URL(request.url).pathname.endsWith("/advisories/bulk") ? answer() : new Response(null, { status: 404 }),
  });
  const gate = Bun.spawn([process.execPath, "tools/supply/vulnerability-gate.ts"], {
    env: {
      ...process.env,
      npm_config_registry: registry.url.href,
      npm_config_audit: "true",
      npm_config_fetch_retries: "0",
    },
    stdout: "pipe",
    stderr: "ignore",
  });
  const [output, exitCode] = await Promise.all([new Response(gate.stdout).text(), gate.exited]);
  return { exitCode, output };
}

const advisoryOf = (name: string) => ({
  [name]: [
    {
      id: 1,
      url: "https://example.org/advisory",
      title: "a hole",
      severity: "low",
      vulnerable_versions: "*",
      cwe: [],
      cvss: { score: 0, vectorString: null },
    },
  ],
});

describe("the vulnerability gate", () => {
  test("opens if the registry knows of none, and says how many packages it asked about", async () => {
    const { exitCode, output } = await runGate(() => Response.json({}));
    expect({ exitCode, output }).toEqual({
      exitCode: 0,
      output: `${productionPackages().length} packages, 0 with known vulnerabilities\n`,
    });
  }, 60_000);

  test("stays closed for one of any severity in a production package, and not for one in a development tool", async () => {
    for (const name of ["hono", "zod"]) {
      const { exitCode, output } = await runGate(() => Response.json(advisoryOf(name)));
      expect(exitCode).toBe(1);
      expect(output).toContain(`${name}: low: a hole (https://example.org/advisory)`);
    }
    expect((await runGate(() => Response.json(advisoryOf("knip")))).exitCode).toBe(0);
  }, 60_000);

  test("stays closed, and says that nothing was checked, if the registry does not answer", async () => {
    for (const answer of [() => new Response(null, { status: 405 }), () => new Response("nonsense")]) {
      const { exitCode, output } = await runGate(answer);
      expect(exitCode).toBe(2);
      expect(output).toStartWith("NOT CHECKED for vulnerabilities: ");
    }
  }, 60_000);
});
