// The thread that writes the documents of a node, or its pages in Markdown, once. Its priority is that of the others, as whoever asked
// waits for it: with the lowest one, a page took more than 20 s on a busy machine, with this one 1.5 s.
import { parentPort, workerData } from "node:worker_threads";
import { asyncApiDocument } from "../../contract/documents/asyncapi.ts";
import { openApiDocument } from "../../contract/documents/openapi.ts";
import { reference, referenceInMarkdown } from "../../contract/documents/reference/pages.ts";
import { packFile } from "../answers/pack-file.ts";
import type { Documents, MarkdownPages, Writing } from "./documents.ts";

const { limits, basePath, guides, isMarkdown }: Writing = workerData;
parentPort?.postMessage(isMarkdown ? writeMarkdown() : await writeDocuments());

async function writeDocuments(): Promise<Documents> {
  const { pages, search } = reference(limits, guides);
  return {
    openApi: below(JSON.stringify(openApiDocument(limits, basePath))),
    asyncApi: below(JSON.stringify(asyncApiDocument(basePath))),
    pages: allBelow(pages),
    search: await packFile("application/json", JSON.stringify(search)),
  };
}

function writeMarkdown(): MarkdownPages {
  return allBelow(referenceInMarkdown(limits, guides));
}

function allBelow(pages: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(pages).map(([path, text]) => [path, below(text)]));
}

/** A document whose links lead below the base path. */
function below(document: string): string {
  return document.replaceAll(/("|&quot;)(?=\/docs\b)|="(?=\/\w)/g, `$&${basePath}`);
}
