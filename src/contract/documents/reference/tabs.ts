/** The languages in which pages show the same action, by the names over their code, in the order of the tabs. */
const codeLanguages = ["curl", "CLI", "TypeScript", "Python", "Go"] as const;

const blocks = String.raw`(?:<figure[^>]*>(?:(?!<\/figure>)[\s\S])*<\/figure>\s*)+`;
const caption = `<p><strong>(?:${codeLanguages.join("|")})</strong></p>\\s*`;
const run = new RegExp(`(?:${caption}${blocks}){2,}`, "g");
const one = new RegExp(`<p><strong>([^<]+)</strong></p>\\s*(${blocks})`, "g");

/**
 * Groups what shows the same in several languages: two or more times the name of a language, alone and in bold, with its blocks
 * of code below. The page's script makes tabs of a group; without it, they stand one after another.
 */
export function tabbed(markup: string): string {
  return markup.replaceAll(
    run,
    (group) =>
      `<div class="tabs">${group.replaceAll(one, (_, language: string, code: string) => `<div class="tab" data-language="${language}"><p class="language"><strong>${language}</strong></p>\n${code}</div>\n`)}</div>\n`,
  );
}
