import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { actions, type Call } from "../../state/code/actions.ts";
import { chosenLanguage } from "../../state/code/chosen-language.ts";
import { codeOf, languages } from "../../state/code/languages.ts";
import { serverUrl } from "../../state/server.ts";
import { CopyButton } from "../copy.tsx";
import { ChoiceField } from "../forms/field.tsx";
import { Segments } from "../forms/segments.tsx";

type Props = {
  calls: readonly [Call, ...Call[]];
  /** What stands beside the button that copies. */
  children?: ComponentChildren;
};

/** Calls as code that runs as it stands, in the language that was chosen last. */
export function Code({ calls, children }: Props) {
  const [language, setLanguage] = useState(chosenLanguage.read);
  const [chosen, setChosen] = useState(calls[0].action);
  const text = useRef<HTMLPreElement>(null);
  const call = calls.find(({ action }) => action === chosen) ?? calls[0];
  const { title } = actions[call.action];
  const code = codeOf(call, language, serverUrl);
  const select = () => {
    if (text.current !== null) getSelection()?.selectAllChildren(text.current);
  };
  return (
    <div class="stack">
      {calls.length > 1 && (
        <ChoiceField
          label="What it does"
          value={call.action}
          options={calls.map(({ action }) => [action, actions[action].title] as const)}
          onChange={setChosen}
        />
      )}
      <Segments
        legend="Language"
        isQuiet
        value={language}
        options={languages}
        onChange={(next) => {
          chosenLanguage.write(next);
          setLanguage(next);
        }}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <section class="program" aria-label={title} tabIndex={0}>
        <pre ref={text} class="code">
          {code}
        </pre>
      </section>
      <div class="feed-bar">
        <p class="fine">
          It reads the key from <code>HERALD_ADMIN_API_KEY</code>.
        </p>
        <span class="spacer" />
        <CopyButton label={title} value={code} select={select} />
        {children}
      </div>
    </div>
  );
}
