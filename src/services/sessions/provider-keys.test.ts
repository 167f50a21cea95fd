import { describe, expect, test } from "bun:test";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { createProviderKeys } from "./provider-keys.ts";

const minute = 60_000;

async function createJwk(kid: string): Promise<JWK> {
  const { publicKey } = await generateKeyPair("ES256");
  return { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" };
}

/** An identity provider that counts requests, and a clock set by hand. */
async function createScene() {
  const provider = { keys: [await createJwk("k1")], isAway: false, asked: 0 };
  const clock = { time: 1_795_000_000_000, now: () => clock.time };
  const heard: string[] = [];
  const keys = createProviderKeys({
    clock,
    onError: (error) => void heard.push(error instanceof Error ? error.message : String(error)),
    onRecovery: () => void heard.push("recovered"),
    async fetchKeySet() {
      provider.asked++;
      if (provider.isAway) throw new Error("away");
      return JSON.stringify({ keys: provider.keys });
    },
  });
  /** The outcome for a token that names a key. */
  const ask = async (kid: string) => {
    try {
      await keys({ alg: "ES256", kid }, { payload: "", signature: "" });
      return "found";
    } catch (error) {
      return error instanceof Error && "code" in error ? error.code : error;
    }
  };
  return { provider, clock, heard, ask };
}

describe("the keys of an identity provider", () => {
  test("are fetched once for many tokens, and again when 10 minutes old", async () => {
    const { provider, clock, ask } = await createScene();
    expect(await Promise.all(Array.from({ length: 20 }, () => ask("k1")))).toEqual(Array(20).fill("found"));
    clock.time += 10 * minute - 1;
    expect(await ask("k1")).toBe("found");
    expect(provider.asked).toBe(1);
    clock.time += 1;
    expect(await ask("k1")).toBe("found");
    expect(provider.asked).toBe(2);
  });

  test("are found when new by the first token that names one, and no longer valid once removed", async () => {
    const { provider, clock, ask } = await createScene();
    await ask("k1");
    provider.keys = [await createJwk("k2")];
    clock.time += minute;
    expect(await ask("k2")).toBe("found");
    expect(await ask("k1")).toBe("ERR_JWKS_NO_MATCHING_KEY");
  });

  test("are fetched once in 30 seconds, however many tokens name unknown ones", async () => {
    const { provider, clock, ask } = await createScene();
    await ask("k1");
    for (let second = 0; second < 60; second++) {
      clock.time += 1000;
      await Promise.all(Array.from({ length: 50 }, (_, index) => ask(`unknown ${second} ${index}`)));
    }
    expect(provider.asked).toBe(3); // at the start, after 30 s and after 60 s
    expect(await ask("k1")).toBe("found");
  });

  test("stay valid for 6 hours while the provider is away, which is asked every 30 seconds at most", async () => {
    const { provider, clock, heard, ask } = await createScene();
    await ask("k1");
    provider.isAway = true;
    const outcomes = new Set<unknown>();
    for (let minutes = 1; minutes < 6 * 60; minutes++) {
      clock.time += minute;
      outcomes.add(await ask("k1"));
      outcomes.add(await ask("k1"));
    }
    expect([...outcomes]).toEqual(["found"]);
    expect(provider.asked).toBe(1 + 350); // once a minute from the tenth on
    clock.time += minute;
    expect(await ask("k1")).toBe("unavailable");
    provider.isAway = false;
    expect(await ask("k1")).toBe("unavailable"); // it was asked a moment ago
    clock.time += minute / 2;
    expect(await ask("k1")).toBe("found");
    expect(heard).toEqual(["away", "recovered"]);
  });

  test("are unavailable, not wrong, before the first fetch", async () => {
    const { provider, clock, ask } = await createScene();
    provider.isAway = true;
    expect(await ask("k1")).toBe("unavailable");
    provider.isAway = false;
    clock.time += minute;
    expect(await ask("k1")).toBe("found");
  });

  test("stay unchanged if the answer is not a key set", async () => {
    const { provider, clock, heard, ask } = await createScene();
    await ask("k1");
    provider.keys = "nonsense" as unknown as JWK[]; // a provider may answer anything, whatever its type
    clock.time += 10 * minute;
    expect(await ask("k1")).toBe("found");
    expect(heard).toEqual(["JSON Web Key Set malformed"]);
  });
});
