import { withSiteData } from "../site-data.ts";
import { type Language, languages } from "./languages.ts";

const name = "herald-language";

/** The language that was chosen last, on any page of this browser. Without site data, each page starts with curl. */
export const chosenLanguage = {
  read(): Language {
    const kept = withSiteData(() => localStorage.getItem(name));
    return languages.find(([language]) => language === kept)?.[0] ?? "curl";
  },
  write(language: Language): void {
    withSiteData(() => localStorage.setItem(name, language));
  },
};
