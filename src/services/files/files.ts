import { HeraldError, invalidRequest, toHeraldError } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import { anyBytes, type FileShown, maxContentTypeCharacters } from "../../contract/files.ts";
import { toIso } from "../../contract/identifiers.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { createId } from "../../lib/text/ids.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type {
  FileBytes,
  FileReads,
  FileWrites,
  StoredBytes,
  StoredFile,
  UploadedBytes,
} from "../../store/files/ports.ts";
import type { OrganizationReads } from "../../store/ports.ts";
import { refuseMissing } from "../directory/directory.ts";
import { threadCosts } from "../limits/costs.ts";
import type { OrganizationUse, Room } from "../limits/organization-use.ts";
import type { FileFigures } from "./file-figures.ts";

/** The files of messages. */
export type Files = ReturnType<typeof createFiles>;

/** Who asks for a file: a user, or a key, for that of one organization or of whichever has it. */
export type FileReader = { org: string; uid: string } | { org: string | undefined };

/** The bytes of a file on their way in. */
export type Upload = {
  pieces: AsyncIterable<Uint8Array>;
  /** The declared number of bytes, if any. */
  length: number | undefined;
  contentType: string | undefined;
  /** Checks, once all bytes are there, whether the key still permits the upload; rejects if not. */
  permit(): Promise<void>;
};

type Dependencies = {
  files: FileReads & FileWrites;
  bytes: FileBytes;
  organizations: Pick<OrganizationReads, "get">;
  use: Pick<OrganizationUse, "know" | "reserveRoom">;
  thread: ThreadScheduler;
  maxBytes: number;
  figures: FileFigures;
  clock: Clock;
  elapsed: SteadyClock;
};

const unnamedMs = 24 * 3600 * 1000;
const mediaType = /^[!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+(\s*;.*)?$/i; // RFC 9110, section 8.3.1
const ambiguous = "must name the organization, because several have a file with this id";

/** Creates the files on the store and where bytes are kept. */
export function createFiles(dependencies: Dependencies) {
  const { files, bytes, organizations, use, thread, maxBytes, figures, clock, elapsed } = dependencies;

  /** Writes the bytes under an id of their own, then hands them to `store`, without which they are removed again. */
  async function write<Result>(
    org: string,
    upload: Upload,
    store: (bytes: UploadedBytes) => Promise<Result>,
  ): Promise<{ result: Result; size: number }> {
    const contentType = typeOf(upload.contentType);
    if ((upload.length ?? 0) > maxBytes) throw tooLarge(maxBytes);
    await use.know(org);
    const room = use.reserveRoom(org, upload.length ?? 0);
    if (room.error !== undefined) throw room.error;
    const bytesId = createId();
    let isStored = false;
    try {
      if (!(await files.begin(org, bytesId, clock.now())))
        throw errorAbout("organization_not_found", { organization: org });
      const turn = (size: number) => thread.turn(org, threadCosts.bytes(size));
      const measured = measure(upload, { maxBytes, room, turn });
      await bytes.write(bytesId, measured.pieces);
      const { size, sha256 } = measured.end();
      await upload.permit(); // it may have taken hours, and replaces what users see
      const result = await store({ bytesId, size, sha256, contentType });
      isStored = true;
      return { result, size };
    } finally {
      room.end(isStored);
      if (!isStored) await files.discard(bytesId, org, clock.now()).catch(() => undefined); // found again when it is a day old
    }
  }

  /** Like `write`, and counts the upload by how it ended. */
  async function receive<Result>(
    org: string,
    upload: Upload,
    store: (bytes: UploadedBytes) => Promise<Result>,
  ): Promise<Result> {
    const beganAt = elapsed.now();
    try {
      const { result, size } = await write(org, upload, store);
      figures.uploads.stored++;
      figures.storedBytes += size;
      figures.durations.observe(elapsed.now() - beganAt);
      return result;
    } catch (error) {
      figures.uploads[toHeraldError(error).status < 500 ? "refused" : "failed"]++;
      throw error;
    }
  }

  async function require(org: string, id: string): Promise<StoredFile> {
    const file = await files.get(org, id);
    return file !== undefined && isKept(file) ? file : await missing(org, id);
  }

  const missing = (org: string, id: string) =>
    refuseMissing(organizations, org, errorAbout("file_not_found", { file: id }));

  /** Whether the file was not released by the last message that named it, which removes it soon. */
  const isKept = ({ keepUntil }: StoredFile) => keepUntil === undefined || keepUntil > clock.now();

  async function findFor(id: string, reader: FileReader): Promise<StoredFile | undefined> {
    const { org } = reader;
    if (org === undefined) {
      const [found, another] = (await files.find(id)).filter(isKept);
      if (another !== undefined) throw invalidRequest("/organization", ambiguous); // whichever it is: an import may announce the id of another's file
      return found;
    }
    if ("uid" in reader && !(await files.readableBy(org, reader.uid, [id])).has(id)) return undefined;
    return await files.get(org, id);
  }

  return {
    /** Stores a file. Throws `organization_not_found`, `payload_too_large`, `invalid_request` if the organization has no room. */
    create: (org: string, name: string, upload: Upload) =>
      receive(org, upload, async (uploaded) => {
        const now = clock.now();
        const id = createId();
        if (!(await files.create({ org, id, name, now, keepUntil: now + unnamedMs, ...uploaded })))
          throw errorAbout("organization_not_found", { organization: org });
        return show({ id, name, createdAt: now, ...uploaded });
      }),
    /** Stores the bytes of a file that is known. Throws `file_not_found`, too. */
    async put(org: string, id: string, upload: Upload): Promise<{ shown: FileShown; isNew: boolean }> {
      await require(org, id); // before the bytes are read
      return await receive(org, upload, async (uploaded) => {
        const before = await files.replace({ org, id, now: clock.now(), ...uploaded });
        if (before === undefined) throw errorAbout("file_not_found", { file: id });
        return { shown: show({ ...before, ...uploaded }), isNew: before.bytesId === undefined };
      });
    },
    /** Throws `file_not_found`. */
    get: async (org: string, id: string) => show(await require(org, id)),
    async remove(org: string, id: string): Promise<void> {
      if (!(await files.remove(org, id, clock.now()))) await missing(org, id);
    },
    /**
     * A file and its bytes, for a caller who may have it: throws `file_not_found` otherwise, and for a file without bytes, and
     * `invalid_request` if a reader that names no organization could mean the files of several.
     */
    async open(id: string, reader: FileReader): Promise<{ file: StoredFile; bytes: StoredBytes }> {
      const file = await findFor(id, reader);
      const found = file?.bytesId === undefined ? undefined : await bytes.read(file.bytesId);
      if (file === undefined || !isKept(file) || found === undefined) throw errorAbout("file_not_found", { file: id });
      return { file, bytes: found };
    },
  };
}

function show({
  id,
  name,
  size,
  contentType,
  sha256,
  createdAt,
}: Omit<StoredFile, "org" | "keepUntil" | "bytesId">): FileShown {
  return {
    file_id: id,
    name,
    size,
    content_type: contentType,
    sha256: sha256 ?? null,
    created_at: toIso(createdAt),
  };
}

type Measure = { maxBytes: number; room: Room; turn(size: number): Promise<void> | undefined };

/** Counts and hashes bytes on their way, in turns. Throws `payload_too_large`, or that the organization has no room, in between. */
function measure({ pieces, length }: Upload, { maxBytes, room, turn }: Measure) {
  const hash = new Bun.CryptoHasher("sha256");
  let size = 0;
  async function* passing(): AsyncGenerator<Uint8Array, void> {
    for await (const piece of pieces) {
      await turn(piece.length);
      size += piece.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      const error = length === undefined ? room.grow(piece.length) : undefined;
      if (error !== undefined) throw error;
      hash.update(piece);
      yield piece;
    }
  }
  return { pieces: passing(), end: () => ({ size, sha256: hash.digest("hex") }) };
}

function typeOf(given: string | undefined): string {
  if (given === undefined || given === "") return anyBytes;
  if (given.length <= maxContentTypeCharacters && mediaType.test(given)) return given;
  throw new HeraldError("bad_request", "the `Content-Type` is not a media type, such as image/png");
}

function tooLarge(maxBytes: number): HeraldError {
  return new HeraldError(
    "payload_too_large",
    `the file exceeds the limit of ${maxBytes} bytes (HERALD_LIMIT_FILE_BYTES)`,
  );
}
