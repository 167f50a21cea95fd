import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../deadline.ts";
import { freePort } from "../engines/free-port.ts";
import { reportMissing } from "../engines/installed.ts";

/** A real nginx in front of nodes. */
export type Nginx = { url: string; [Symbol.asyncDispose](): Promise<void> };

/**
 * Starts nginx, which keeps connections to these nodes alive; `undefined` if it is not installed, which is a failure under CI.
 * `proxy` has further lines of its settings.
 */
export async function startNginx(nodes: readonly string[], proxy: readonly string[] = []): Promise<Nginx | undefined> {
  const program =
    Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/sbin` }) ?? reportMissing("nginx", "nginx-light");
  if (program === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "herald-nginx-"));
  const port = freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const text = `
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join("\n  ")}
  upstream herald {
    ${nodes.map((url) => `server ${new URL(url).host} max_fails=0;`).join("\n    ")}
    keepalive 32;
  }
  proxy_http_version 1.1;
  proxy_set_header Host $http_host;
  proxy_set_header Connection "";
  ${proxy.join("\n  ")}
  server {
    listen 127.0.0.1:${port};
    location = /nginx { return 204; }
    location / { proxy_pass http://herald; }
  }
}`;
  const file = join(folder, "nginx.conf");
  writeFileSync(file, text);
  const child = Bun.spawn([program, "-c", file, "-g", "daemon off;"], { stdout: "ignore", stderr: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  await eventually(
    async () => (await fetch(`${url}/nginx`).catch(() => undefined))?.ok || undefined,
    "nginx to answer",
  );
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      rmSync(folder, { recursive: true });
    },
  };
}
