import type { Operations } from "../../contract/operations/all.ts";
import type { PersonSessions } from "../../services/people/person-sessions.ts";
import { answerShowing } from "../answers/plain-answers.ts";
import type { Bind } from "../bind.ts";
import { sessionCookie } from "../call/cookies.ts";

/** Binds the sessions of people in the console. */
export function bindSessions(
  bind: Bind,
  operations: Operations,
  { personSessions }: { personSessions: PersonSessions },
): void {
  bind(operations.listSessions, ({ query }) => answerShowing(personSessions.list(query)));
  bind(operations.endSession, async ({ caller, params: { session_id: id } }) => {
    await personSessions.end(caller, id);
    const isOwn = caller.person?.session?.id === id;
    return { status: 204, ...(isOwn && { headers: { "Set-Cookie": sessionCookie.clear() } }) };
  });
}
