import type { Attack } from "../attack.ts";
import { anonymousAttacks } from "./anonymous.ts";
import { batchAttacks } from "./batches.ts";
import { changeAttacks } from "./changes.ts";
import { fileAttacks } from "./files.ts";
import { floodAttacks } from "./floods.ts";
import { keyAttacks } from "./keys.ts";
import { transferAttacks } from "./transfers.ts";
import { userAttacks } from "./users.ts";

/** Every attack, in the order in which they run. */
export const attacks: readonly Attack[] = [
  ...anonymousAttacks,
  ...floodAttacks,
  ...userAttacks,
  ...keyAttacks,
  ...transferAttacks,
  ...batchAttacks,
  ...changeAttacks,
  ...fileAttacks,
];

/** The attack of that name. Throws if there is none. */
export function attackOf(name: string): Attack {
  const attack = attacks.find((one) => one.name === name);
  if (attack === undefined)
    throw new Error(`there is no attack ${name}; there are ${attacks.map((one) => one.name).join(", ")}`);
  return attack;
}
