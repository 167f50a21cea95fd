import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reportMissing } from "./installed.ts";

/** A test's certificate authority, in a folder of its own. */
export type Authority = {
  folder: string;
  /** The file of its certificate, and the content. */
  caFile: string;
  ca: string;
  /** Issues a certificate and key for 127.0.0.1 and localhost, as files. */
  issue(name: string): { cert: string; key: string };
  [Symbol.dispose](): void;
};

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Creates an authority with Debian's openssl; `undefined` if that is not installed. */
export function createAuthority(): Authority | undefined {
  if (Bun.which("openssl") === null) return reportMissing("openssl", "openssl");
  const folder = mkdtempSync(join(tmpdir(), "herald-tls-"));
  const path = (file: string) => join(folder, file);
  const openssl = (...args: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(["openssl", ...args], { cwd: folder });
    if (exitCode !== 0) throw new Error(`openssl ${args.join(" ")}: ${stderr}`);
  };
  openssl("req", "-x509", ...newKey, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=Test CA");
  writeFileSync(path("names"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
  return {
    folder,
    caFile: path("ca.crt"),
    ca: readFileSync(path("ca.crt"), "utf8"),
    issue(name) {
      const [cert, key, request] = [`${name}.crt`, `${name}.key`, `${name}.csr`];
      openssl("req", ...newKey, "-keyout", key, "-out", request, "-subj", `/CN=${name}`);
      const by = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
      openssl("x509", "-req", "-in", request, "-out", cert, ...by);
      return { cert: path(cert), key: path(key) };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
