import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { guideKinds } from "../../contract/documents/guides.ts";

const folder = fileURLToPath(new URL("../../../docs/", import.meta.url));
const changelog = { name: "reference/changelog.md", file: `${folder}../CHANGELOG.md` };

/**
 * The names of the pages of the documentation that a server shows, such as `how-to/receive.md`. In the binary, which has no
 * sources, `tools/build` replaces this module with one that contains the pages.
 */
export async function listGuides(): Promise<string[]> {
  const ofKinds = Object.keys(guideKinds).map(async (kind) => {
    const files = await readdir(folder + kind);
    return files.filter((file) => file.endsWith(".md")).map((file) => `${kind}/${file}`);
  });
  return [...(await Promise.all(ofKinds)).flat(), changelog.name].sort();
}

/** The text of one of these pages. */
export async function readGuide(name: string): Promise<string> {
  if (name !== changelog.name) return await Bun.file(folder + name).text();
  return (await Bun.file(changelog.file).text()).replaceAll("](docs/", "](../"); // from where the server shows it
}
