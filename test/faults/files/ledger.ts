import { eventually } from "../../harness/deadline.ts";
import { createRandom, type Random } from "../../harness/random.ts";
import type { ClusterNode } from "../../harness/servers/cluster.ts";
import { filesOf } from "../../harness/servers/files.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const workers = 3;
const pauseMs = 20;
const answerWithinMs = 20_000;
const recoverWithinMs = 10_000;
const stepsBefore = 20;
/** A refused upload that has more to come may be closed before its client has read the answer (RFC 9112, section 9.6). */
const alwaysAnsweredBytes = 1024 * 1024;

/** An organization of its own, whose files are uploaded, named by messages and downloaded while their store fails. */
export type FilesLedger = {
  /** Uploads and downloads at all nodes until `check`. Resolves once that has begun. */
  begin(seed: number): Promise<void>;
  /**
   * Ends what `begin` began, and reads every file that was answered with 201, of all rounds. Rejects with what is wrong, and if
   * nothing was refused since `begin`. The figures are of all rounds so far.
   */
  check(): Promise<{ stored: number; refused: number; read: number; brokenOff: number }>;
};

type Options = {
  nodes: readonly ClusterNode[];
  /** The answer to uploads while the store fails. */
  refusal: 503 | 507;
  /** Whether the store cannot be read either while it fails. */
  isUnreadable: boolean;
  /** The sizes of files, in bytes: of most, and of one in ten. */
  sizes: { small: [number, number]; large: [number, number] };
};

/** Opens a ledger. */
export async function openFilesLedger({ nodes, refusal, isUnreadable, sizes }: Options): Promise<FilesLedger> {
  const [first] = nodes;
  if (first === undefined) throw new Error("a ledger without a node");
  const org = await createOrganization(first.herald);
  const cid = await org.conversation(["alice", "bob"]);
  const token = await org.token("bob");
  const hashes = new Map<string, string>();
  const wrong: string[] = [];
  const counts = { refused: 0, read: 0, brokenOff: 0 };
  let stop = async () => {};
  let steps = 0;

  /** The answer to an upload; `undefined` if a large one was broken off without one. */
  async function answerTo(node: ClusterNode, bytes: Uint8Array<ArrayBuffer>) {
    try {
      return await filesOf({ ...org, herald: node.herald }).upload("a", bytes);
    } catch (cause) {
      if (bytes.length <= alwaysAnsweredBytes)
        throw new Error(`an upload of ${bytes.length} bytes: ${cause}`, { cause });
      counts.brokenOff++;
      return undefined;
    }
  }

  async function upload(node: ClusterNode, random: Random): Promise<void> {
    const bytes = contentOf(random, random.integer(...(random.integer(1, 10) === 1 ? sizes.large : sizes.small)));
    const answer = await answerTo(node, bytes);
    if (answer === undefined) return;
    const { status, text, body } = answer;
    if (status === refusal) counts.refused++;
    else if (status !== 201) wrong.push(`an upload was answered ${status}: ${text}`);
    else {
      const sent = await org.send("alice", { cid, attachments: [{ name: "a", file_id: body.file_id }] });
      if (sent.status !== 201) wrong.push(`a message with a file was answered ${sent.status}: ${sent.text}`);
      hashes.set(body.file_id, hashOf(bytes));
    }
  }

  /** Whether the file came as it was uploaded. */
  async function download(node: ClusterNode, id: string): Promise<boolean> {
    const headers = { Authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(answerWithinMs);
    const answer = await fetch(`${node.url}/files/${id}`, { headers, signal });
    const bytes = await answer.bytes().catch(() => undefined);
    if (bytes === undefined) counts.brokenOff++;
    if (bytes === undefined || (answer.status === 503 && isUnreadable)) return false;
    if (answer.status !== 200) wrong.push(`a download was answered ${answer.status}`);
    else if (hashOf(bytes) !== hashes.get(id))
      wrong.push(`a download of ${bytes.length} bytes is not what was uploaded`);
    counts.read++;
    return true;
  }

  async function work(random: Random, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const node = random.pick(nodes);
      const ids = [...hashes.keys()];
      try {
        if (ids.length === 0 || random.integer(1, 2) === 1) await upload(node, random);
        else await download(node, random.pick(ids));
      } catch (error) {
        wrong.push(`no answer: ${error}`);
      }
      steps++;
      await Bun.sleep(pauseMs);
    }
  }

  let refusedBefore = 0;
  return {
    async begin(seed) {
      let isOver = false;
      refusedBefore = counts.refused;
      const all = Array.from({ length: workers }, (_, index) => work(createRandom(seed + index), () => isOver));
      stop = async () => {
        isOver = true;
        await Promise.all(all);
      };
      const enough = steps + stepsBefore;
      await eventually(() => steps >= enough || undefined, "uploads and downloads", answerWithinMs);
    },
    async check() {
      await stop();
      for (const [index, id] of [...hashes.keys()].entries()) {
        const node = nodes[index % nodes.length] ?? first;
        await eventually(async () => (await download(node, id)) || undefined, `the file ${id}`, recoverWithinMs);
      }
      if (counts.refused === refusedBefore) wrong.push(`no upload was answered ${refusal}: nothing was broken`);
      if (wrong.length > 0) throw new Error(`${wrong.length} wrong, as: ${wrong[0]}`);
      return { stored: hashes.size, ...counts };
    },
  };
}

function contentOf(random: Random, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  const start = random.integer(0, 1_000_000_000);
  new DataView(bytes.buffer).setUint32(0, start); // no two are the same
  return bytes.fill(start % 251, 4);
}

function hashOf(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}
