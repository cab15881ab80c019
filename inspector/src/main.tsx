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
import "./styles/forms.css";
import "./styles/connect.css";
import "./styles/sidebar.css";
import "./styles/session.css";
// Last: on a phone, it changes what the others say.
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
