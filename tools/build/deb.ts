// Makes the Debian package of Herald from its binary: `npm run build:deb` for this machine, `npm run build:deb -- --all`
// for amd64 and arm64, `npm run build:deb -- arm64` for that one.
import { arch } from "node:os";
import { packDeb } from "./debian-package.ts";
import { findTarget } from "./targets.ts";

const targetOf: Record<string, string> = { amd64: "linux-x64", arm64: "linux-arm64" };
const names = process.argv.slice(2);
const here = arch() === "x64" ? "amd64" : arch();
process.umask(0o022);
const wanted = names.includes("--all") ? Object.keys(targetOf) : names.length === 0 ? [here] : names;

for (const architecture of wanted) {
  const target = findTarget(targetOf[architecture] ?? architecture);
  const { file, bytes } = await packDeb({ architecture, target });
  console.log(`${file}  ${(bytes / 1e6).toFixed(1)} MB`);
}
