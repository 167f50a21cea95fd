import type { ExportLine } from "../../contract/transfer/lines.ts";

/** Lines of an export, a page at a time. */
export type LinePages = AsyncGenerator<ExportLine[], void>;
