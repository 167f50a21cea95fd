import { createId } from "../../lib/text/ids.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretCharacters = 32; // 190 bits
const checksumCharacters = 6;
const form = /^hk_([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})_[0-9A-Za-z]{38}$/;
const idStart = "hk_".length;
const idEnd = idStart + 36;

/** A new API key, `hk_<id>_<secret><crc32>` (api.md, section 5), for a new id or, on rotation, for the existing one. */
export function createApiKey(id: string = createId()): { id: string; key: string } {
  const head = `hk_${id}_${randomText(secretCharacters)}`;
  return { id, key: `${head}${checksum(head)}` };
}

/** The id of an API key, or `undefined` if `text` is not one: its form or its checksum is wrong. */
export function idOfApiKey(text: string): string | undefined {
  const id = form.exec(text)?.[1];
  const head = text.slice(0, -checksumCharacters);
  return id !== undefined && text.endsWith(checksum(head)) ? id : undefined;
}

/** The id in a text that has the form of an API key; meaningless for any other text. Checks nothing, so it is very cheap. */
export function sliceOfId(text: string): string {
  return text.slice(idStart, idEnd);
}

/** A secret of `length` characters from 62, each equally likely. */
function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]; // 248 = 4 × 62: no character is favoured
    }
  }
  return text;
}

/** CRC-32 of `text` in base 62, the most significant digit first, padded with `0`. */
function checksum(text: string): string {
  let rest = Bun.hash.crc32(text);
  let digits = "";
  for (let count = 0; count < checksumCharacters; count++) {
    digits = `${alphabet[rest % 62]}${digits}`;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
