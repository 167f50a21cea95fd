import type { ExportLine } from "../../contract/transfer/lines.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import type { Marks } from "../../store/inbox/ports.ts";
import type { ExportedInboxItem, ExportOf, InboxExportReads } from "../../store/transfer/ports.ts";
import { inboxLines, readLines, referenceTo } from "./export-inbox-lines.ts";
import { type InboxPart, partsOf } from "./inbox-ranges.ts";
import type { LinePages } from "./line-pages.ts";

/** What is said of inboxes after the system messages: who has which of those to conversations and to everyone, and all marks. */
export async function* inboxPages(exports: InboxExportReads, of: ExportOf): LinePages {
  yield* rangePages(exports, of, undefined);
  for (let cid = await exports.nextConversation(of, ""); cid !== undefined; ) {
    yield* rangePages(exports, of, cid);
    cid = await exports.nextConversation(of, cid);
  }
  yield* readPages(exports, of);
}

/** The inbox of a user. */
export async function* userInboxPages(
  exports: InboxExportReads,
  of: ExportOf,
  { uid, marks }: { uid: string; marks: Marks },
): LinePages {
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const items = await exports.inbox(of, uid, after);
    const last = items.at(-1);
    if (last === undefined) return;
    yield items.flatMap((item) => inboxLines(item, uid, marks));
    after = last.offset;
  }
}

/** For those who have not all system messages to a conversation, or to everyone: which they have. */
async function* rangePages(exports: InboxExportReads, of: ExportOf, cid: string | undefined): LinePages {
  const offsets = await exports.addressed(of, cid);
  for (let after: string | undefined = offsets.length === 0 ? undefined : ""; after !== undefined; ) {
    const page = await exports.stays(of, cid, after, rowsOfStatement);
    const parts = page.flatMap((stays) => partsOf(offsets, stays).map((part) => ({ uid: stays.uid, ...part })));
    if (parts.length > 0) yield await rangeLines(exports, of, { cid, offsets, parts });
    after = page.length < rowsOfStatement ? undefined : page.at(-1)?.uid;
  }
}

type Parts = { cid: string | undefined; offsets: readonly number[]; parts: readonly (InboxPart & { uid: string })[] };

async function rangeLines(
  exports: InboxExportReads,
  of: ExportOf,
  { cid, offsets, parts }: Parts,
): Promise<ExportLine[]> {
  const offsetAt = (index: number | undefined) => (index === undefined ? 0 : (offsets[index] ?? 0)); // no event lies at 0
  const named = new Set(parts.flatMap(({ after, upTo }) => [offsetAt(after), offsetAt(upTo)]));
  const names = await exports.names(of, cid, [...named]);
  const nameAt = (index: number | undefined) => names.get(offsetAt(index));
  return parts.flatMap(({ uid, after, upTo }): ExportLine[] => {
    const [from, to] = [nameAt(after), nameAt(upTo)];
    const isNamed = (from !== undefined || after === undefined) && (to !== undefined || upTo === undefined);
    if (!isNamed) return []; // removed since
    const range = { ...(from && { after: referenceTo(from) }), ...(to && { up_to: referenceTo(to) }) };
    return [{ inbox_range: { uid, ...(cid !== undefined && { cid }), ...range } }];
  });
}

/** What users have marked. */
async function* readPages(exports: InboxExportReads, of: ExportOf): LinePages {
  let lines: ExportLine[] = [];
  for (let after: string | undefined = ""; after !== undefined; ) {
    const page = await exports.marks(of, after, rowsOfStatement);
    for (const { uid, marks } of page) {
      for await (const items of markedPages(exports, of, uid, marks)) {
        lines.push(...items.flatMap((item) => readLines(item, uid, marks)));
        if (lines.length < rowsOfStatement) continue;
        yield lines;
        lines = [];
      }
    }
    after = page.length < rowsOfStatement ? undefined : page.at(-1)?.uid;
  }
  yield lines;
}

/** The items of an inbox between the first and the last that is marked. */
async function* markedPages(
  exports: InboxExportReads,
  of: ExportOf,
  uid: string,
  { seen }: Marks,
): AsyncGenerator<ExportedInboxItem[], void> {
  const [first] = seen[0] ?? [0];
  const [, upTo] = seen.at(-1) ?? [0, 0];
  for (let after = first - 1; after < upTo; ) {
    const items = await exports.items(of, uid, { after, upTo });
    yield items;
    after = items.length < rowsOfStatement ? upTo : (items.at(-1)?.offset ?? upTo);
  }
}
