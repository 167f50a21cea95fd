import { expect, test } from "bun:test";
import { createAdmin, type HeraldApiError } from "../../sdk/admin.ts";
import { inSimulatedTime } from "../simulation/models/time.ts";

type Outcome = { at: number; calls: number; error?: HeraldApiError | undefined };

/** What becomes of a call with the default options while the server is away for so long, in simulated time. */
function callDuring(awayMs: number, refuse: (now: number) => Response | Error): Outcome | undefined {
  return inSimulatedTime((time) => {
    let calls = 0;
    let outcome: Outcome | undefined;
    const fetch = async () => {
      calls += 1;
      if (time.now() >= awayMs) return Response.json({ id: "o", name: null, created_at: "" });
      const refusal = refuse(time.now());
      if (refusal instanceof Error) throw refusal;
      return refusal;
    };
    createAdmin({ url: "http://herald.test", key: "k", fetch })
      .putOrganization("o")
      .then(
        () => {
          outcome = { at: time.now(), calls };
        },
        (error: HeraldApiError) => {
          outcome = { at: time.now(), calls, error };
        },
      );
    time.passUntil(120_000, () => outcome !== undefined);
    return outcome;
  });
}

const refused = () => Object.assign(new Error("refused"), { code: "ECONNREFUSED" });

test("with the default options, every call survives a restart of twelve seconds", () => {
  for (let run = 0; run < 50; run += 1) {
    const outcome = callDuring(12_000, refused);
    expect(outcome?.error).toBeUndefined();
    expect(outcome?.at).toBeLessThan(12_000 + 8_000);
  }
});

test("a server that stays away is given up after 20 to 40 s, and ten attempts", () => {
  for (let run = 0; run < 50; run += 1) {
    const outcome = callDuring(Number.POSITIVE_INFINITY, refused);
    expect(outcome).toMatchObject({ calls: 10, error: { status: 0, code: "unreachable" } });
    expect(outcome?.at).toBeGreaterThanOrEqual(19_800);
    expect(outcome?.at).toBeLessThanOrEqual(40_000);
  }
});

test("a call is not tried again if the certificate is not trusted", () => {
  const selfSigned = () => Object.assign(new Error("no"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  expect(callDuring(1, selfSigned)).toMatchObject({ at: 0, calls: 1, error: { code: "unreachable" } });
});
