const initialisms = new Set(["id", "cid", "uid", "mid", "url", "cidr"]);

/** `listUsers` as `list_users`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `organizationId`, `file_id` and `uids` as Go writes them: `OrganizationID`, `FileID` and `UIDs`. */
export function pascalCase(name: string): string {
  return snakeCase(name)
    .split("_")
    .map((word) => {
      const one = word.replace(/s$/, "");
      if (initialisms.has(word)) return word.toUpperCase();
      if (initialisms.has(one)) return `${one.toUpperCase()}s`;
      return word.slice(0, 1).toUpperCase() + word.slice(1);
    })
    .join("");
}

/** The names that a template has in braces, in their order. */
export function namesIn(template: string): string[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

/** A template with the values of the names that it has in braces. */
export function fillIn(template: string, names: Readonly<Record<string, string>>, write: (text: string) => string) {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => write(names[name] ?? ""));
}
