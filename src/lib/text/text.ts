/** The length of `text` in Unicode code points, as counted by JSON Schema's `maxLength` (RFC 8259, section 7). */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1))) {
      count--;
      index++;
    }
  }
  return count;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Whether `text` has at most `maximum` code points. Short texts, which most are, need no iteration. */
export function isAtMost(text: string, maximum: number): boolean {
  if (text.length <= maximum) return true;
  return text.length <= 2 * maximum && countCharacters(text) <= maximum;
}

/** Whether `text` can be stored and sent unchanged: no lone surrogate, no U+0000. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

/**
 * Compares texts by their UTF-8 bytes, which is code point order; `<` compares UTF-16 units, which sorts emoji before
 * U+E000.
 */
export function compareBytes(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const one = left.charCodeAt(index);
    const other = right.charCodeAt(index);
    if (one !== other) return rankOf(one) - rankOf(other);
  }
  return left.length - right.length;
}

/** Ranks surrogates above all other units, like the code points they encode. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
