// Writes the documentation as files that any web server can show: `npm run build:docs -- <folder>`. With `--url <url>`, its commands
// call the server at that address.
import { parseArgs } from "node:util";
import { writeDocsSite } from "./docs-site.ts";

const { positionals, values } = parseArgs({ allowPositionals: true, options: { url: { type: "string" } } });
const [folder = "dist/docs"] = positionals;
const count = await writeDocsSite(folder, values.url);
console.log(`${folder}  ${count} files; begin with ${folder}/docs/index.html`);
