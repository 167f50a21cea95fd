import { Worker } from "node:worker_threads";
import type { GuideTexts } from "../../contract/documents/reference/guide-pages.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import { createRecentCopy } from "../../lib/caches/recent-copy.ts";
import { steadyClock } from "../../lib/time/clock.ts";
import type { PageFile } from "../answers/pack-file.ts";

/** What a node serves about itself: two JSON documents, the HTML of pages by their paths, and what a reader searches in them. */
export type Documents = { openApi: string; asyncApi: string; pages: Record<string, string>; search: PageFile };

/** Pages in Markdown, by their paths. */
export type MarkdownPages = Record<string, string>;

/** What the documents depend on. `basePath`: the path below which the server is reached. */
export type DocumentsOf = { limits: PayloadLimits; basePath: string; guides: GuideTexts };

/**
 * Creates the documents of a node, and its pages in Markdown. Both are written when somebody first asks for one, in a thread of its
 * own: either takes 200 to 600 ms of processor time, for which neither a start nor anybody else should wait.
 */
export function createDocuments(node: Omit<DocumentsOf, "guides">, readGuides: () => Promise<GuideTexts>) {
  const forever = { maxAgeMs: Number.POSITIVE_INFINITY, clock: steadyClock };
  const written = <Result>(isMarkdown: boolean) =>
    createRecentCopy(async () => write<Result>({ ...node, guides: await readGuides(), isMarkdown }), forever);
  return { documents: written<Documents>(false), markdownPages: written<MarkdownPages>(true) };
}

/** What the thread that writes documents is to write. */
export type Writing = DocumentsOf & { isMarkdown: boolean };

function write<Result>(writing: Writing): Promise<Result> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./documents-worker.ts", import.meta.url), { workerData: writing });
    worker.unref(); // a node that stops does not wait for it
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the thread that writes the documents has died")));
  });
}
