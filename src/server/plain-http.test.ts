import { expect, test } from "bun:test";
import { loadConfig } from "../config.ts";
import { plainHttpAdvice } from "./plain-http.ts";

const adviceFor = (env: Record<string, string>) => plainHttpAdvice(loadConfig(env));

test.each(["0.0.0.0", "::", "192.0.2.7", "10.0.0.4", "2001:db8::1", "herald.example.org", "localhost.example.org"])(
  "warns of plain HTTP on %s, unless TLS ends here or in a proxy",
  (host) => {
    expect(adviceFor({ HERALD_HOST: host })).toContain("HERALD_TLS_CERT");
    expect(adviceFor({ HERALD_HOST: host, HERALD_TRUSTED_PROXIES: "10.0.0.1" })).toBeUndefined();
    expect(adviceFor({ HERALD_HOST: host, HERALD_TLS_CERT: "a", HERALD_TLS_KEY: "b" })).toBeUndefined();
  },
);

test.each(["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1", "localhost", "herald.localhost"])(
  "does not warn of plain HTTP on %s",
  (host) => {
    expect(adviceFor({ HERALD_HOST: host })).toBeUndefined();
  },
);

test("warns of plain HTTP on the internal address, too", () => {
  expect(adviceFor({ HERALD_ADMIN_HOST: "10.0.0.4", HERALD_ADMIN_PORT: "7071" })).toContain("HERALD_TLS_CERT");
  expect(adviceFor({ HERALD_ADMIN_PORT: "7071" })).toBeUndefined();
});
