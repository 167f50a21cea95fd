import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { createApiKey, idOfApiKey, sliceOfId } from "./api-key.ts";

const characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** What SECURITY.md gives to secret scanners. */
const scannerPattern = /\bhk_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}_[0-9A-Za-z]{38}\b/;

describe("an API key", () => {
  test("is an id, 190 bits of secret and a checksum, and no two are alike", () => {
    const keys = Array.from({ length: 200 }, () => createApiKey());
    for (const { id, key } of keys) {
      expect(key).toMatch(scannerPattern);
      expect(key).toStartWith(`hk_${id}_`);
      expect([idOfApiKey(key), sliceOfId(key)]).toEqual([id, id]);
    }
    expect(new Set(keys.map(({ key }) => key.slice(-38))).size).toBe(200);
  });

  test("made for an id that is there has another secret", () => {
    const { id, key } = createApiKey();
    const again = createApiKey(id);
    expect(again.id).toBe(id);
    expect(again.key).not.toBe(key);
  });

  test("ends with the CRC-32 of all before it, in base 62", () => {
    const { key } = createApiKey();
    const value = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + characters.indexOf(digit), 0);
    expect(value).toBe(crc32(key.slice(0, -6)));
  });

  test("with one character changed is refused without a look at any store", () => {
    const { key } = createApiKey();
    const place = fc.nat(key.length - 1);
    fc.assert(
      fc.property(place, fc.constantFrom(...characters, "-", "_", " ", "é"), (index, character) => {
        const typo = key.slice(0, index) + character + key.slice(index + 1);
        expect(idOfApiKey(typo)).toBe(typo === key ? sliceOfId(key) : undefined);
      }),
      { numRuns: 2_000 },
    );
  });

  test("with two neighbours swapped, cut off or drawn out is refused", () => {
    const { key, id } = createApiKey();
    for (let index = 0; index + 1 < key.length; index++) {
      const swapped = key.slice(0, index) + key[index + 1] + key[index] + key.slice(index + 2);
      expect(idOfApiKey(swapped)).toBe(swapped === key ? id : undefined);
      expect(idOfApiKey(key.slice(0, index))).toBeUndefined();
      expect(idOfApiKey(key.slice(index + 1))).toBeUndefined();
    }
    for (const text of [`${key} `, `${key}\n`, ` ${key}`, `${key}0`, key.toUpperCase()])
      expect(idOfApiKey(text)).toBeUndefined();
  });

  test("is not any other text", () => {
    fc.assert(fc.property(fc.string(), (text) => expect(idOfApiKey(text)).toBeUndefined()));
  });
});
