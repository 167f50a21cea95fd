import { expect, test } from "bun:test";
import type { BusSecrets } from "../ports.ts";

/** Tests the port `BusSecrets`, for every implementation. */
export function describeBusSecrets(
  engine: string,
  open: () => Promise<{ busSecrets: BusSecrets; close(): Promise<void> }>,
): void {
  test(`the bus secrets ${engine} start with a single one, even if many nodes begin at once`, async () => {
    const { busSecrets, close } = await open();
    expect(await busSecrets.list()).toEqual([]);
    const made = ["a", "b", "c", "d"].map((letter) => letter.repeat(43));
    await Promise.all(made.map((secret) => busSecrets.begin(secret, 1_700_000_000_000)));
    const [secret, ...others] = await busSecrets.list();
    expect(made).toContain(secret ?? "");
    expect(others).toEqual([]);
    await busSecrets.begin("e".repeat(43), 0);
    expect(await busSecrets.list()).toEqual([secret ?? ""]);
    await close();
  });
}
