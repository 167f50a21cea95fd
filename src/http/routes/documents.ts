import { Worker } from "node:worker_threads";
import type { GuideTexts } from "../../contract/documents/reference/guide-pages.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import { createRecentCopy } from "../../lib/caches/recent-copy.ts";
import { steadyClock } from "../../lib/time/clock.ts";
import type { PageFile } from "../answers/pack-file.ts";

/** What a node serves about itself: two JSON documents, the HTML of pages by their paths, and what a reader searches in them. */
export type Documents = { openApi: string; asyncApi: string; pages: Record<string, string>; search: PageFile };

/** What the documents depend on. `basePath`: the path below which the server is reached. */
export type DocumentsOf = { limits: PayloadLimits; basePath: string; guides: GuideTexts };

/**
 * Creates the documents of a node. They are written when somebody first asks for one, in a thread of its
 * own: this takes 200 to 400 ms of processor time, for which neither a start nor anybody else should wait.
 */
export function createDocuments(
  node: Omit<DocumentsOf, "guides">,
  readGuides: () => Promise<GuideTexts>,
): () => Promise<Documents> {
  return createRecentCopy(async () => write({ ...node, guides: await readGuides() }), {
    maxAgeMs: Number.POSITIVE_INFINITY,
    clock: steadyClock,
  });
}

function write(node: DocumentsOf): Promise<Documents> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./documents-worker.ts", import.meta.url), { workerData: node });
    worker.unref(); // a node that stops does not wait for it
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the thread that writes the documents has died")));
  });
}
