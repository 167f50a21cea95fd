import type { Tally } from "./attack/tally.ts";

/** What attackers know: the server, and what their own organization gives them. */
export type Camp = {
  url: string;
  /** A key of the attackers' organization, with every scope. */
  key: string;
  /** Ten more keys, as whoever may manage keys can make them. */
  moreKeys: readonly string[];
  /** A message that some 990 of 60,000 characters have come after: about as many as `since` gives. */
  since: string;
  /** Ids of messages that every member of the hall may acknowledge. */
  received: readonly string[];
  /** Ends a run of attackers and begins the next: names made of it are new. */
  run: string;
};

/** The attackers' organization: who is in it, and where. */
export const tenant = {
  org: "attacker",
  /** Has the members, and 1,100 messages of 60,000 characters. */
  hall: "hall",
  /** Has the same members, and 500 short messages. */
  chat: "chat",
  /** Has 10,000 participants. */
  mass: "mass",
  sender: "sender",
  members: Array.from({ length: 48 }, (_, index) => `member-${index}`),
  crowd: Array.from({ length: 10_000 }, (_, index) => `crowd-${index}`),
} as const;

/** A way to make others wait. */
export type Raid = {
  /** Its name on the command line. */
  name: string;
  /** The row of the table that it was found with; siblings of a row have its number, too. */
  row?: number;
  /** Who it is, and with what. */
  who: string;
  /** Processes that attack; one unless it says otherwise. */
  processes?: number;
  /** How long it takes at least until attackers can be told: it goes on for so long, however short the siege. */
  leastMs?: number;
  /** Whether it fails unless attackers are told to stop, or cut: others may be slow by themselves, and stay below every limit. */
  mustBeTold?: boolean;
  /** Goes on until its process ends. Runs in a process of its own. */
  attack(camp: Camp, tally: Tally): void | Promise<void>;
};

/** The path of something in the attackers' organization. */
export function tenantPath(...segments: readonly string[]): string {
  return ["/admin/organizations", tenant.org, ...segments].join("/");
}
