import { forgetOldest } from "../../lib/caches/forget-oldest.ts";

const mostKept = 50_000; // about 10 MB

/** The messages taken back lately: what was read of the store before must not be written any more. */
export type Recalled = {
  note(org: string, ids: Iterable<string>): void;
  /** Whether a message was taken back, as far as remembered. */
  has(id: string | undefined): boolean;
  /** Forgets an organization's recalls, which its log may have lost. */
  forget(org: string): void;
};

/** Creates an empty memory of the last 50,000 ids. */
export function createRecalled(): Recalled {
  const orgOf = new Map<string, string>();
  return {
    note(org, ids) {
      for (const id of ids) {
        orgOf.set(id, org);
        forgetOldest(orgOf, mostKept);
      }
    },
    has: (id) => id !== undefined && orgOf.has(id),
    forget(org) {
      for (const [id, of] of orgOf) if (of === org) orgOf.delete(id);
    },
  };
}
