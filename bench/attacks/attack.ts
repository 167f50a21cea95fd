import type { Tally } from "./clients/tally.ts";

/** What attackers know: the server, and what their own organization gives them. */
export type Target = {
  url: string;
  /** A key of the attackers' organization, with every scope. */
  key: string;
  /** Ten more keys, which anyone who may manage keys can create. */
  moreKeys: readonly string[];
  /** A message followed by some 990 of 60,000 characters: about as many as `since` gives. */
  since: string;
  /** Ids of messages that every member of the hall may acknowledge. */
  received: readonly string[];
  /** A message to everyone in `mass`. */
  massMessage: string;
  /** A file that every member of the chat may have. */
  file: string;
  /** Different for each run of attackers, so that names made from it are new. */
  run: string;
};

/** The attackers' organization, with its members and conversations. */
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
  massMembers: Array.from({ length: 10_000 }, (_, index) => `mass-member-${index}`),
} as const;

/** How long an attack of those who read nothing lasts: they are cut after 30 or 35 s, depending on what they do not read. */
export const stallMs = 40_000;

/** A way to make others wait. */
export type Attack = {
  /** Its name on the command line. */
  name: string;
  /** The row of the table it was found with; related attacks share its number. */
  row?: number;
  /** Who the attackers are, and what they have. */
  who: string;
  /** The number of attacking processes; 1 by default. */
  processes?: number;
  /** The minimum time until attackers can be told to stop; the attack lasts that long, however short the run. */
  leastMs?: number;
  /**
   * Whether the attack fails unless attackers are told to stop or cut; others may be slow by themselves, and stay below
   * every limit.
   */
  mustBeTold?: boolean;
  /** Runs until its process ends, which is its own. */
  run(target: Target, tally: Tally): void | Promise<void>;
};

/** The path of something in the attackers' organization. */
export function tenantPath(...segments: readonly string[]): string {
  return ["/admin/organizations", tenant.org, ...segments].join("/");
}
