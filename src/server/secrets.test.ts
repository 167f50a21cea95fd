import { expect, test } from "bun:test";
import { loadConfig } from "../config.ts";
import { openLog } from "./secrets.ts";

/** What is left of a text in the log of a server with these settings. */
function redactedWith(settings: Record<string, string>, text: string): string {
  return openLog(loadConfig(settings)).redaction.redact(text);
}

test.each([
  ["HERALD_DATABASE_URL", "postgres://herald:hush-hush-1@db/herald", "hush-hush-1"],
  ["HERALD_DATABASE_URL", "postgres://herald:hush%2Dhush%2D1@db/herald", "hush-hush-1"],
  ["HERALD_DATABASE_URL", "postgres://db/herald?user=herald&password=hush-hush-1", "hush-hush-1"],
  ["HERALD_DATABASE_URL", "postgres://herald@db/herald?sslpassword=hush-hush-1", "hush-hush-1"],
  ["HERALD_DATABASE_URL", "postgres://herald:hush-100%25-%-sure@db/herald", "hush-100%25-%-sure"],
  ["HERALD_BUS_URL", "nats://first-token@n1:4222,nats://other-token@n2:4222", "other-token"],
  ["HERALD_TOKEN_JWKS_URL", "https://id.example.org/keys?client=herald&api_key=hush-hush-1", "hush-hush-1"],
  ["HERALD_FILES_S3_SECRET_ACCESS_KEY", "hush-hush-1", "hush-hush-1"],
  ["HERALD_OTLP_URL", "https://traces.example.org/v1?X-Auth-Token=hush-hush-1", "hush-hush-1"],
])("what is secret in %s=%s does not reach the log by itself", (name, value, secret) => {
  expect(redactedWith({ [name]: value }, `refused: ${secret}, it said`)).toBe("refused: …, it said");
});

test("what is not secret in a URL stays readable", () => {
  const settings = {
    HERALD_DATABASE_URL: "postgres://herald-serving:hush-hush-1@database:5432/herald-messages?sslmode=verify-full",
    HERALD_TOKEN_JWKS_URL: "https://id.example.org/keys?client=herald-server",
  };
  const text = "herald-serving@database:5432/herald-messages verify-full id.example.org herald-server";
  expect(redactedWith(settings, text)).toBe(text);
});
