import { errors, jwtVerify, SignJWT } from "jose";
import { HeraldError } from "../../contract/errors/errors.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { FileReads } from "../../store/files/ports.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { Identity } from "../sessions/tokens.ts";
import { importTokenKey } from "../sessions/tokens.ts";

/** Signs addresses of files, and tells who holds one. */
export type FileAddresses = ReturnType<typeof createFileAddresses>;

/** The user of a token, which was issued at a time, in milliseconds since the Unix epoch. */
type TokenHolder = Pick<Identity, "org" | "uid" | "issuedAt"> & { tokenId?: string | undefined };

type Options = {
  files: Pick<FileReads, "readableBy">;
  sessions: Pick<Sessions, "requireUnrevoked">;
  /** The secret of user tokens, and the one before it. */
  secrets: readonly string[];
  /** The path below which the server is reached. */
  basePath: string;
  clock: Clock;
};

const audience = "herald-file";
const typ = "file+jwt";
const lifeSeconds = 600;

/**
 * Creates addresses of files. A signature is a JWT for one file, of a type and audience that no connection accepts. It carries the
 * id and time of the token that it was made for, so that what refuses the token refuses it, too.
 */
export function createFileAddresses({ sessions, files, secrets, basePath, clock }: Options) {
  const keys = secrets.map(importTokenKey);

  async function read(signature: string, fileId: string): Promise<Identity> {
    const options = { audience, typ, algorithms: ["HS256"], subject: fileId, currentDate: new Date(clock.now()) };
    for (const key of keys) {
      try {
        const { payload } = await jwtVerify(signature, await key, options);
        const { org, uid, at, token, exp = 0 } = payload;
        if (typeof org !== "string" || typeof uid !== "string" || typeof at !== "number") break;
        const tokenId = typeof token === "string" ? token : undefined;
        return { org, uid, issuedAt: at, expiresAt: exp * 1000, tokenId };
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
      }
    }
    throw new HeraldError("unauthorized", "the address of the file is invalid or has expired; ask for a new one");
  }

  /** The path of a file, with a signature. */
  async function sign({ org, uid, issuedAt, tokenId }: TokenHolder, fileId: string): Promise<string> {
    const [key] = keys;
    if (key === undefined) throw new Error("no secret signs the addresses of files");
    const signature = await new SignJWT({ org, uid, at: issuedAt, ...(tokenId !== undefined && { token: tokenId }) })
      .setProtectedHeader({ alg: "HS256", typ })
      .setAudience(audience)
      .setSubject(fileId)
      .setExpirationTime(Math.floor(clock.now() / 1000) + lifeSeconds)
      .sign(await key);
    return `${basePath}/files/${encodeURIComponent(fileId)}?signature=${signature}`;
  }

  return {
    /**
     * The addresses of those of the files that the user may have now, by id: below `origin`, or as paths without it. Each works for
     * ten minutes, for this user, until the user's token is refused or the user may not have the file.
     */
    async urlsOf(user: TokenHolder, fileIds: string[], origin = ""): Promise<Record<string, string>> {
      const readable = [...(await files.readableBy(user.org, user.uid, fileIds))];
      const addressOf = async (id: string) => [id, origin + (await sign(user, id))] as const;
      return Object.fromEntries(await Promise.all(readable.map(addressOf)));
    },
    /** Who holds a signed address, without the database. Throws `unauthorized`. */
    async verify(signature: string, fileId: string): Promise<Identity> {
      const identity = await read(signature, fileId);
      sessions.requireUnrevoked(identity);
      return identity;
    },
  };
}
