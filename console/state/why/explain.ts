import type { UserConnections } from "../../../sdk/types.ts";
import type { Scope } from "../../../src/contract/keys/scopes.ts";
import type { Operations } from "../../../src/contract/operations/all.ts";
import { type Said, whyEnded, whyRefused } from "./causes.ts";

/** What is known of a send, and of a user who may not have it. What the key may not read is `undefined`. */
export type Facts = {
  uid: string;
  sent: {
    kind: "message" | "system_message";
    from: string;
    at: string;
    cid: string | undefined;
    /** Whether users who were offline get it later. */
    isKept: boolean;
    recalledAt: string | undefined;
    expiredAt: string | undefined;
  };
  /** Whether it was addressed to the user, and whether the user has it. */
  state: "missing" | "has_it" | "not_addressed" | undefined;
  /** `gone`: there is no such user. */
  user: { createdAt: string; isBlocked: boolean } | "gone" | undefined;
  /** Whether the user takes part in its conversation now. */
  isParticipant: boolean | undefined;
  connections: UserConnections | undefined;
  /** How the user was removed from its conversation last, as the audit log says, and by whom. */
  removal: { at: string; by: string } | undefined;
  /** A webhook that should have told about it, but fails. */
  webhook: { id: string; since: string } | undefined;
};

/** What to do next: a page to open, or the user to add to the conversation. */
export type Action = { label: string; scope: Scope } & (
  | { act: "open"; page: string; id?: string; query?: Record<string, string | undefined>; section?: UserSection }
  | { act: "add"; cid: string }
);

/** A section of the page of a user, by the id of its heading. */
export type UserSection = "token" | "block";

/** Why a user does not have a send: texts and times in turn, and what to do next, the best first. */
export type Explanation = { cause: Cause; says: Said; actions: Action[] };

type Cause =
  | "has_it"
  | "recalled"
  | "expired"
  | "no_user"
  | "came_later"
  | "joined_later"
  | "no_participant"
  | "not_addressed"
  | "left"
  | "blocked"
  | "slow"
  | "reconnected"
  | "unrecorded"
  | "refused"
  | "cut"
  | "offline"
  | "unknown";

/** Says why a user does not have a send, as far as the facts tell, and nothing that they do not. */
export function explain(facts: Facts): Explanation {
  return (
    ofTheSend(facts) ??
    ofTheAddress(facts) ??
    ofTheUser(facts) ??
    ofOpenConnections(facts) ??
    ofTheAbsence(facts) ?? {
      cause: "unknown",
      says: ["It has not reached them. Your key does not show whether they are connected."],
      actions: [],
    }
  );
}

const isAfter = (one: string, other: string) => Date.parse(one) > Date.parse(other);

const openUser = (uid: string): Extract<Action, { act: "open" }> => ({
  act: "open",
  label: `Open ${uid}`,
  page: "users",
  id: uid,
  scope: "directory:read",
});

const testToken = (uid: string): Action => ({
  ...openUser(uid),
  label: "Issue a token to test with",
  section: "token",
});

const audit = (operation: keyof Operations, label: string): Action => ({
  act: "open",
  label,
  page: "audit",
  query: { operation },
  scope: "observe",
});

/** Another send to those whom this one was meant for. */
function sendAgain({ uid, sent: { kind, from, cid } }: Facts, label = "Send it again", more = {}): Action {
  const query = { kind, from, ...(cid === undefined ? { uid } : { cid }), ...more };
  const scope = kind === "message" ? "message:send" : "system:send";
  return { act: "open", label, page: "compose", query, scope };
}

/** What has become of the send itself. */
function ofTheSend(facts: Facts): Explanation | undefined {
  const { recalledAt, expiredAt } = facts.sent;
  if (facts.state === "has_it") return { cause: "has_it", says: ["They have it."], actions: [] };
  if (facts.state === "not_addressed") return undefined;
  if (recalledAt !== undefined)
    return {
      cause: "recalled",
      says: ["It was taken back at ", { at: recalledAt }, ", before it reached them."],
      actions: [sendAgain(facts)],
    };
  if (expiredAt !== undefined)
    return {
      cause: "expired",
      says: ["It expired at ", { at: expiredAt }, ", before it reached them."],
      actions: [sendAgain(facts)],
    };
  return undefined;
}

/** Who it was addressed to. */
function ofTheAddress(facts: Facts): Explanation | undefined {
  const { uid, sent, state, user, isParticipant, removal } = facts;
  if (user === "gone")
    return {
      cause: "no_user",
      says: [`There is no user ${uid}: deleted, or never created.`],
      actions: [audit("deleteUser", "Who was deleted")],
    };
  if (state !== "not_addressed") return undefined;
  if (user !== undefined && isAfter(user.createdAt, sent.at))
    return {
      cause: "came_later",
      says: ["They became a user at ", { at: user.createdAt }, ", after it was sent."],
      actions: [sendAgain(facts)],
    };
  if (sent.cid === undefined || isParticipant === undefined)
    return { cause: "not_addressed", says: ["It was not addressed to them."], actions: [sendAgain(facts)] };
  if (isParticipant)
    return {
      cause: "joined_later",
      says: ["They joined the conversation after it was sent. Herald does not keep when."],
      actions: [openConversation(sent.cid), audit("putParticipant", "Who was added")],
    };
  return {
    cause: "no_participant",
    says:
      removal === undefined || isAfter(removal.at, sent.at)
        ? ["They were not in the conversation when it was sent, and are not in it now: removed before, or never in it."]
        : [...wasRemoved(removal), ", before it was sent."],
    actions: [add(uid, sent.cid), audit("deleteParticipant", "Who was removed")],
  };
}

function wasRemoved({ at, by }: NonNullable<Facts["removal"]>): Said {
  return ["They were removed from the conversation at ", { at }, `, by ${by}`];
}

/** What keeps a user to whom it was addressed from connecting, or from hearing the conversation. */
function ofTheUser({ uid, sent, user, isParticipant, removal }: Facts): Explanation | undefined {
  if (sent.cid !== undefined && isParticipant === false)
    return {
      cause: "left",
      says:
        removal === undefined
          ? ["They left the conversation, or were removed from it, before it reached them."]
          : [...wasRemoved(removal), ", before it reached them."],
      actions: [add(uid, sent.cid), audit("deleteParticipant", "Who was removed")],
    };
  if (typeof user === "object" && user.isBlocked)
    return {
      cause: "blocked",
      says: ["They are blocked, so all of their tokens are refused. The audit log says since when."],
      actions: [{ ...openUser(uid), label: `Unblock ${uid}`, section: "block" }, audit("putUser", "Who was blocked")],
    };
  return undefined;
}

/** Why a user who is connected now does not have it. */
function ofOpenConnections(facts: Facts): Explanation | undefined {
  const { uid, sent, connections } = facts;
  const open = connections?.items ?? [];
  const [first] = open;
  if (first === undefined) return undefined;
  const actions = [{ ...openUser(uid), label: "See their connections" }];
  const waiting = open.reduce((sum, { waiting_bytes }) => sum + waiting_bytes, 0);
  if (waiting > 0)
    return {
      cause: "slow",
      says: [`They are connected, but read too slowly: ${waiting.toLocaleString("en-GB")} bytes wait for them.`],
      actions,
    };
  if (!isAfter(first.since, sent.at))
    return {
      cause: "unrecorded",
      says: [
        "They have been connected since ",
        { at: first.since },
        ", before it was sent, but no delivery is recorded. Records are a second late, and those of a node that crashes are lost.",
      ],
      actions,
    };
  const missed = sent.isKept
    ? "and the client has not recovered it: it connects without since, or has missed too much. It finds it in the history or the inbox."
    : "and it is not kept for those who were offline.";
  return {
    cause: "reconnected",
    says: ["They have been connected since ", { at: first.since }, `, after it was sent, ${missed}`],
    actions: sent.isKept ? actions : [keepNextTime(facts), ...actions],
  };
}

/** Why a user is not connected. */
function ofTheAbsence(facts: Facts): Explanation | undefined {
  const { uid, connections } = facts;
  if (connections === undefined) return undefined;
  const { cause, says } = explainAbsence(connections);
  const actions = actionsOfAbsent(facts);
  const isToken = cause === "refused" && connections.last_refused?.check !== "limit";
  return {
    cause,
    says: [...says, outlook(facts)],
    actions: isToken ? [testToken(uid), ...actions] : [...actions, openUser(uid)],
  };
}

/** Says why a user who is not connected is not: which check refused the token, or how the last connection ended. */
export function explainAbsence({
  last_ended: ended,
  last_refused: refused,
}: UserConnections): Omit<Explanation, "actions"> {
  if (refused !== null && (ended === null || isAfter(refused.at, ended.at))) {
    const since: Said = ended === null ? [] : [" Offline since ", { at: ended.at }, "."];
    return {
      cause: "refused",
      says: ["Their token was refused at ", { at: refused.at }, `: ${whyRefused[refused.check]}`, ...since],
    };
  }
  if (ended === null) return { cause: "offline", says: ["Offline. Herald knows of no earlier connection."] };
  return {
    cause: ended.was_slow === true ? "cut" : "offline",
    says: ["Offline since ", { at: ended.at }, whyEnded(ended)],
  };
}

function outlook({ sent: { kind, isKept } }: Facts): string {
  if (kind === "message") return " They receive it when their client reconnects and recovers what it missed.";
  return isKept ? " They find it in their inbox." : " It is not kept, so they do not receive it.";
}

function actionsOfAbsent(facts: Facts): Action[] {
  const { sent, webhook } = facts;
  return [
    ...(webhook === undefined
      ? []
      : [
          {
            act: "open",
            label: `The webhook ${webhook.id} fails: redeliver what it has not told`,
            page: "webhooks",
            id: webhook.id,
            scope: "webhooks:manage",
          } as const,
        ]),
    ...(sent.kind === "system_message" && !sent.isKept ? [keepNextTime(facts)] : []),
  ];
}

function keepNextTime(facts: Facts): Action {
  return sendAgain(facts, "Send it again, and keep it in inboxes", { keep: "7" });
}

function openConversation(cid: string): Action {
  return { act: "open", label: "Open the conversation", page: "conversations", id: cid, scope: "directory:read" };
}

function add(uid: string, cid: string): Action {
  return { act: "add", label: `Add ${uid} to the conversation`, cid, scope: "directory:write" };
}
