import { z } from "zod";

/** A time in a line of an import, as milliseconds since the Unix epoch. */
export const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

/** The time of something that has happened. */
export function pastTime(description: string) {
  return time
    .refine((at) => at >= 0, "must not be before 1970")
    .meta({ type: "string", format: "date-time", description });
}

/** When something ends, if it does. */
export function endTime(description: string) {
  return time.optional().meta({ type: "string", format: "date-time", description });
}
