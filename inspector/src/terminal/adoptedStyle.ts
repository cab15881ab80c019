/** `<adopted-style>`: its text is a style sheet of the page while the element is in the document. */
class AdoptedStyle extends HTMLElement {
  readonly #sheet = new CSSStyleSheet();

  override set textContent(css: string) {
    this.#sheet.replaceSync(css);
  }

  connectedCallback(): void {
    document.adoptedStyleSheets.push(this.#sheet);
  }

  disconnectedCallback(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.#sheet);
  }
}

customElements.define("adopted-style", AdoptedStyle);
