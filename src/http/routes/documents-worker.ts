// The thread that writes the documents of a node, once.
import { parentPort, workerData } from "node:worker_threads";
import { asyncApiDocument } from "../../contract/documents/asyncapi.ts";
import { openApiDocument } from "../../contract/documents/openapi.ts";
import { referencePages } from "../../contract/documents/reference/pages.ts";
import { lowerThreadPriority } from "../../lib/thread-priority.ts";
import type { Documents } from "./documents.ts";

lowerThreadPriority("lowest");
parentPort?.postMessage({
  openApi: JSON.stringify(openApiDocument(workerData)),
  asyncApi: JSON.stringify(asyncApiDocument()),
  pages: referencePages(workerData),
} satisfies Documents);
