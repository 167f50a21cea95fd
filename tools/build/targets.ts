/** A machine that Herald is built for, and the package of Bun's runtime for it. */
export type Target = { readonly name: string; readonly runtime: string; readonly compile: Bun.Build.CompileTarget };

/** The machines that `npm run build:binary -- --all` builds for. */
export const targets: readonly Target[] = [
  { name: "linux-x64", runtime: "@oven/bun-linux-x64", compile: "bun-linux-x64" },
  { name: "linux-arm64", runtime: "@oven/bun-linux-aarch64", compile: "bun-linux-arm64" },
  { name: "macos-x64", runtime: "@oven/bun-darwin-x64", compile: "bun-darwin-x64" },
  { name: "macos-arm64", runtime: "@oven/bun-darwin-aarch64", compile: "bun-darwin-arm64" },
  { name: "windows-x64", runtime: "@oven/bun-windows-x64", compile: "bun-windows-x64" },
];

/** The target of this name. Throws if there is none. */
export function findTarget(name: string): Target {
  const found = targets.find((target) => target.name === name);
  if (found !== undefined) return found;
  throw new Error(`unknown target ${name}. There are: ${targets.map((target) => target.name).join(", ")}`);
}

/** The file that is built for a target. */
export const binaryOf = ({ name }: Target): string => `dist/herald-${name}${name.startsWith("windows") ? ".exe" : ""}`;
