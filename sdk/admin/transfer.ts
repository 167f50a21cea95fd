import type { Fetch } from "./http.ts";
import { callForLines, type ImportOptions, type ImportReport, type LineBytes, readReport, toStream } from "./lines.ts";
import { path, query } from "./paths.ts";

/** Creates the calls of an admin client that import and export. `root` is the server address. */
export function createTransferCalls({ root, key, fetch }: { root: string; key: string; fetch: Fetch }) {
  return {
    /**
     * Imports users, conversations, participants and messages of the past: one JSON object per line. Yields the report as it comes;
     * the import goes on while it is read. After a break, import the same lines again: what is there already is skipped.
     */
    importLines(
      org: string,
      lines: LineBytes,
      { dryRun, signal }: ImportOptions = {},
    ): AsyncGenerator<ImportReport, void> {
      const target = root + path`/admin/organizations/${org}/import` + query({ dry_run: dryRun });
      return readReport(
        callForLines({ url: target, method: "POST", key, fetch, body: toStream(lines), signal }),
        target,
      );
    },
    /** Yields the bytes of an export of the organization, which an import takes. Throws if it breaks off. */
    exportOrganization(org: string, { signal }: { signal?: AbortSignal } = {}): AsyncGenerator<Uint8Array, void> {
      return callForLines({ url: root + path`/admin/organizations/${org}/export`, method: "GET", key, fetch, signal });
    },
    /** Yields the bytes of an export of what is stored of a user. Throws if it breaks off. */
    exportUser(org: string, uid: string, { signal }: { signal?: AbortSignal } = {}): AsyncGenerator<Uint8Array, void> {
      const target = root + path`/admin/organizations/${org}/users/${uid}/export`;
      return callForLines({ url: target, method: "GET", key, fetch, signal });
    },
  };
}
