const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const idCharacters = 12;
const secretCharacters = 32; // 190 bits
const checksumCharacters = 6;

/** A new API key, `hk_<id>_<secret><crc32>` (api.md, section 5). The checksum lets a typo be seen offline. */
export function createApiKey(): string {
  const head = `hk_${randomText(idCharacters)}_${randomText(secretCharacters)}`;
  return `${head}${checksum(head)}`;
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

function checksum(text: string): string {
  let rest = Bun.hash.crc32(text);
  let digits = "";
  for (let count = 0; count < checksumCharacters; count++) {
    digits = `${alphabet[rest % 62]}${digits}`;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
