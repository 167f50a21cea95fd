import type { AdminClient } from "../../sdk/admin/admin.ts";
import { sleep } from "../../sdk/waiting/timers.ts";

type Place = { organization: string; conversation: string };

/** The user who answers. It joins the conversation with the first question. */
export const assistant = { id: "assistant", name: "Assistant" };

const answer =
  "I am no model: this page has my words and says them one by one, as a model would. Each is stored before you see it, " +
  "and all of them are one message that grows. Take a user offline while I write, and bring the user back: not a word is " +
  "missing. Your program does the same with admin.pipe().";
const thinksMs = 600;
const wordMs = 70;

/** Yields the words of the answer, with the pauses of a model. */
async function* words(): AsyncGenerator<string, void> {
  for (const word of answer.split(/(?<= )/)) {
    await sleep(wordMs);
    yield word;
  }
}

/**
 * Answers as the assistant, word by word. Each piece is a call of its own, because in most browsers a page cannot send one request and
 * read its answers at the same time, as `admin.pipe` does elsewhere.
 */
export async function answerQuestion(admin: AdminClient, { organization, conversation: cid }: Place): Promise<void> {
  await admin.putUser(organization, assistant.id, { name: assistant.name });
  await admin.addParticipant(organization, cid, assistant.id);
  const sender = { organizationId: organization, senderId: assistant.id };
  await admin.tellTyping({ ...sender, typing: { cid, status: "start" } });
  await sleep(thinksMs);
  const x = { model: "stand-in" };
  const { server_mid: id } = (await admin.sendMessage({ ...sender, message: { cid, x, open: true } })).ask;
  let offset = 0;
  for await (const text of words())
    offset = (await admin.append({ ...sender, messageAppend: { id, offset, text } })).length;
  await admin.append({ ...sender, messageAppend: { id, offset, text: "", done: true } });
}
