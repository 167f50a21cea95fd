import { invalidRequest } from "../../contract/errors/errors.ts";

const clocksMayDifferMs = 5 * 60_000;

/** Throws if a member of a line is in the future. Times are in milliseconds since the Unix epoch. */
export function requirePast(pointer: string, time: number, now: number): void {
  if (time > now + clocksMayDifferMs) throw invalidRequest(pointer, "must not be in the future");
}
