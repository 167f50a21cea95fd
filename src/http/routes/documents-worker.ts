// The thread that writes the documents of a node, once.
import { createHash } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { asyncApiDocument } from "../../contract/documents/asyncapi.ts";
import { openApiDocument } from "../../contract/documents/openapi.ts";
import { referencePages } from "../../contract/documents/reference/pages.ts";
import { lowerThreadPriority } from "../../lib/thread-priority.ts";
import type { Document, Documents } from "./documents.ts";

lowerThreadPriority("lowest");
const pages = Object.entries(referencePages(workerData)).map(([path, text]) => [path, tagged(text)] as const);
parentPort?.postMessage({
  openApi: tagged(JSON.stringify(openApiDocument(workerData))),
  asyncApi: tagged(JSON.stringify(asyncApiDocument())),
  pages: Object.fromEntries(pages),
} satisfies Documents);

/** A strong tag, and the same on every node of a version with the same limits (RFC 9110, section 8.8.3). */
function tagged(text: string): Document {
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url")}"` };
}
