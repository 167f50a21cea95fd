import { expect, test } from "bun:test";
import type { BusSecrets } from "../ports.ts";

/** What every store of the bus's secrets must do. */
export function describeBusSecrets(
  engine: string,
  open: () => Promise<{ busSecrets: BusSecrets; close(): Promise<void> }>,
): void {
  test(`the secrets of the bus ${engine} begin with one, whoever begins, and however many at once`, async () => {
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
