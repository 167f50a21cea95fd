import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type MetricDescription, metricCatalogue } from "../../src/contract/metrics.ts";
import { findPromtool } from "../harness/engines/promtool.ts";

const root = resolve(import.meta.dir, "../..");
const alertsFile = join(root, "deploy/prometheus/alerts.yml");

type Alert = { alert: string; expr: string; labels: object; annotations: { summary?: string; description?: string } };
type Panel = { title: string; type: string; description?: string; targets?: { expr: string }[]; panels?: Panel[] };

const { groups } = Bun.YAML.parse(await Bun.file(alertsFile).text()) as { groups: { rules: Alert[] }[] };
const alerts = groups.flatMap(({ rules }) => rules);
const dashboard: { panels: Panel[] } = await Bun.file(join(root, "deploy/grafana/herald.json")).json();
const panels = dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

/** What Prometheus itself adds to every series, and the parts of a histogram. */
const ofPrometheus = new Set(["job", "instance", "worker", "le"]);
const suffixes = { counter: [""], gauge: [""], histogram: ["_bucket", "_sum", "_count"] };
const series = new Map(
  Object.entries<MetricDescription>(metricCatalogue).flatMap(([name, { type, labels }]) =>
    suffixes[type].map((suffix) => [name + suffix, new Set([...ofPrometheus, ...labels])] as const),
  ),
);

/** Names and labels of metrics in an expression that `GET /metrics` does not have. */
function unknownIn(expr: string): string[] {
  const names = [...expr.matchAll(/\b(?:herald|process)_\w+/g)].map(([name]) => name);
  const unknown = names.filter((name) => !series.has(name));
  for (const [, name = "", matchers = ""] of expr.matchAll(/\b((?:herald|process)_\w+)\{([^}]*)\}/g)) {
    const labels = [...matchers.matchAll(/(\w+)\s*[=!]~?\s*"/g)].map(([, label = ""]) => label);
    unknown.push(...labels.filter((label) => !series.get(name)?.has(label)).map((label) => `${name}{${label}}`));
  }
  return unknown;
}

const promtool = findPromtool();

describe("deploy/prometheus/alerts.yml", () => {
  test("uses existing metrics and labels", () => {
    expect(alerts.map(({ alert, expr }) => [alert, unknownIn(expr)])).toEqual(alerts.map(({ alert }) => [alert, []]));
    expect(unknownIn('rate(herald_nothing_total[5m]) + herald_sends_total{colour="red"}')).toEqual([
      "herald_nothing_total",
      "herald_sends_total{colour}",
    ]);
  });

  test("says of each alert what is wrong and what to do, like docs/how-to/monitor.md", async () => {
    const page = await Bun.file(join(root, "docs/how-to/monitor.md")).text();
    for (const { alert, labels, annotations } of alerts) {
      expect(labels).toEqual({ severity: expect.stringMatching(/^(critical|warning)$/) });
      expect(Object.keys(annotations)).toEqual(["summary", "description"]);
      expect(annotations.description?.length).toBeGreaterThan(60);
      expect(page).toContain(`\`${alert}\``);
    }
  });

  test.skipIf(promtool === undefined)(
    "passes promtool, whose tests see each alert fire when it should, and none when all is well",
    () => {
      for (const args of [
        ["check", "rules", alertsFile],
        ["test", "rules", join(import.meta.dir, "alerts.test.yml")],
      ])
        expect(promtool?.(args)).toMatchObject({ isContent: true });
      expect(alerts).toHaveLength(26); // as many as the tests of promtool expect to fire
    },
  );
});

describe("deploy/grafana/herald.json", () => {
  test("uses existing metrics and labels, and shows every metric of Herald", () => {
    expect(queries.filter(({ expr }) => unknownIn(expr).length > 0)).toEqual([]);
    const shown = queries.map(({ expr }) => expr).join("\n");
    const missing = Object.keys(metricCatalogue).filter((name) => name.startsWith("herald_") && !shown.includes(name));
    expect(missing).toEqual([]);
  });

  test("explains each panel, under a unique name", () => {
    const charts = panels.filter(({ type }) => type !== "row");
    expect(charts.filter(({ description = "" }) => description.length < 20)).toEqual([]);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });

  test.skipIf(promtool === undefined)("has queries that Prometheus understands", async () => {
    const folder = mkdtempSync(join(tmpdir(), "herald-dashboard-"));
    const rules = queries.map(({ expr }, index) => ({
      record: `query:${index}`,
      expr: expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*"),
    }));
    const file = join(folder, "rules.yml");
    await Bun.write(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
    const checked = promtool?.(["check", "rules", file]);
    rmSync(folder, { recursive: true });
    expect(checked).toMatchObject({ isContent: true });
  });
});
