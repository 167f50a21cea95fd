import { closeCodes } from "../../connections/close-codes.ts";
import { closeExplanations, reasonsOf } from "../../connections/close-explanations.ts";
import { explained } from "./explained.ts";
import { type Html, html, prose } from "./html.ts";
import { codeBlock, examples, type Page } from "./layout.ts";
import { clientCloseCodes, closeCodePath } from "./paths.ts";

type Reason = ReturnType<typeof reasonsOf>[number];

/** What the close frame says in addition to the meaning of its code. */
const exampleAdditions: Partial<Record<Reason, string>> = { too_many: " (connections-per-user); retry in 5 s" };

/** `/docs/close-codes/<code>`: a page for each code with which a WebSocket ends. */
export function closeCodePages(): Page[] {
  return clientCloseCodes.map((code) => {
    const reasons = reasonsOf(code);
    return {
      path: closeCodePath(code),
      title: `Close code ${code}`,
      entries: [
        ...reasons.map((reason) => ({ id: reason, label: capitalized(meaningOf(reason)) })),
        {
          href: "/docs/realtime#close-codes",
          label: "All close codes",
          entries: clientCloseCodes.map((other) => ({ href: closeCodePath(other), label: String(other) })),
        },
      ],
      main: html`<p class="quiet"><a href="/docs/realtime#close-codes">Close codes</a> · WebSocket</p>
<h1>Close code <code>${code}</code></h1>
${reasons.length > 1 ? html`<p class="lead">This code has ${reasons.length} reasons. The reason in the close frame tells them apart.</p>` : undefined}
${reasons.map((reason) => reasonSection(code, reason))}`,
    };
  });
}

function reasonSection(code: number, reason: Reason): Html {
  const explanation = closeExplanations[reason];
  return html`<section id="${reason}"><h2><a href="#${reason}">${prose(capitalized(meaningOf(reason)))}</a></h2>
<p>${prose(explanation.meaning)}</p>
<p><strong>A client</strong> ${prose(reason === "dropped" ? "reconnects" : closeCodes[reason].client)}.</p>
${explained(explanation, reason)}
<section class="part"><h3>How it looks</h3>
${examples(codeBlock("Close frame", frameOf(code, reason), "wrapped"))}</section></section>`;
}

function meaningOf(reason: Reason): string {
  return reason === "dropped" ? "the connection ended without a close frame" : closeCodes[reason].meaning;
}

function frameOf(code: number, reason: Reason): Html {
  const said = reason === "dropped" ? "" : meaningOf(reason) + (exampleAdditions[reason] ?? "");
  const note = reason === "dropped" ? "none: this is what the client's library reports" : "server →";
  return html`<span class="quiet">${note}</span>\ncode    <span class="literal">${code}</span>\nreason  <span class="string">${JSON.stringify(said)}</span>`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
