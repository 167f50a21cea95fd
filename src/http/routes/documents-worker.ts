// The thread that writes the documents of a node, once.
import { createHash } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { asyncApiDocument } from "../../contract/documents/asyncapi.ts";
import { openApiDocument } from "../../contract/documents/openapi.ts";
import { referencePages } from "../../contract/documents/reference/pages.ts";
import { lowerThreadPriority } from "../../lib/thread-priority.ts";
import type { Document, Documents, DocumentsOf } from "./documents.ts";

lowerThreadPriority("lowest");
const { limits, basePath }: DocumentsOf = workerData;
const pages = Object.entries(referencePages(limits)).map(([path, text]) => [path, tagged(text)] as const);
parentPort?.postMessage({
  openApi: tagged(JSON.stringify(openApiDocument(limits, basePath))),
  asyncApi: tagged(JSON.stringify(asyncApiDocument(basePath))),
  pages: Object.fromEntries(pages),
} satisfies Documents);

/**
 * The links of a document lead below the base path. The tag is strong, and the same on every node of a version with the same
 * settings (RFC 9110, section 8.8.3).
 */
function tagged(document: string): Document {
  const text = document.replaceAll(/("|&quot;)(?=\/docs\b)|="(?=\/\w)/g, `$&${basePath}`);
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url")}"` };
}
