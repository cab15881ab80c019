import { createRoot } from "react-dom/client";
import { App } from "./app";
import { arrive } from "./daemon/arrival";
import { Boundary } from "./parts/boundary";
import { Broken } from "./parts/broken";
import { applyTheme } from "./parts/theme";
import "@fontsource-variable/geist/wght.css";
import "./styles/tokens.css";
import "./styles/parts.css";
import "./styles/layout.css";
import "./styles/transcript.css";
import "./styles/folds.css";
import "./styles/diffs.css";
import "./styles/cards.css";
import "./styles/code.css";

applyTheme();
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <Boundary instead={(why) => <Broken why={why} />}>
      <App arrival={arrive()} />
    </Boundary>,
  );
}
