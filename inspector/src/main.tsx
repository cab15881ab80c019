import { createRoot } from "react-dom/client";
import { App } from "./app";
import { arrive } from "./daemon/arrival";
import { applyTheme } from "./parts/theme";
import "./styles/tokens.css";
import "./styles/parts.css";
import "./styles/layout.css";
import "./styles/transcript.css";
import "./styles/folds.css";
import "./styles/diffs.css";
import "./styles/cards.css";
import "./styles/debug.css";

applyTheme();
const root = document.getElementById("root");
if (root) createRoot(root).render(<App arrival={arrive()} />);
