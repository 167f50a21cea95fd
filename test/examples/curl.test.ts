import { expect, test } from "bun:test";
import { join } from "node:path";
import { useHerald } from "../harness/servers/herald.ts";
import { examples } from "./example.ts";

const herald = useHerald({ env: { HERALD_DEMO: "1" }, oneNode: "only an empty database gets the demo" });

test("the curl example sends, repeats, is refused and waits, as often as it runs", async () => {
  for (const replayed of ["", "true"]) {
    const script = Bun.spawn([join(examples, "curl/send.sh")], {
      env: { PATH: process.env.PATH ?? "", HERALD_URL: herald().url, HERALD_ADMIN_API_KEY: herald().key },
      stderr: "pipe",
    });
    const [code, stdout, stderr] = await Promise.all([
      script.exited,
      new Response(script.stdout).text(),
      new Response(script.stderr).text(),
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [sent = "", again, refused, waited] = stdout.split("\n");
    expect(sent).toMatch(/^sent: 201 [0-9a-f-]{36}$/);
    expect(again).toBe(sent.replace("sent: 201", "again: 201 replayed=true"));
    expect(refused).toMatch(/^refused: 403 sender_not_participant: .+/);
    if (replayed === "") expect(waited).toBe("waited: 201 recipients=3, online=0, delivered=0, acknowledged=0");
    else expect(waited).toStartWith("waited: 201 ");
  }
});
