import { expect, test } from "bun:test";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { hooksOf } from "../../harness/servers/receiver.ts";

const herald = useHerald();

test.each([
  "https://168.63.129.16/",
  "https://169.254.169.254/",
  "https://[64:ff9b::5db8:d70e]/",
  "https://[2002:5db8:d70e::1]/",
  "https://[2001::1]/",
  "https://[2001:db8::1]/",
  "https://[4000::1]/",
  "https://[::ffff:168.63.129.16]/",
  "https://localhost./",
])("a webhook may not lead to %s", async (url) => {
  const org = await createOrganization(herald());
  expectProblem(await hooksOf(org).call("PUT", ["push"], { url }), 422, "invalid_request", "/url");
  expect((await hooksOf(org).call("PUT", ["push"], { url: "https://[2606:2800:21f:cb07::1]/" })).status).toBe(201);
});
