import { nestedArrays } from "../harness/clients/payload.ts";
import type { Random } from "../harness/random.ts";
import { damage, once, pick } from "./pick.ts";

const deepest = 100_000;

/** Texts that have broken somebody's parser, database, path or subject. */
export const hostileTexts = [
  "",
  " ",
  ".",
  "..",
  "../../etc/passwd",
  "%2e%2e%2f",
  "*",
  ">",
  "a.b",
  "c:o2",
  "o1\u001fo2",
  "\u0000",
  "a\u0000b",
  "\u007f\u0085",
  "\ud800",
  "a\udfff\ud800b",
  "\ufeff",
  "\u2028\u2029",
  "__proto__",
  "constructor",
  "toString",
  "' OR 1=1; --",
  "$1",
  "%{jndi:ldap://x}",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "\r\nX-Injected: 1",
  "👩‍👩‍👧‍👦".repeat(12),
  "x".repeat(129),
  "x".repeat(40_000),
  "\u0301".repeat(500),
  "null",
  "true",
  "-1",
] as const;

/** JSON texts of values, some of which no serializer would write. */
const values: readonly [() => string, ...(() => string)[]] = [
  () => "null",
  () => "true",
  () => "[]",
  () => "{}",
  () => "-0",
  () => "1e400",
  () => "-1e-400",
  () => "9007199254740993",
  () => "123456789012345678901234567890",
  () => "0.1000000000000000055511151231257827",
  () => `1${"0".repeat(5_000)}`,
  () => "01",
  () => "+1",
  () => "NaN",
  () => "Infinity",
  () => "0x10",
  () => "'single'",
  () => "undefined",
  () => "/* comment */ 1",
  () => "[1,]",
  () => '{"a":1,"a":2}',
  () => '{"a":1,"\\u0061":2}',
  () => '{"__proto__":{"polluted":true}}',
  () => '{"a":{"__proto__":{"__proto__":{"polluted":true}}}}',
  () => '{"constructor":{"prototype":{"polluted":true}}}',
  () => '{"":{"":{"":1}}}',
  () => '"\\ud800"',
  () => '"\\udc00\\ud800"',
  () => '"\\u0000"',
  () => '"\\x41"',
  () => '"a\nb"',
  () => '"\t"',
  () => nestedArrays(31),
  () => nestedArrays(32),
  () => nestedArrays(33),
  () => nestedArrays(deepest),
  () => `${'{"a":'.repeat(deepest)}1${"}".repeat(deepest)}`,
  () => "[".repeat(deepest),
  () => `[${"1,".repeat(20_000)}1]`,
  () => `{${Array.from({ length: 2_000 }, (_, index) => `"k${index}":${index}`).join(",")}}`,
];

/** The JSON text of a hostile value. */
function hostileValue(random: Random): string {
  return once(random, 2) ? JSON.stringify(pick(random, hostileTexts)) : pick(random, values)();
}

/** The JSON text of `value` with something hostile in its place or inside it, at any depth. */
export function spoil(random: Random, value: unknown): string {
  if (typeof value !== "object" || value === null || once(random, 8)) return hostileValue(random);
  if (Array.isArray(value)) {
    const at = random.integer(0, Math.max(0, value.length - 1));
    const items = value.map((item, index) => (index === at ? spoil(random, item) : JSON.stringify(item)));
    return `[${[...items, ...(once(random, 3) ? [hostileValue(random)] : [])].join(",")}]`;
  }
  const entries = Object.entries(value);
  const at = random.integer(0, Math.max(0, entries.length - 1));
  const members = entries.map(
    ([name, member], index) =>
      `${JSON.stringify(name)}:${index === at ? spoil(random, member) : JSON.stringify(member)}`,
  );
  const extra = () =>
    pick(random, [entries[at]?.[0] ?? "a", "__proto__", "constructor", "toString", pick(random, hostileTexts)]);
  if (once(random, 3)) members.push(`${JSON.stringify(extra())}:${hostileValue(random)}`);
  if (once(random, 10)) members.splice(at, 1);
  return `{${members.join(",")}}`;
}

/** The bytes of a JSON text: unchanged, damaged, truncated, with a byte order mark, or in another encoding. */
export function encode(random: Random, text: string): Buffer {
  const bytes = Buffer.from(text);
  switch (random.integer(0, 15)) {
    case 0:
      return damage(random, bytes);
    case 1:
      return bytes.subarray(0, random.integer(0, bytes.length));
    case 2:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    case 3:
      return Buffer.from(text, "utf16le");
    case 4:
      return Buffer.from(text, "latin1");
    case 5:
      // Overlong, a surrogate in UTF-8, beyond the last code point, a lone continuation byte.
      return Buffer.concat([
        bytes,
        pick(
          random,
          [[0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0x80]].map((one) => Buffer.from(one)) as [
            Buffer,
          ],
        ),
      ]);
    default:
      return bytes;
  }
}
