/** Stand-ins for Mintlify's components: each shows what is in it. A page that uses any other does not compile. */
import { createElement as h } from "react";

const box = (name, { title, children }) => h("section", { className: name }, title ? h("h4", null, title) : null, children);

export const components = {
  Accordion: ({ title, id, children }) => h("details", { id }, h("summary", null, title), children),
  AccordionGroup: ({ children }) => h("div", { className: "accordions" }, children),
  CodeGroup: ({ children }) => h("div", { className: "codes" }, children),
  Note: (props) => box("note", props),
  Step: (props) => h("li", null, box("step", props)),
  Steps: ({ children }) => h("ol", { className: "steps" }, children),
  Warning: (props) => box("warning", props),
};
