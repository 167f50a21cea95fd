// Asks a question in the conversation `welcome` of the demo, and streams an answer: docs/how-to/stream-an-answer.md.
import { createAdmin } from "@herald/sdk/admin";

const admin = createAdmin({
  url: process.env.HERALD_URL ?? "http://127.0.0.1:7070",
  key: process.env.HERALD_ADMIN_API_KEY ?? "",
});
const question = process.argv[2] ?? "What does a streamed answer look like?";

/** A stand-in for a model: yields words, with the pauses of one. */
async function* words(prompt: string): AsyncGenerator<string, void> {
  const text = `You asked: “${prompt}” A model would answer now. I only yield one word after another, and each is stored before you see it.`;
  for (const word of text.split(/(?<= )/)) {
    await Bun.sleep(60);
    yield word;
  }
}

const asker = { organizationId: "demo", senderId: "alice" };
const answerer = { organizationId: "demo", senderId: "bob" };
await admin.sendMessage({ ...asker, message: { cid: "welcome", body: question } });
await admin.tellTyping({ ...answerer, typing: { cid: "welcome", status: "start" } });
const { id, length } = await admin.pipe(words(question), { ...answerer, message: { cid: "welcome" } });
console.log(`${id} is complete: ${length} characters`);
