import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "../../harness/deadline.ts";
import { plannedOnce, startPostgres } from "../../harness/engines/postgres.ts";
import { createSteppedClock } from "../../harness/engines/stepped-clock.ts";
import { readMetrics, sampleOf } from "../../harness/reading/metrics.ts";
import { errorsLogged, startHerald } from "../../harness/servers/herald.ts";

setDefaultTimeout(120_000);

const postgres = await startPostgres({ settings: plannedOnce });
const clock = createSteppedClock();
if (postgres !== undefined && clock !== undefined) {
  afterAll(() => {
    postgres.stop();
    clock[Symbol.dispose]();
  });

  test("a node whose clock is an hour ahead warns once, shows it as a metric, and says when it is right again", async () => {
    clock.set(3_600);
    await using node = await startHerald({
      env: { HERALD_DATABASE_URL: await postgres.createDatabase(), ...clock.env },
    });
    const told = () => node.logLines().filter(({ offset_ms: offset }) => offset !== undefined);
    const warning = await eventually(() => told()[0], "the warning about the clock");
    expect(warning).toMatchObject({ level: 40, msg: expect.stringContaining("3600 s ahead of") });
    const offset = async () => {
      const { samples } = readMetrics((await node.http<string>("GET", "/metrics")).text);
      return sampleOf(samples, "herald_clock_offset_seconds", {}) ?? Number.NaN;
    };
    expect(Math.round((await offset()) / 60)).toBe(60);
    clock.set(0);
    await eventually(() => told()[1], "the line that the clock is right");
    expect(Math.abs(await offset())).toBeLessThan(2);
    await node.stop();
    expect(told().map(({ level }) => level)).toEqual([40, 30]);
    expect(errorsLogged(node)).toEqual([]);
  });
}
