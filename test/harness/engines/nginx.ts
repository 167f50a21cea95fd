import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { within } from "../deadline.ts";
import { freePort } from "./free-port.ts";
import { reportMissing } from "./installed.ts";

/** A suite's own nginx. */
export type Nginx = { url: string; [Symbol.asyncDispose](): Promise<void> };

/** The path of nginx; reports what is skipped if there is none. */
export function findNginx(): string | undefined {
  return Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/sbin` }) ?? reportMissing("nginx", "nginx-light");
}

/** Starts nginx as a single process, in a folder of its own, with the content of its `http` block for the address to listen on. */
export async function startNginx(program: string, httpOf: (address: string) => string): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), "herald-nginx-"));
  const address = `127.0.0.1:${freePort()}`;
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const configuration = `
    daemon off;
    master_process off;
    pid ${folder}/pid;
    error_log stderr notice;
    events { worker_connections 1024; }
    http {
      access_log off;
      ${temporary.join("\n")}
      ${httpOf(address)}
    }`;
  writeFileSync(join(folder, "nginx.conf"), configuration);
  const child = Bun.spawn([program, "-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")], {
    stdout: "ignore",
    stderr: "pipe",
  });
  process.on("exit", () => child.kill("SIGKILL"));
  const ready = Promise.withResolvers<void>();
  // To its end: nginx dies of a log that nobody reads.
  void (async () => {
    let log = "";
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) {
      log += decoder.decode(chunk);
      if (log.includes("event method")) ready.resolve(); // its sockets are open
    }
    ready.reject(new Error(`nginx ended: ${log}`));
  })();
  await within(ready.promise, "nginx to be ready");
  return {
    url: `http://${address}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
