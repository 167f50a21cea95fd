import { HeraldError } from "../../contract/errors/errors.ts";

const bodyBeginsWithinMs = 4_000; // most clients wait for up to three seconds, and then send the body anyway

/**
 * Whether the caller may wait in vain before it sends the body: Bun 1.4.5 answers `Expect: 100-continue` with `100 Continue`
 * only in this spelling, although case does not matter (RFC 9110, section 10.1.1), and offers no other way to.
 */
export function mayWaitInVain(headers: Headers): boolean {
  const expectation = headers.get("expect");
  return expectation !== null && expectation !== "100-continue" && expectation.toLowerCase() === "100-continue";
}

/** Settles with the first read of a body; rejects with `bad_request` if nothing arrives for some seconds. */
export async function beginInTime<Read>(read: Promise<Read>): Promise<Read> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(waitedInVain()), bodyBeginsWithinMs);
  try {
    return await Promise.race([read, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function waitedInVain(): HeraldError {
  const detail =
    "the body did not arrive: this server answers `Expect: 100-continue` only in lower case; write it that way, or send the body at once";
  return new HeraldError("bad_request", detail, { headers: { Connection: "close" } });
}
