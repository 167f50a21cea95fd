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

/** Starts nginx as a single process with these locations, in a folder of its own. */
export async function startNginx(program: string, locations: string): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), "herald-nginx-"));
  const port = freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const configuration = `
    daemon off;
    master_process off;
    pid ${folder}/pid;
    error_log stderr notice;
    events {}
    http {
      access_log off;
      ${temporary.join("\n")}
      map $http_upgrade $connection_upgrade { default upgrade; "" ""; }
      server {
        listen 127.0.0.1:${port};
        ${locations}
      }
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
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
