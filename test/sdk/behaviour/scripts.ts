import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Fixture, fixturesSchema, type Step } from "./fixture.ts";

/** The folder of the fixtures. */
export const folder = resolve(import.meta.dir, "../../../docs/reference/sdk-behaviour");

/** A fixture ready to be replayed: with its values filled in, and without steps that stand for several. */
export type Script = Omit<Fixture, "each"> & { title: string };

/** Reads every fixture; rejects a file that does not fit the schema. */
export function readFixtures(): Fixture[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json") && !name.endsWith(".schema.json"));
  return names.sort().flatMap((name) => {
    const parsed = fixturesSchema.safeParse(JSON.parse(readFileSync(join(folder, name), "utf8")));
    if (!parsed.success)
      throw new Error(`${name}: ${parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`)}`);
    return parsed.data.fixtures;
  });
}

/** The scripts of a fixture: one, or one for each value. */
export function scriptsOf({ each = {}, ...fixture }: Fixture): Script[] {
  const [[name, values] = ["", [undefined]], ...more] = Object.entries(each);
  if (more.length > 0) throw new Error(`${fixture.name}: only one member of \`each\` is possible`);
  return values.map((value) => {
    const title = `${fixture.rule} ${fixture.name}${name === "" ? "" : ` (${name} ${JSON.stringify(value)})`}`;
    const { steps, ...rest } = name === "" ? fixture : fill(fixture, `<${name}>`, value);
    return { ...rest, title, steps: steps.flatMap(expand) };
  });
}

/** Replaces strings that are exactly `placeholder`, and the placeholder within longer ones. */
function fill<Value>(template: Value, placeholder: string, value: unknown): Value {
  return JSON.parse(JSON.stringify(template), (_, member: unknown) => {
    if (member === placeholder) return value;
    return typeof member === "string" ? member.replaceAll(placeholder, String(value)) : member;
  });
}

function expand(step: Step): Step[] {
  if ("connects" in step) {
    const { within, spread, parameters, without, recovered, address } = step.connects;
    const body = { success: true, ...(recovered !== undefined && { recovered }) };
    return [
      { client: "opens", within, spread, address },
      { server: "accepts" },
      { client: "sends", request: "connect", parameters, without },
      { server: "answers", body },
      { hears: "state", state: "connected" },
    ];
  }
  if (!("count" in step) || step.count === undefined) return [step];
  const { count, ...one } = step;
  return Array.from({ length: count }, (_, index) => fill(one, "<n>", index + 1));
}
