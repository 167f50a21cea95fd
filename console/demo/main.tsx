import { render } from "preact";
import { App } from "./app.tsx";

const root = document.getElementById("app");
root?.replaceChildren(); // what is shown until this script has arrived
if (root !== null) render(<App />, root);
