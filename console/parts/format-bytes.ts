const units = ["kB", "MB", "GB", "TB"];

/** A number of bytes for people, in decimal units: `940 B`, `1.5 kB`, `24 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = "B";
  for (const larger of units) {
    if (value < 999.5) break;
    value /= 1000;
    unit = larger;
  }
  const digits = unit === "B" || value >= 9.95 ? 0 : 1;
  return `${value.toLocaleString("en-GB", { maximumFractionDigits: digits })} ${unit}`;
}
