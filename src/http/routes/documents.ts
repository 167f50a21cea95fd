import { Worker } from "node:worker_threads";
import type { PayloadLimits } from "../../contract/limits.ts";
import { createRecentCopy } from "../../lib/caches/recent-copy.ts";
import { steadyClock } from "../../lib/time/clock.ts";

/** A document, and the entity tag that changes with it. */
export type Document = { text: string; etag: string };

/** What a node serves about itself: two JSON documents, and the HTML of pages by their paths. */
export type Documents = { openApi: Document; asyncApi: Document; pages: Record<string, Document> };

/** What the documents depend on. `basePath`: the path below which the server is reached. */
export type DocumentsOf = { limits: PayloadLimits; basePath: string };

/**
 * Creates the documents of a node. They are written when somebody first asks for one, in a thread of its
 * own: this takes 200 to 400 ms of processor time, for which neither a start nor anybody else should wait.
 */
export function createDocuments(node: DocumentsOf): () => Promise<Documents> {
  return createRecentCopy(() => write(node), { maxAgeMs: Number.POSITIVE_INFINITY, clock: steadyClock });
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
