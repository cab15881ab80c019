import { createRoot } from "react-dom/client";
import { App } from "./app";
import { arrive } from "./daemon/arrival";
import { Boundary } from "chat/parts/boundary";
import { Broken } from "./parts/broken";
import { applyTheme } from "./parts/theme";
import "@fontsource-variable/geist/wght.css";
import "chat/styles.css";
import "./styles/tokens.css";
import "./styles/parts.css";
import "./styles/layout.css";

applyTheme();
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <Boundary instead={(why) => <Broken why={why} />}>
      <App arrival={arrive()} />
    </Boundary>,
  );
}
