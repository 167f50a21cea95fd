import { z } from "zod";

/** A limit: a whole number, where 0 lifts it. A lifted limit becomes `Infinity`, so that code can compare without a special case. */
export const limit = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, "must be a whole number (0 for no limit)")
    .default(String(fallback))
    .transform((text) => (text === "0" ? Number.POSITIVE_INFINITY : Number(text)));

/** A duration in whole seconds. It cannot be lifted like a limit: without a heartbeat, dead connections would leak. */
export const seconds = (fallback: number, minimum = 1, maximum = 86_400) =>
  z
    .string()
    .refine(
      (value) => /^\d{1,6}$/.test(value) && Number(value) >= minimum && Number(value) <= maximum,
      `must be a whole number of seconds from ${minimum} to ${maximum}`,
    )
    .default(String(fallback))
    .transform(Number);

/** A text that is never empty. */
export const text = (fallback: string) => z.string().min(1, "must not be empty").default(fallback);
/** A text that may be missing, but not empty. */
export const optionalText = z.string().min(1, "must not be empty").optional();
/** A URL of one of these protocols (with their colons), or `undefined`. */
export const url = (protocols: string[]) =>
  optionalText.refine(
    (value) => value === undefined || (URL.canParse(value) && protocols.includes(new URL(value).protocol)),
    {
      message: `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
    },
  );

/** A comma-separated list, converted to an array, which is empty if the setting is missing. */
export const list = (isItem: (item: string) => boolean, message: string) =>
  z
    .string()
    .default("")
    .transform((value) => (value === "" ? [] : value.split(",").map((item) => item.trim())))
    .refine((items) => items.every(isItem), message);

/**
 * Whether a text is an origin as browsers write it. Schemes other than http and https belong to apps, such as
 * `capacitor://localhost`; some engines give their pages no host, such as `file://`. Not `null`, which any page can have that
 * is sandboxed, and which therefore names none.
 */
export const isOrigin = (item: string) =>
  /^https?:/.test(item)
    ? !item.includes("*") && URL.parse(item)?.origin === item
    : /^[a-z][a-z0-9+.-]*:\/\/([a-z0-9.-]+(:\d{1,5})?)?$/.test(item);

/**
 * A path that the server's own addresses follow, without a `/` at its end; empty for none. `taken` are the first segments of those
 * addresses: below one of them, it would not be clear which is meant.
 */
export const basePath = (taken: readonly string[]) =>
  z
    .string()
    .refine(
      (value) =>
        /^(\/[A-Za-z0-9._~-]+)*\/?$/.test(value) &&
        value
          .split("/")
          .every((segment, index) => !/^\.\.?$/.test(segment) && !(index === 1 && taken.includes(segment))),
      "must be a path such as /herald, of letters, digits, '-', '.', '_' and '~', that does not begin like one of Herald's own, such as /admin",
    )
    .default("")
    .transform((value) => value.replace(/\/$/, ""));

/** A port from 0 to 65535, still as text, so that a default can follow. */
export const port = z
  .string()
  .refine(
    (value) => /^\d{1,5}$/.test(value) && Number(value) <= 65_535,
    "must be a port from 0 to 65535 (0 picks a free one)",
  );

/** 0 or 1, converted to a boolean; 0 if the setting is missing. */
export const flag = z
  .enum(["0", "1"], "must be 0 or 1")
  .default("0")
  .transform((value) => value === "1");
/** A secret of HS256, or `undefined`. */
export const tokenSecret = z
  .string()
  .refine((value) => Buffer.byteLength(value) >= 32, "must be at least 32 bytes (RFC 7518, section 3.2)")
  .optional();
