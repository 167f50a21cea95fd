import { create as contentDisposition } from "content-disposition";
import { HeraldError } from "../../contract/errors/errors.ts";
import type { Operations } from "../../contract/operations/all.ts";
import { validate } from "../../contract/requests.ts";
import type { ClientAddress } from "../../lib/network/client-address.ts";
import type { Downloads } from "../../services/files/downloads.ts";
import type { FileAddresses } from "../../services/files/file-addresses.ts";
import type { FileReader, Files, Upload } from "../../services/files/files.ts";
import { boundTo, permitOrganization, permitScope } from "../../services/keys/permissions.ts";
import type { RateLimit } from "../../services/limits/charges.ts";
import type { OrganizationUse } from "../../services/limits/organization-use.ts";
import type { Sessions } from "../../services/sessions/sessions.ts";
import type { Identity } from "../../services/sessions/tokens.ts";
import { isKnown, rangeOf } from "../answers/byte-range.ts";
import { answerDone, answerShowing } from "../answers/plain-answers.ts";
import type { Bind } from "../bind.ts";
import { type CallerParts, createCallerReader } from "../call/callers.ts";
import type { Router } from "../call/exchange.ts";
import type { LongCall } from "../call/long-call.ts";
import { type Call, routerPath } from "../calls.ts";

type Services = CallerParts & {
  files: Files;
  fileAddresses: Pick<FileAddresses, "verify">;
  sessions: Pick<Sessions, "identify" | "open">;
  rateLimit: RateLimit;
  use: OrganizationUse;
  clientAddress: ClientAddress;
  downloads: Downloads;
};

const finishSeconds = 200; // what was received is on the disk by then

/** Nothing in a file runs, wherever it is opened; pages of all origins may show it to those who have its address. */
const headers = {
  "Content-Security-Policy": "default-src 'none'; sandbox",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "private, no-cache",
  "Accept-Ranges": "bytes",
};

/** Binds uploads, and what is known of files. */
export function bindFiles(bind: Bind, operations: Operations, { files }: Pick<Services, "files">): void {
  bind(operations.createFile, ({ params, query, headers }, call) =>
    receive(call(), headers, async (upload) => ({
      status: 201,
      body: await files.create(params.org, query.name, upload),
    })),
  );
  bind(operations.putFile, ({ params: { org, file_id }, headers }, call) =>
    receive(call(), headers, async (upload) => {
      const { shown, isNew } = await files.put(org, file_id, upload);
      return { status: isNew ? 201 : 200, body: shown };
    }),
  );
  bind(operations.getFile, ({ params: { org, file_id } }) => answerShowing(files.get(org, file_id)));
  bind(operations.deleteFile, ({ params: { org, file_id } }) => answerDone(files.remove(org, file_id)));
}

/**
 * Lets `work` take the pieces of the body. While it is at one, or has all of them, the connection may be idle for longer; a caller
 * that sends no more may not.
 */
async function receive<Result>(
  { request, bodyBytes: length, mayIdle, permit }: LongCall,
  headers: Headers,
  work: (upload: Upload) => Promise<Result>,
): Promise<Result> {
  let goOn: () => void = () => undefined;

  /** Lets the connection be idle until the next `goOn`. */
  function beginWork(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    goOn = resolve;
    void mayIdle(finishSeconds, () => promise); // cannot reject
  }

  async function* pieces(): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const piece of request.body ?? []) {
        beginWork();
        yield piece;
        goOn();
      }
    } catch (cause) {
      throw new HeraldError("bad_request", "the body was incomplete; upload the file again", { cause });
    } finally {
      goOn();
    }
    beginWork();
  }

  try {
    return await work({ pieces: pieces(), permit, length, contentType: headers.get("content-type") ?? undefined });
  } finally {
    goOn();
  }
}

/** Binds the addresses of files, which take a key, a user's token, or a signature of their own. */
export function bindDownloads(app: Router, { downloadFile }: Operations, services: Services): void {
  const { path, params, query } = downloadFile;
  const { files, downloads } = services;
  const route = { method: "GET", path };
  app.get(routerPath(route), async ({ req, env: call }) => {
    const { raw: request } = req;
    const { requestId } = call;
    call.route = route;
    const { file_id: id } = validate(params, req.param());
    const given = req.query("organization");
    const { organization } = validate(query, given === undefined ? {} : { organization: given });
    const reader = await identify(request, { id, organization }, call, services);
    const { file, bytes } = await files.open(id, reader);
    call.org = file.org;
    const etag = `"${file.sha256}"`;
    const disposition = contentDisposition(file.name.replaceAll(/[/\\]/g, "_"));
    const common = {
      ...headers,
      ETag: etag,
      "X-Request-Id": requestId,
      "Content-Disposition": disposition,
    };
    if (isKnown(request.headers, etag)) return new Response(null, { status: 304, headers: common });
    // An address of the store is signed for GET alone, and all that HEAD asks for is known.
    const address = request.method === "HEAD" ? undefined : bytes.addressAs?.({ disposition, type: file.contentType });
    if (address !== undefined)
      return new Response(null, {
        status: 302,
        headers: { "X-Request-Id": requestId, "Cache-Control": "no-store", Location: address },
      });
    const range = rangeOf(request.headers, { size: file.size, etag });
    if (range === "unsatisfiable")
      return new Response(null, { status: 416, headers: { ...common, "Content-Range": `bytes */${file.size}` } });
    const { start, end } = range ?? { start: 0, end: file.size };
    if ("uid" in reader && request.method !== "HEAD") downloads.charge(reader, end - start);
    const part = range === undefined ? {} : { "Content-Range": `bytes ${start}-${end - 1}/${file.size}` };
    return new Response(request.method === "HEAD" ? null : bytes.part(start, end), {
      status: range === undefined ? 200 : 206,
      headers: { ...common, ...part, "Content-Type": file.contentType, "Content-Length": String(end - start) },
    });
  });
}

/** Who asks. Throws `unauthorized`, or `rate_limited`. */
async function identify(
  request: Request,
  { id, organization }: { id: string; organization: string | undefined },
  call: Call,
  services: Services,
): Promise<FileReader> {
  const { people, fileAddresses, sessions, downloads, rateLimit, use, clientAddress } = services;
  const address = clientAddress(request, call.from);
  call.address = address;
  await downloads.enter(address, request);
  const key = request.headers.get("admin-api-key");
  const signature = new URL(request.url).searchParams.get("signature");
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  const payAndWait = async (org: string | undefined, name: string) => {
    await use.admitOnceKnown(org, 1);
    await downloads.turn(name, request);
  };
  const admit = async (identity: Identity) => {
    const { org, uid } = identity;
    downloads.admit(identity); // before the database is asked
    await payAndWait(org, org);
    await sessions.open(identity); // the user may have been deleted, blocked or signed out since
    return { org, uid };
  };
  const isOfUser = token !== undefined && people?.workloadTokens.isOfWorkload(token) !== true;
  if (key === null && isOfUser) return await admit(await sessions.identify(token, address));
  if (key === null && signature !== null) return await admit(await fileAddresses.verify(signature, id));
  const caller = boundTo(await createCallerReader(services)({ request, call, address }), organization);
  call.keyId = caller.keyId;
  rateLimit.admit(caller.keyId, 1);
  permitScope(caller, "history:read");
  if (organization !== undefined) permitOrganization(caller, organization);
  const org = caller.rights.org ?? organization;
  await payAndWait(org, org ?? caller.keyId);
  return { org };
}
