import type { Row, Rows } from "../sql/driver.ts";

/** A stored message or system message, imported or sent. `isChanged`: it was edited or taken back since, or is over. */
export type FoundEvent = {
  id: string;
  mid: string | undefined;
  cid: string | undefined;
  offset: number;
  payload: string;
  isChanged: boolean;
  /** How many users have reacted to it in which way, as the store keeps it. */
  reactions?: string | null;
};

type EventRow = Row & {
  id: string;
  mid: string | null;
  cid: string | null;
  offset: number;
  payload: string;
  edited_at: number | null;
  recalled_at: number | null;
  reactions: string | null;
};

const columns = ["id", "mid", "cid", "offset", "payload", "edited_at", "recalled_at", "reactions"];

/** Finds events by some of their columns. */
export async function findEvents({ find }: Pick<Rows, "find">, keys: readonly Row[]): Promise<FoundEvent[]> {
  return (await find<EventRow>("event", columns, keys)).map(({ id, mid, cid, offset, payload, ...row }) => {
    const isChanged = row.edited_at !== null || row.recalled_at !== null || payload === "";
    return {
      id,
      mid: mid ?? undefined,
      cid: cid ?? undefined,
      offset: Number(offset),
      payload,
      isChanged,
      reactions: row.reactions,
    };
  });
}
