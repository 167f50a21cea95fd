import type { Raid } from "../camp.ts";
import { batchRaids } from "./batches.ts";
import { changeRaids } from "./changes.ts";
import { doorRaids } from "./doors.ts";
import { fileRaids } from "./files.ts";
import { floodRaids } from "./floods.ts";
import { keyRaids } from "./keys.ts";
import { transferRaids } from "./transfers.ts";
import { userRaids } from "./users.ts";

/** Every raid, in the order in which they are played. */
export const raids: readonly Raid[] = [
  ...doorRaids,
  ...floodRaids,
  ...userRaids,
  ...keyRaids,
  ...transferRaids,
  ...batchRaids,
  ...changeRaids,
  ...fileRaids,
];

/** The raid of that name. Throws if there is none. */
export function raidOf(name: string): Raid {
  const raid = raids.find((one) => one.name === name);
  if (raid === undefined)
    throw new Error(`there is no raid ${name}; there are ${raids.map((one) => one.name).join(", ")}`);
  return raid;
}
