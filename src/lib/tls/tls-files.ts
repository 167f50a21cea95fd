import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Clock } from "../time/clock.ts";

/** The files of a certificate chain and its private key, both in PEM form. */
export type TlsFiles = { cert: string; key: string };

/** The contents of the files. */
export type Tls = { cert: string; key: string; expiresAt: number };

/** Why the files cannot be used, and which one is to blame. */
export class TlsFileError extends Error {
  override readonly name = "TlsFileError";
  constructor(
    readonly which: keyof TlsFiles,
    message: string,
  ) {
    super(message);
  }
}

/** Reads a certificate and its key. Throws `TlsFileError` unless they match and the certificate is valid now. */
export function readTls(files: TlsFiles, clock: Clock): Tls {
  const fault = (which: keyof TlsFiles, what: string) => new TlsFileError(which, `${files[which]} ${what}`);

  function read(which: keyof TlsFiles): string {
    try {
      return readFileSync(files[which], "utf8");
    } catch (error) {
      throw fault(which, `cannot be read (${error instanceof Error ? error.message : String(error)})`);
    }
  }

  function parse<T>(which: keyof TlsFiles, what: string, make: () => T): T {
    try {
      return make();
    } catch {
      throw fault(which, what);
    }
  }

  const [cert, key] = [read("cert"), read("key")];
  const certificate = parse("cert", "contains no certificate in PEM format", () => new X509Certificate(cert));
  const privateKey: KeyObject = parse("key", "contains no private key in PEM format, or one with a passphrase", () =>
    createPrivateKey(key),
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw fault("key", `is not the key of the certificate in ${files.cert}`);
  const expiresAt = Date.parse(certificate.validTo);
  if (expiresAt <= clock.now()) throw fault("cert", `expired on ${certificate.validTo}`);
  if (Date.parse(certificate.validFrom) > clock.now())
    throw fault("cert", `is not valid before ${certificate.validFrom}`);
  // Does what the server will do, such as reading the rest of the chain.
  parse("cert", "cannot be served; check the chain after the first certificate", () =>
    createSecureContext({ cert, key }),
  );
  return { cert, key, expiresAt };
}
