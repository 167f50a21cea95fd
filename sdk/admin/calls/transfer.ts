import type { CallOptions } from "../exchange.ts";
import type { Fetch } from "../fetch.ts";
import {
  callForLines,
  type ImportOptions,
  type ImportReport,
  type LineBytes,
  readLines,
  readReport,
  type Values,
  writeLines,
} from "../lines.ts";
import type { ExportRecord, ImportRecord } from "../records.ts";
import { path, query } from "./paths.ts";

/** Creates the calls of an admin client that import and export. `root` is the server address. */
export function createTransferCalls({ root, key, fetch }: { root: string; key: string; fetch: Fetch }) {
  function importLines(
    org: string,
    lines: LineBytes,
    { dryRun, signal }: ImportOptions = {},
  ): AsyncGenerator<ImportReport, void> {
    const target = root + path`/admin/organizations/${org}/import` + query({ dry_run: dryRun });
    return readReport(callForLines({ url: target, method: "POST", key, fetch, lines, signal }), target);
  }

  function exportOrganization(org: string, { signal }: CallOptions = {}): AsyncGenerator<Uint8Array, void> {
    return callForLines({ url: root + path`/admin/organizations/${org}/export`, method: "GET", key, fetch, signal });
  }

  function exportUser(org: string, uid: string, { signal }: CallOptions = {}): AsyncGenerator<Uint8Array, void> {
    const target = root + path`/admin/organizations/${org}/users/${uid}/export`;
    return callForLines({ url: target, method: "GET", key, fetch, signal });
  }

  return {
    /**
     * Imports users, conversations, participants, messages of the past and inboxes. Yields the report as it comes; the import goes on
     * while it is read. After a break, import the same records again: what is there already is skipped.
     */
    importRecords(
      org: string,
      records: Values<ImportRecord>,
      options: ImportOptions = {},
    ): AsyncGenerator<ImportReport, void> {
      return importLines(org, writeLines(records), options);
    },
    /** Like `importRecords`, for lines that are written already: one JSON object each. */
    importLines,
    /** Yields everything that is stored of the organization, as an import takes it. Throws if it breaks off. */
    exportRecords(org: string, options: CallOptions = {}): AsyncGenerator<ExportRecord, void> {
      return readLines(exportOrganization(org, options));
    },
    /** Yields what is stored of a user. Throws if it breaks off. */
    exportUserRecords(org: string, uid: string, options: CallOptions = {}): AsyncGenerator<ExportRecord, void> {
      return readLines(exportUser(org, uid, options));
    },
    /** Like `exportRecords`, as bytes of lines, to be written to a file. */
    exportOrganization,
    /** Like `exportUserRecords`, as bytes of lines, to be written to a file. */
    exportUser,
  };
}
