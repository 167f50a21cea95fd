import { useEffect, useState } from "preact/hooks";
import { keyStore } from "../state/key-store.ts";
import { basePath } from "../state/server.ts";
import { type Demo, openDemo } from "./demo.ts";
import { explain, isPassing } from "./explain.ts";
import { PersonWindow } from "./person-window.tsx";
import { SignIn } from "./sign-in.tsx";

type State = { demo: Demo | undefined; isBusy: boolean; fault: string | undefined };

/** The demo: users side by side, once there is a key. */
export function App() {
  const [state, setState] = useState<State>({ demo: undefined, isBusy: keyStore.read() !== null, fault: undefined });
  const [showsJson, setShowsJson] = useState(false);

  async function open(key: string): Promise<void> {
    setState({ demo: undefined, isBusy: true, fault: undefined });
    try {
      const demo = await openDemo(key);
      keyStore.write(key);
      setState({ demo, isBusy: false, fault: undefined });
    } catch (error) {
      if (!isPassing(error)) keyStore.clear();
      setState({ demo: undefined, isBusy: false, fault: explain(error) });
    }
  }

  useEffect(() => {
    const key = keyStore.read();
    if (key !== null) void open(key);
  }, []);

  function signOut(): void {
    keyStore.clear();
    setState({ demo: undefined, isBusy: false, fault: undefined });
  }

  const { demo, isBusy, fault } = state;
  return (
    <>
      <header class="top">
        <p class="brand">Herald</p>
        <nav aria-label="Herald">
          <a href={`${basePath}/console`}>Console</a>
          <a href={`${basePath}/docs`}>Reference</a>
        </nav>
        {demo !== undefined && (
          <button type="button" class="small" onClick={signOut}>
            Sign out
          </button>
        )}
      </header>
      <main>
        <h1>See a message arrive</h1>
        <p class="lead">
          {demo === undefined
            ? "Three users side by side, each with their own connection. When one writes, the others receive it within milliseconds."
            : "Each window is a user with their own connection. Write in one and watch the others. Then take a user offline, write again, and bring the user back online: the missed messages arrive. Ask the assistant, and the answer grows in every window. A system message reaches only users who are online, unless it is kept: then it waits in the inbox, behind the bell."}
        </p>
        {demo === undefined ? (
          <SignIn isBusy={isBusy} fault={fault} onKey={(key) => void open(key)} />
        ) : (
          <>
            <div class="people">
              {demo.people.map((person) => (
                <PersonWindow key={person.id} demo={demo} person={person} showsJson={showsJson} />
              ))}
            </div>
            <label class="choice">
              <input
                type="checkbox"
                checked={showsJson}
                onChange={({ currentTarget }) => setShowsJson(currentTarget.checked)}
              />
              Show the received JSON
            </label>
          </>
        )}
      </main>
    </>
  );
}
