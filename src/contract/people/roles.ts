import { z } from "zod";
import { parseJson } from "../../lib/json/json-values.ts";
import { identifier } from "../identifiers.ts";
import { scope } from "../keys/keys.ts";

const maxOrganizations = 100;
const example = '{"groups":{"herald-admins":{"scopes":["*"]}}}';

const role = z.strictObject({
  scopes: z.array(scope).min(1),
  /** The only organizations that it is for; all of them without it. */
  organizations: z.array(identifier).min(1).max(maxOrganizations).optional(),
});

const roleTable = z.record(z.string().min(1), z.record(z.string().min(1), role));

/** What somebody with a certain value of a claim may do, and where. */
export type Role = z.output<typeof role>;

/** The roles, by the name of a claim, and then by its value. */
export type RoleTable = z.output<typeof roleTable>;

/** The setting that holds the roles, as JSON. */
export const roleSetting = z
  .string()
  .transform((text, { addIssue }): RoleTable => {
    const parsed = roleTable.safeParse(parseJson(text));
    if (parsed.success && Object.keys(parsed.data).length > 0) return parsed.data;
    const [issue] = parsed.error?.issues ?? [];
    const where = issue === undefined || issue.path.length === 0 ? "" : ` (at ${issue.path.join(".")})`;
    addIssue({ code: "custom", message: `must be JSON such as ${example}${where}` });
    return z.NEVER;
  })
  .optional();
