// Uploads a file (`<url> <key> up <bytes>`) and prints its id, or downloads one (`<url> <key> down <bytes>`). Ends with 1 unless
// all bytes are those of the pattern. A process of its own, so that it delays no other caller.
import { patternStream, sha256OfPattern } from "../../test/files/pattern.ts";

const [url = "", key = "", way = "", size = "0"] = process.argv.slice(2);
const bytes = Number(size);
const headers = { "Admin-Api-Key": key };

async function upload(): Promise<string> {
  const answer = await fetch(url, { method: "POST", body: patternStream(bytes), headers });
  const text = await answer.text();
  if (!text.includes(sha256OfPattern(bytes))) throw new Error(`answered ${answer.status}: ${text}`);
  return /"file_id":"([^"]+)"/.exec(text)?.[1] ?? "";
}

async function download(): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const piece of (await fetch(url, { headers })).body ?? []) hash.update(piece);
  if (hash.digest("hex") !== sha256OfPattern(bytes)) throw new Error("other bytes came than were uploaded");
  return "";
}

console.log(way === "up" ? await upload() : await download());
