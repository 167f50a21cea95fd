// The import table of the design, folder by folder. `npm run check -- imports` keeps it; docs/decisions/checks/0009-checks.md says why
// TypeScript 6 is installed beside 7. Tests beside their source may import what they need; nothing may import a test.

const tests = "\\.test\\.tsx?$";

/** What a folder may import besides itself: `paths` in any way, `types` only with `import type`. */
const table = [
  { name: "lib", from: "^src/lib/", paths: [] },
  { name: "contract", from: "^src/contract/", paths: ["^src/lib/"] },
  { name: "config", from: "^src/config\\.ts$", paths: ["^src/contract/", "^src/lib/"] },
  { name: "store", from: "^src/store/", paths: ["^src/contract/", "^src/lib/"] },
  { name: "bus", from: "^src/bus/", paths: ["^src/contract/", "^src/lib/"] },
  {
    name: "services",
    from: "^src/services/",
    paths: ["^src/contract/", "^src/lib/"],
    types: ["^src/store/ports\\.ts$", "^src/store/\\w+/ports\\.ts$", "^src/bus/bus\\.ts$"],
  },
  {
    name: "http",
    from: "^src/http/",
    paths: ["^src/contract/", "^src/lib/", "^src/services/"],
    types: ["^src/bus/bus\\.ts$"],
  },
  {
    name: "gateway",
    from: "^src/gateway/",
    paths: ["^src/contract/", "^src/lib/", "^src/services/"],
    types: ["^src/bus/bus\\.ts$"],
  },
  { name: "server", from: "^src/server(\\.ts$|/)", paths: ["^src/", "^console/index\\.html$"] },
  {
    name: "cli",
    from: "^src/cli/",
    paths: ["^src/contract/", "^src/config\\.ts$", "^src/server\\.ts$", "^src/server/", "^sdk/"],
  },
  { name: "sdk", from: "^sdk/", paths: [] },
  { name: "console", from: "^console/", paths: ["^sdk/", "^src/contract/"] },
];

const folders = table.map(({ from }) => from);
const ours = "^(src|sdk|console|test|bench|tools|bin)/";

const rules = table.flatMap(({ name, from, paths, types = [] }) => [
  {
    name: `table-${name}`,
    severity: "error",
    comment: `${name} may import itself${[...paths, ...types].map((path) => `, ${path}`).join("")}`,
    from: { path: from, pathNot: tests },
    to: { path: ours, pathNot: [from, ...paths, ...types] },
  },
  ...(types.length === 0
    ? []
    : [
        {
          name: `table-${name}-types`,
          severity: "error",
          comment: `${name} may import these with \`import type\` only: ${types.join(", ")}`,
          from: { path: from, pathNot: tests },
          to: { path: types, dependencyTypesNot: ["type-only"] },
        },
      ]),
]);

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...rules,
    // One rule for files that import, one for files that are imported, one for files that do neither.
    ...[
      { name: "no-place-in-the-layout", from: { path: "^src/", pathNot: folders }, to: {} },
      { name: "no-place-in-the-layout-imported", from: {}, to: { path: "^src/", pathNot: folders } },
      { name: "no-place-in-the-layout-alone", from: { orphan: true, path: "^src/", pathNot: folders }, to: {} },
    ].map((rule) => ({
      ...rule,
      severity: "error",
      comment: "src itself holds only server.ts, with what it is cut into, and config.ts",
    })),
    { name: "no-cycles", severity: "error", comment: "types count too", from: {}, to: { circular: true } },
    {
      name: "no-import-of-tests",
      severity: "error",
      from: { path: "^(src|sdk|console|bin)/", pathNot: tests },
      to: { path: ["^(test|bench|tools)/", tests] },
    },
    {
      name: "sql-only-in-store",
      severity: "error",
      from: { path: "^(src|sdk|console)/", pathNot: ["^src/store/", tests] },
      to: { path: "^bun:sqlite$" },
    },
    {
      name: "nats-only-in-bus",
      severity: "error",
      from: { path: "^(src|sdk|console)/", pathNot: ["^src/bus/", tests] },
      to: { path: "node_modules/@nats-io/" },
    },
    { name: "no-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "no-undeclared-package",
      severity: "error",
      comment: "every package that is imported is named in package.json",
      from: {},
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["npm-peer"] },
    },
    {
      name: "no-dev-package-in-product",
      severity: "error",
      from: { path: "^(src|sdk|console|bin)/", pathNot: [tests, "-suite\\.ts$"] },
      to: {
        dependencyTypes: ["npm-dev"],
        dependencyTypesNot: ["type-only"],
        pathNot: "node_modules/(@types|bun-types)/",
      },
    },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    // Looks at imports as they are written, so that type-only ones are seen and told apart.
    tsPreCompilationDeps: true,
    builtInModules: { add: ["bun", "bun:sqlite", "bun:test", "bun:ffi", "bun:jsc"] },
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|coverage|data)/" },
    moduleSystems: ["es6", "cjs"],
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["bun", "import", "types", "default", "node"],
    },
  },
};
