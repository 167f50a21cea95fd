import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { $ } from "bun";
import { generateGoModels, goModelsFile } from "../../tools/sdks/go-models.ts";
import { goVersion, packGo } from "../../tools/sdks/pack-go.ts";
import { readPage } from "../docs/markdown.ts";
import { postUnfitOrders, unfitOrders } from "../examples/unfit-orders.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { findGo } from "../harness/engines/go.ts";
import { startHerald, TEST_TOKEN_SECRET } from "../harness/servers/herald.ts";
import { callsOf, callVariables, prepareForCalls } from "./calls.ts";

const root = resolve(import.meta.dir, "../..");
const module = "github.com/herald-im/herald/sdk-go";
const go = await findGo();
const folder = mkdtempSync(join(tmpdir(), "herald-go-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const gofmt = go && join(dirname(go), "gofmt");
const proxy = join(folder, "proxy");
const environment = {
  ...process.env,
  GOPROXY: `file://${proxy}`,
  GOSUMDB: "off",
  GOFLAGS: "-mod=mod -modcacherw",
  GOMODCACHE: join(folder, "modules"),
};

const standardPackages = ["context", "encoding/json", "errors", "fmt", "io", "net/http", "os", "strings", "time"];

/** A program that runs these statements. They may import packages, each in a line of its own. */
function programOf(text: string, functions = ""): string {
  const isImport = (line: string) => line.startsWith("import ");
  const imports = `${text}\n${functions}`.split("\n").filter(isImport);
  const withoutImports = (code: string) =>
    code
      .split("\n")
      .filter((line) => !isImport(line))
      .join("\n");
  const main = `func main() {
  if err := run(context.Background()); err != nil {
    fmt.Println(err)
    os.Exit(1)
  }
}
func run(ctx context.Context) error {
  ${withoutImports(text)}
  return nil
}
${withoutImports(functions)}`;
  const standard = standardPackages
    .filter((path) => main.includes(`${basename(path)}.`))
    .map((path) => `import "${path}"`);
  return ["package main", ...standard, ...imports, main].join("\n");
}

/** The program that the Go blocks of a page make. */
function programOfPage(page: string): string {
  const blocks = readPage(page).blocks.filter(({ language, how }) => language === "go" && how === "main");
  return programOf(blocks.map(({ text }) => text).join("\n"));
}

/** A program that makes the calls that pages show in several languages. */
function programOfCalls(): string {
  const calls = callsOf("go");
  const parameters = "ctx context.Context, client *herald.Client, headers http.Header, body []byte, secret string";
  const functions = calls.map(({ name, text }) => `func ${name}(${parameters}) error {\n${text}\nreturn nil\n}`);
  const statements = `import herald "${module}"
client, err := herald.New(herald.Options{URL: os.Getenv("HERALD_URL"), Key: os.Getenv("HERALD_ADMIN_API_KEY")})
if err != nil {
  return err
}
var named map[string]string
if err := json.Unmarshal([]byte(os.Getenv("WEBHOOK_HEADERS")), &named); err != nil {
  return err
}
headers := http.Header{}
for name, value := range named {
  headers.Set(name, value)
}
for _, call := range []func(${parameters}) error{${calls.map(({ name }) => name).join(", ")}} {
  if err := call(ctx, client, headers, []byte(os.Getenv("WEBHOOK_BODY")), os.Getenv("WEBHOOK_SECRET")); err != nil {
    return err
  }
}`;
  return programOf(statements, functions.join("\n"));
}

/** Starts a module elsewhere with these sources, installs the packed SDK as its users do, and builds it. */
async function build(go: string, sources: string): Promise<string> {
  const place = mkdtempSync(join(folder, "backend-"));
  cpSync(sources, place, { recursive: true });
  rmSync(join(place, "go.mod"), { force: true });
  for (const words of [
    ["mod", "init", "example.com/shop"],
    ["get", `${module}@latest`],
    ["build", "-o", "shop"],
  ])
    await $`${go} ${words}`.cwd(place).env(environment).quiet();
  expect(readFileSync(join(place, "go.mod"), "utf8")).toContain(`require ${module} ${goVersion}`);
  return join(place, "shop");
}

/** Yields what a program has said until now, each time that it says more. */
async function* listen(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let said = "";
  for await (const piece of stream) {
    said += decoder.decode(piece, { stream: true });
    yield said;
  }
}

/** Resolves with the first match in what a program says, and goes on reading: a program that cannot speak dies. */
async function hear(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  void (async () => {
    let said = "";
    for await (said of listen(stream)) {
      const match = pattern.exec(said)?.[1];
      if (match !== undefined) resolve(match);
    }
    reject(new Error(`it ended: ${said}`));
  })();
  return await promise;
}

describe.skipIf(go === undefined)("the Go SDK", () => {
  if (go === undefined || gofmt === undefined) return;
  const sdk = join(root, "sdk-go");

  test("has the models that its generator makes", async () => {
    expect(await generateGoModels(go)).toBe(readFileSync(goModelsFile, "utf8"));
  });

  test("is formatted, has nothing that vet finds, and passes its own tests", async () => {
    const folders = [sdk, import.meta.dir, join(root, "tools/sdks"), join(root, "examples/go-net-http")];
    expect(await $`${gofmt} -l ${folders}`.text()).toBe("");
    await $`${go} vet ./...`.cwd(sdk).quiet();
    const { exitCode, stdout } = await $`${go} test ./...`.cwd(sdk).nothrow().quiet();
    expect([exitCode, exitCode === 0 ? "" : stdout.toString()]).toEqual([0, ""]);
  });

  test("is installed from a clone as its page says, without a network", async () => {
    const { blocks } = readPage("docs/how-to/send-from-go.md");
    const { text = "" } = blocks.find(({ language }) => language === "sh") ?? {};
    const place = mkdtempSync(join(folder, "clone-"));
    const shop = join(place, "shop");
    cpSync(join(import.meta.dir, "go"), shop, { recursive: true });
    symlinkSync(root, join(place, "herald"));
    const env = { ...environment, GOPROXY: "off", GOFLAGS: "-modcacherw", PATH: `${dirname(go)}:${process.env.PATH}` };
    await $`${go} mod init example.com/shop`.cwd(shop).env(env).quiet();
    await $`bash -e -c ${text}`.cwd(shop).env(env).quiet();
    await $`${go} build -o shop`.cwd(shop).env(env).quiet();
    expect(existsSync(join(shop, "vendor", module, "herald.go"))).toBe(true);
  });

  test("does everything from a module elsewhere, with a real server", async () => {
    await packGo(go, proxy);
    const shop = await build(go, join(import.meta.dir, "go"));
    await using server = await startHerald({ env: { HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET } });
    const variables = { URL: server.url, KEY: server.key, TOKEN_SECRET: TEST_TOKEN_SECRET };
    const { stdout, stderr } = await $`${shop}`.env(variables).nothrow().quiet();
    expect([stderr.toString(), stdout.toString()]).toEqual(["", "all is well\n"]);
  });

  test("does what its page shows", async () => {
    await packGo(go, proxy);
    const sources = mkdtempSync(join(folder, "page-"));
    await Bun.write(join(sources, "main.go"), programOfPage("docs/how-to/send-from-go.md"));
    const program = await build(go, sources);
    await using server = await startHerald({ env: { HERALD_DEMO: "1", HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET } });
    const variables = {
      HERALD_URL: server.url,
      HERALD_ADMIN_API_KEY: server.key,
      HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
    };
    const { exitCode, stdout } = await $`${program}`.env(variables).nothrow().quiet();
    const id = "[0-9a-f-]{36}";
    const said = `stored as ${id}\nonline: 0\ntrue true\nthere is no such conversation\nalice News\nBob\n1 caketrue\n`;
    expect([exitCode, stdout.toString()]).toEqual([0, expect.stringMatching(new RegExp(`^${said}$`))]);
  });

  test("makes the calls that pages show in several languages", async () => {
    await packGo(go, proxy);
    const sources = mkdtempSync(join(folder, "calls-"));
    await Bun.write(join(sources, "main.go"), programOfCalls());
    const program = await build(go, sources);
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    await prepareForCalls(server);
    const variables = callVariables(server);
    const { exitCode, stdout, stderr } = await $`${program}`.env(variables).nothrow().quiet();
    expect([stderr.toString(), exitCode, exitCode === 0 ? "" : stdout.toString()]).toEqual(["", 0, ""]);
  });

  test.each([
    ["docs/how-to/stream-from-a-framework.md", "We open at ten."],
    ["sdk-go/README.md", "Thank you for your order."],
  ])("sends what %s shows", async (page, body) => {
    await packGo(go, proxy);
    const sources = mkdtempSync(join(folder, "page-"));
    await Bun.write(join(sources, "main.go"), programOfPage(page));
    const program = await build(go, sources);
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    const variables = { HERALD_URL: server.url, HERALD_ADMIN_API_KEY: server.key };
    const { exitCode, stderr } = await $`${program}`.env(variables).nothrow().quiet();
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
    const history = await server.admin<{ items: object[] }>(
      "GET",
      "/admin/organizations/demo/conversations/welcome/messages",
    );
    expect(history.body.items).toEqual([expect.objectContaining({ from: "alice", body })]);
  });

  test("is what the example of net/http uses, from the clone and elsewhere: an order that is placed twice is told once", async () => {
    await packGo(go, proxy);
    const example = join(root, "examples/go-net-http");
    await $`${go} vet .`
      .cwd(example)
      .env({ ...process.env, GOPROXY: "off" })
      .quiet();
    const shop = await build(go, example);
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    const env = { HERALD_URL: server.url, HERALD_ADMIN_API_KEY: server.key, ADDRESS: "127.0.0.1:0" };
    const child = Bun.spawn([shop], { env, stdout: "ignore", stderr: "pipe" });
    try {
      const address = await hear(child.stderr, /the shop listens on (\S+)\n/);
      const order = (body: object) => fetch(`http://${address}/orders`, { method: "POST", body: JSON.stringify(body) });
      const placed = { user: "bob", order: "456" };
      const answers = [await order(placed), await order(placed), await order({ user: "bob" })];
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 400]);
      expect(await postUnfitOrders(`http://${address}/orders`)).toEqual(unfitOrders.map(() => 400));
      const [first, second] = await Promise.all(answers.slice(0, 2).map((answer) => answer.json()));
      expect(second).toEqual({ ...first, replayed: true });
      const { body } = await server.admin<{ items: { body: string }[] }>(
        "GET",
        "/admin/organizations/demo/conversations/welcome/messages",
      );
      expect(body.items.filter(({ body }) => body === "Order 456 is placed.")).toHaveLength(1);
    } finally {
      child.kill();
      await child.exited;
    }
  });

  test("sends each message once while the server is killed and comes back", async () => {
    await packGo(go, proxy);
    const shop = await build(go, join(import.meta.dir, "go"));
    const port = String(freePort());
    const dataDir = mkdtempSync(join(folder, "data-"));
    const options = { dataDir, env: { HERALD_PORT: port } };
    let server = await startHerald(options);
    const child = Bun.spawn([shop, "steadily"], {
      env: { URL: server.url, KEY: server.key },
      stdout: "pipe",
      stderr: "pipe",
    });
    let said = "";
    let kills = 0;
    for await (said of listen(child.stdout)) {
      if (kills >= 2 || !said.includes(`sent ${100 * (kills + 1)}\n`)) continue;
      kills++;
      await server.kill();
      server = await startHerald(options);
    }
    await server.stop();
    expect([await new Response(child.stderr).text(), said.endsWith("each was stored once\n"), kills]).toEqual([
      "",
      true,
      2,
    ]);
  });
});
