import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { asyncApiDocument } from "../../src/contract/documents/asyncapi.ts";
import { guideText, llmsText, summaryOf } from "../../src/contract/documents/guides.ts";
import { openApiDocument } from "../../src/contract/documents/openapi.ts";
import {
  exampleHost,
  exampleKeyFile,
  type Place,
  placeAsyncApi,
  placeGuide,
  placePage,
  savedKeyFile,
} from "../../src/contract/documents/place.ts";
import { reference, referenceInMarkdown } from "../../src/contract/documents/reference/pages.ts";
import { searchDataPath, searchScriptPath } from "../../src/contract/documents/reference/paths.ts";
import { bundleConsole } from "../../src/server/console/bundle.ts";
import { listGuides, readGuide } from "../../src/server/guides/files.ts";

const attribute = /\b(href|data-script|data-index)="(\/[^"#]*)/g;
const hasEnding = /\.\w+$/;

/**
 * Writes what a server shows under `/docs` as files, which any web server can show below any path: their links are relative.
 * Commands in them call the server at `url`; without one, a server with the default settings.
 */
export async function writeDocsSite(folder: string, url?: string): Promise<number> {
  const files = await filesOf(placeOf(url));
  for (const [path, content] of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  return files.size;
}

function placeOf(url: string | undefined): Place {
  if (url === undefined) return { url: `http://${exampleHost}`, keyFile: exampleKeyFile };
  return { url: url.replace(/\/$/, ""), keyFile: savedKeyFile };
}

async function filesOf(place: Place): Promise<Map<string, string | Uint8Array>> {
  const names = await listGuides();
  const guides = new Map(await Promise.all(names.map(async (name) => [name, await readGuide(name)] as const)));
  const { pages, search } = reference(undefined, guides);
  const script = (await bundleConsole("herald")).get(searchScriptPath.slice(1));
  if (script === undefined) throw new Error("the console's bundle has no search");
  const summaries = new Map([...guides].map(([name, text]) => [name, summaryOf(text)] as const));
  return new Map<string, string | Uint8Array>([
    [
      "/index.html",
      '<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html"><title>Herald</title>\n',
    ],
    ...Object.entries(pages).map(
      ([path, page]) => [fileOf(path), relative(fileOf(path), placePage(page, place))] as const,
    ),
    ...Object.entries(referenceInMarkdown(undefined, guides)).map(
      ([path, page]) => [path, placePage(page, place)] as const,
    ),
    ...[...guides].map(([name, text]) => {
      const shown = guideText(name, text, (other) => guides.has(other));
      return [`/docs/${name}`, placeGuide(shown, place)] as const;
    }),
    [searchScriptPath, script.bytes.identity],
    [
      searchDataPath,
      JSON.stringify(search.map(([path, ...rest]) => [posix.relative("/docs", fileOf(below(path))), ...rest])),
    ],
    ["/openapi.json", JSON.stringify(openApiDocument())],
    ["/asyncapi.json", placeAsyncApi(JSON.stringify(asyncApiDocument()), place)],
    ["/llms.txt", llmsText(summaries, ".")],
  ]);
}

function below(path: string): string {
  return path === "" ? "/docs" : `/docs/${path}`;
}

/** The file of what a server shows at `path`. */
function fileOf(path: string): string {
  if (path === "/docs") return "/docs/index.html";
  return hasEnding.test(path) ? path : `${path}.html`;
}

/** A page whose links lead from its own file to those of the others. */
function relative(file: string, page: string): string {
  return page.replaceAll(attribute, (_, name: string, path: string) => {
    const target = posix.relative(dirname(file), fileOf(path));
    return `${name}="${target.startsWith(".") ? target : `./${target}`}`;
  });
}
