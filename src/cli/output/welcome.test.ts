import { expect, test } from "bun:test";
import { createStyle } from "./output.ts";
import { renderWelcome, type Started } from "./welcome.ts";

const style = createStyle(false);
const key = "/srv/herald/data/admin-api-key";
const started: Started = {
  url: "http://127.0.0.1:7070",
  adminUrl: "http://127.0.0.1:7070",
  adminKey: { value: "hk_secret", file: key, isShown: false },
  demo: { organization: "demo", users: ["alice", "bob", "carol"], conversation: "welcome" },
  dataDir: "./data",
  configFile: undefined,
};

test("the first steps are the demo page, or to listen and then to send, and the key is not shown again", () => {
  expect(renderWelcome(started, style)).toMatchInlineSnapshot(`
    "
      Herald is listening on http://127.0.0.1:7070

      Try it in the browser, as three users at once. The page asks for the admin API key:

         http://127.0.0.1:7070/console/demo

      Or use terminals:

      1. Listen in a second terminal:

         npx herald listen --org demo --user bob

      2. Send from a third:

         curl http://127.0.0.1:7070/admin/message \\
           -H "Admin-Api-Key: $(cat /srv/herald/data/admin-api-key)" \\
           -H "Content-Type: application/json" \\
           -d '{"organizationId":"demo","senderId":"alice","message":{"cid":"welcome","body":"Hello from Herald"}}'

      Admin API key  /srv/herald/data/admin-api-key
      Console        http://127.0.0.1:7070/console
      Documentation  http://127.0.0.1:7070/docs
    "
  `);
});

test("a new key is shown once on a terminal, with its place", () => {
  const page = renderWelcome({ ...started, adminKey: { ...started.adminKey, isShown: true } }, style);
  expect(page).toContain("hk_secret\n");
  expect(page).toContain(`shown only once; stored in ${key}`);
  expect(page.split("hk_secret")).toHaveLength(2);
});

test("what is not the default is said in the command for the other terminal", () => {
  const moved = { ...started, url: "http://127.0.0.1:9", adminUrl: "http://127.0.0.1:9", dataDir: "/srv/it's here" };
  expect(
    renderWelcome({ ...moved, adminKey: { ...started.adminKey, file: "/srv/it's here/admin-api-key" } }, style),
  ).toContain(
    String.raw`HERALD_DATA_DIR='/srv/it'\''s here' npx herald listen --org demo --user bob --url http://127.0.0.1:9`,
  );
  expect(renderWelcome({ ...started, configFile: "/etc/herald.env" }, style)).toContain(
    "--user bob --config /etc/herald.env",
  );
});

test("a key from the environment is named by its variable", () => {
  const page = renderWelcome({ ...started, adminKey: { value: "secret", file: undefined, isShown: false } }, style);
  expect(page).toContain('-H "Admin-Api-Key: $HERALD_ADMIN_API_KEY"');
  expect(page).toContain("with HERALD_ADMIN_API_KEY set");
  expect(page).not.toContain("secret");
});

test("without a demo organization there are no steps that could not work", () => {
  const page = renderWelcome({ ...started, demo: undefined }, style);
  expect(page).not.toContain("curl");
  expect(page).not.toContain("/console/demo");
  expect(page).toContain("HERALD_DEMO=1");
});
