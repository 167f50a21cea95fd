import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { productionPackages } from "../supply/package-lock.ts";

const licenceFile = /^(licen[cs]e|notice|copying)/i;
const line = "-".repeat(80);

/** The licences of the programs inside the binary, which must go with it. */
export function renderNotices(): string {
  const notices = productionPackages()
    .filter(({ path }) => existsSync(path))
    .flatMap(({ path, name, version }) => {
      const texts = readdirSync(path)
        .filter((file) => licenceFile.test(file))
        .map((file) => readFileSync(join(path, file), "utf8").trim());
      return texts.length === 0 ? [] : [`${line}\n${name} ${version}\n\n${texts.join("\n\n")}\n`];
    });
  return [
    `Herald contains the programs below, each under its own licence.\n`,
    `${line}\nBun ${packageJson.dependencies.bun}\n\nMIT. Bun contains further programs, among them JavaScriptCore under the LGPL 2:\nhttps://bun.com/docs/project/licensing\n`,
    ...notices,
  ].join("\n");
}
